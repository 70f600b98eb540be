"""The layout of a prepared corpus on disk: its columns and its version."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gareader.core.errors import StoreError

VERSION = b"1"
VERSION_KEY = b"gareader.corpus"
CHECKSUM = b"gareader.crc32"
"""The key of a record batch's checksum in its metadata, and of the mark in the schema that each batch has one."""


def columns(word: Any, **more: Any) -> Any:
    """The schema of a corpus with words of this type."""
    words = pa.list_(word)
    fields = {"id": pa.string(), "document": words, "query": words, "candidates": pa.list_(words), "answer": pa.int32()}
    return pa.schema(fields | more, {VERSION_KEY: VERSION, CHECKSUM: b"each batch"})


PREPARED = columns(pa.dictionary(pa.int32(), pa.string()))


def check_schema(schema: Any) -> None:
    version = (schema.metadata or {}).get(VERSION_KEY)
    if version is None:
        raise StoreError("an Arrow file, but not a prepared corpus of gareader; prepare your corpus first")
    if version != VERSION:
        problem = f"this gareader reads version {VERSION.decode()} of prepared corpora, not version {version.decode()}"
        raise StoreError(f"{problem}; prepare the corpus again, or update gareader")
    if not schema.equals(PREPARED):
        raise StoreError("its columns are not those of a prepared corpus; prepare the corpus again")


# `pa.array` and `to_numpy` import pandas, if it is there, which takes longer than to encode a span of a corpus.


def int_array(values: Sequence[int] | NDArray[np.int32], known: Sequence[bool] | None = None) -> Any:
    """The values as an Arrow array; those that are not known are nulls."""
    validity = None if known is None else pa.py_buffer(np.packbits(known, bitorder="little"))
    return pa.Array.from_buffers(pa.int32(), len(values), [validity, pa.py_buffer(np.asarray(values, np.int32))])


def text_array(values: Sequence[str]) -> Any:
    encoded = [value.encode() for value in values]
    buffers = [None, pa.py_buffer(offsets([*map(len, encoded)])), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


def lines_array(text: str) -> Any:
    """The lines of a text as an Arrow array, each with its line feed: so none is copied."""
    encoded = text.encode()
    ends = np.flatnonzero(np.frombuffer(encoded, np.uint8) == ord("\n")) + 1
    bounds = np.concatenate([[0], ends]).astype(np.int32)
    return pa.Array.from_buffers(pa.string(), len(ends), [None, pa.py_buffer(bounds), pa.py_buffer(encoded)])


def without_ends(lines: Any) -> Any:
    _, bounds, text = lines.buffers()
    bounds = np.frombuffer(bounds, np.int32)[: len(lines) + 1] - np.arange(len(lines) + 1, dtype=np.int32)
    without = text.to_pybytes().replace(b"\n", b"")
    return pa.Array.from_buffers(pa.string(), len(lines), [None, pa.py_buffer(bounds), pa.py_buffer(without)])


def offsets(lengths: Sequence[int] | NDArray[np.int32]) -> NDArray[np.int32]:
    """Where lists of these lengths begin, and where the last one ends."""
    ends = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=ends[1:])
    return ends


def ints(array: Any, unknown: int | None = None) -> NDArray[np.int32]:
    """The numbers of an Arrow array, without a copy unless it has nulls, which become `unknown`."""
    rows = slice(array.offset, array.offset + len(array))
    validity, values = array.buffers()
    numbers = np.frombuffer(values or b"", np.int32)[rows]
    if unknown is None or validity is None:
        return numbers
    return np.where(np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")[rows], numbers, unknown)
