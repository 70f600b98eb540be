"""The location of a prepared corpus: one file, a folder of shards, or either at an address such as s3://…."""

from pathlib import Path

from gareader.core.cache import cache
from gareader.core.errors import StoreError
from gareader.core.files import open_regular

MAGIC = b"ARROW1"
"""The first and the last bytes of an Arrow file."""
SHARDS = "*.arrow"
"""The files of a corpus in a folder."""


def is_prepared(path: Path | str) -> bool:
    """Whether this looks like a prepared corpus by its first bytes or file names; an address always does."""
    if is_address(path):
        return True
    path = Path(path)
    if path.is_dir():
        return any(path.glob(SHARDS))
    try:
        with open_regular(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:  # a file that cannot be read: reading the corpus will raise the error
        return False


def is_address(path: Path | str) -> bool:
    """Whether this names a place for fsspec, such as s3://bucket/corpus."""
    return isinstance(path, str) and "://" in path


def files(path: Path | str) -> list[Path]:
    """The Arrow files of a corpus in order; files at an address are copied to the cache first."""
    if isinstance(path, str) and is_address(path):
        return _fetched(path)
    path = Path(path)
    if not path.is_dir():
        return [path]
    if shards := sorted(path.glob(SHARDS)):
        return shards
    raise StoreError(f"{path}: a folder without {SHARDS} files is no prepared corpus; prepare it first")


def _fetched(address: str) -> list[Path]:
    """Return local copies of the files at an address; copy a file again if it has changed there."""
    import fsspec

    try:
        system, name = fsspec.url_to_fs(address)
        names = sorted(system.glob(f"{name.rstrip('/')}/{SHARDS}")) or [name]
        urls = [f"filecache::{system.unstrip_protocol(each)}" for each in names]
        options = {"cache_storage": str(cache()), "check_files": True}
        return [Path(copy) for copy in fsspec.open_local(urls, filecache=options)]
    except ImportError as error:  # the package for this protocol is missing
        raise StoreError(f"{address}: {error}") from None
    except Exception as error:  # each protocol's package has errors of its own
        problem = f"cannot be fetched ({error}); check the address and the right to read it"
        raise StoreError(f"{address}: {problem}") from error
