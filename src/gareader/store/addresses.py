"""Where the files of a prepared corpus are: one file, a folder of shards, or either at an address such as s3://…."""

import os
from pathlib import Path

from gareader.errors import StoreError
from gareader.store.layout import MAGIC, SHARDS


def is_prepared(path: Path | str) -> bool:
    """Whether this is a prepared corpus, as far as can be seen without opening it; an address always is one."""
    if is_address(path):
        return True
    path = Path(path)
    if path.is_dir():
        return any(path.glob(SHARDS))
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:  # nothing that can be read: the reader of the corpus will say so
        return False


def is_address(path: Path | str) -> bool:
    """Whether this names a place for fsspec, such as s3://bucket/corpus."""
    return isinstance(path, str) and "://" in path


def files(path: Path | str) -> list[Path]:
    """The Arrow files of a corpus in their order; those at an address are copied here, if they were not before."""
    if isinstance(path, str) and is_address(path):
        return _fetched(path)
    path = Path(path)
    if not path.is_dir():
        return [path]
    if found := sorted(path.glob(SHARDS)):
        return found
    raise StoreError(f"{path}: a folder without {SHARDS} files is no prepared corpus; prepare it first")


def cache() -> Path:
    """The folder of copies: $GAREADER_CACHE, or gareader in the user's cache folder."""
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("GAREADER_CACHE") or Path(user, "gareader"))


def _fetched(address: str) -> list[Path]:
    """Local copies of the files at an address; a file that has changed there is copied again."""
    import fsspec

    try:
        system, name = fsspec.url_to_fs(address)
        names = sorted(system.glob(f"{name.rstrip('/')}/{SHARDS}")) or [name]
        whole = [f"filecache::{system.unstrip_protocol(each)}" for each in names]
        options = {"cache_storage": str(cache()), "check_files": True}
        return [Path(copy) for copy in fsspec.open_local(whole, filecache=options)]
    except ImportError as error:  # the package for this kind of address
        raise StoreError(f"{address}: {error}") from None
    except Exception as error:  # each package for addresses has errors of its own
        problem = f"cannot be fetched ({error}); check the address and the right to read it"
        raise StoreError(f"{address}: {problem}") from error
