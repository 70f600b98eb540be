"""Examples as indices into a dictionary of words, which grows while the examples stream by."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, compress, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gareader.core.errors import StoreError
from gareader.data.examples import Example, Words
from gareader.data.store.layout import columns, int_array, ints, offsets, text_array

WORDS_PER_BATCH = 1 << 21
"""A record batch ends with the example that reaches this many document words: eight megabytes in every corpus."""
SEPARATOR = "\n"

INDICES = columns(pa.int32(), length=pa.int32())
"""The schema. A document has only the words that the document before it lacks, and the length of the whole."""

_Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Encoded:
    """Examples in a file with the schema INDICES."""

    path: Path
    words: Any
    """The dictionary, an Arrow array."""
    examples: int


class Rows:
    """The examples of one record batch, their words as text, which Arrow encodes without the GIL."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, int, int, int, int, int | None]] = []
        """For each example: id, counts of document words, new document words, query words and candidates, answer."""
        self.documents: list[str] = []
        self.queries: list[str] = []
        self.candidates: list[str] = []
        self.candidate_lengths: list[int] = []

    def add(self, example: Example, known: int) -> None:
        """Append one example; the first `known` words of its document are the last words of the document before."""
        document, query, candidates = example.document, example.query, example.candidates
        size = len(document)
        self.rows.append((example.id, size, size - known, len(query), len(candidates), example.answer))
        if known < size:
            self.documents.append(SEPARATOR.join(document[known:]))
        self.queries.append(SEPARATOR.join(query))
        self.candidates.append(SEPARATOR.join(chain.from_iterable(candidates)))
        self.candidate_lengths.extend(map(len, candidates))

    def text(self) -> str:
        """All words, one per line: new words of documents, then queries, then candidates."""
        return SEPARATOR.join(chain(self.documents, self.queries, self.candidates))

    def record_batch(self, indices: _Ints) -> Any:
        """Return the rows as a record batch with the schema INDICES; `indices` are those of the words of `text()`."""
        ids, lengths, new, query_lengths, counts, answers = zip(*self.rows, strict=True)
        query = sum(new)
        candidates = query + sum(query_lengths)
        if len(indices) != candidates + sum(self.candidate_lengths):
            raise StoreError(f"example {self._broken()!r} has a word with a line break in it; make it two words")
        columns = [
            text_array(ids),
            lists(new, int_array(indices[:query])),
            lists(query_lengths, int_array(indices[query:candidates])),
            lists(counts, lists(self.candidate_lengths, int_array(indices[candidates:]))),
            int_array([-1 if each is None else each for each in answers], [each is not None for each in answers]),
            int_array(lengths),
        ]
        return pa.record_batch(columns, schema=INDICES)

    def _broken(self) -> str:
        """The id of the first example with more lines in its text than words."""
        ids, _, new, query_lengths, counts, _ = zip(*self.rows, strict=True)
        lengths = iter(self.candidate_lengths)
        choices = (sum(islice(lengths, count)) for count in counts)
        owners = chain(compress(ids, new), ids, ids)
        texts = chain(self.documents, self.queries, self.candidates)
        expected = chain(filter(None, new), query_lengths, choices)
        broken: str = next(o for o, text, n in zip(owners, texts, expected, strict=True) if text.count(SEPARATOR) >= n)
        return broken


def lists(lengths: Sequence[int] | _Ints, values: Any) -> Any:
    """The values, an Arrow array, as lists with these lengths."""
    return pa.ListArray.from_arrays(int_array(offsets(lengths)), values)


def overlap(before: Words, document: Words) -> int:
    """The length of the longest beginning of `document` that `before` ends with, if it is eight words or more."""
    if before is document:
        return len(document)
    beginning, start, tries = document[:8], -1, 16  # few, for text that repeats itself would take quadratic time
    try:
        while tries:
            start = before.index(beginning[0], start + 1)
            if before[start : start + 8] == beginning:
                if before[start:] == document[: len(before) - start]:
                    return len(before) - start
                tries -= 1
    except ValueError:
        pass
    return 0


def encode(examples: Iterable[Example], path: Path) -> Encoded:
    """Write the examples to `path` as indices."""
    words = text_array([])
    count = 0

    def coded(text: str) -> _Ints:
        nonlocal words
        tokens = pc.split_pattern(text_array([text]), SEPARATOR).values
        # The chunks share one dictionary, and the last one holds the tokens; Arrow leaves out an empty chunk of words.
        chunk = pa.chunked_array([words, tokens], pa.string()).dictionary_encode().chunks[-1]
        words = chunk.dictionary
        return ints(chunk.indices)

    def write(rows: Rows, indices: Future[_Ints]) -> None:
        writer.write_batch(rows.record_batch(indices.result()))

    with (
        pa.OSFile(str(path), "wb") as file,
        pa.ipc.new_file(file, INDICES) as writer,
        ThreadPoolExecutor(1) as thread,  # Arrow encodes one batch without the GIL while the next one is read
    ):
        before = None
        for rows in batches(examples):
            now = rows, thread.submit(coded, rows.text())
            count += len(rows.rows)
            if before:
                write(*before)
            before = now
        if before:
            write(*before)
    return Encoded(path, words, count)


def batches(examples: Iterable[Example]) -> Iterator[Rows]:
    """The examples as the rows of record batches."""
    rows, size = Rows(), 0
    before: Words = ()
    for example in examples:
        # Neighbouring questions share their document, or its window moves on by some sentences: of the 52 million
        # words of CBT's named-entity questions, only 10 million are left to encode.
        rows.add(example, overlap(before, example.document))
        before = example.document
        size += len(before)
        if size >= WORDS_PER_BATCH:
            yield rows
            rows, size, before = Rows(), 0, ()
    if rows.rows:
        yield rows
