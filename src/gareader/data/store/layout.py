"""The layout of a prepared corpus on disk: its columns and its version."""

from typing import Any

import pyarrow as pa

from gareader.core.errors import StoreError

VERSION = b"1"
VERSION_KEY = b"gareader.corpus"
CHECKSUM = b"gareader.crc32"
"""The key of a record batch's checksum in its metadata, and of the mark in the schema that each batch has one."""


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
    return pa.schema(fields | more, {VERSION_KEY: VERSION, CHECKSUM: b"each batch"})


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
