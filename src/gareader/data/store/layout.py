"""A prepared corpus on disk: its columns and version, and its files, in a folder or at an address such as s3://…."""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from gareader.core.errors import StoreError

VERSION = b"1"
VERSION_KEY = b"gareader.corpus"
MAGIC = b"ARROW1"
SHARDS = "*.arrow"
"""The files of a corpus in a folder."""


def columns(word: Any, **more: Any) -> Any:
    """The schema of a corpus with words of this type."""
    words = pa.list_(word)
    fields = {
        "id": pa.string(),
        "document": words,
        "query": words,
        "candidates": pa.list_(words),
        "answer": pa.int32(),
    }
    return pa.schema(fields | more, {VERSION_KEY: VERSION})


PREPARED = columns(pa.dictionary(pa.int32(), pa.string()))


def check_schema(schema: Any) -> None:
    """Raise StoreError for another schema."""
    version = (schema.metadata or {}).get(VERSION_KEY)
    if version is None:
        raise StoreError("an Arrow file, but not a prepared corpus of gareader; prepare your corpus first")
    if version != VERSION:
        problem = f"this gareader reads version {VERSION.decode()} of prepared corpora, not version {version.decode()}"
        raise StoreError(f"{problem}; prepare the corpus again, or update gareader")
    if not schema.equals(PREPARED):
        raise StoreError("its columns are not those of a prepared corpus; prepare the corpus again")


def is_prepared(path: Path | str) -> bool:
    """Whether this looks like a prepared corpus by its first bytes or file names; an address always does."""
    if is_address(path):
        return True
    path = Path(path)
    if path.is_dir():
        return any(path.glob(SHARDS))
    try:
        with path.open("rb") as file:
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


def cache() -> Path:
    """The cache folder for copies: $GAREADER_CACHE, or gareader in the user's cache folder."""
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("GAREADER_CACHE") or Path(user, "gareader"))


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
