"""Words as indices into a dictionary that grows while examples stream by; the dictionary is whole at the end."""

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

from gareader.errors import StoreError
from gareader.examples import Example
from gareader.store.layout import columns

WORDS_PER_BATCH = 1 << 21
"""The example that reaches this many document words closes a record batch: eight megabytes, whatever the corpus."""
SEPARATOR = "\n"

INDICES = columns(pa.int32(), length=pa.int32())
"""Of a document only the words that the one before lacks, with the length of the whole."""

_Words = tuple[str, ...]
_Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Encoded:
    """Examples in a file with the schema INDICES."""

    path: Path
    words: Any
    """The dictionary, an Arrow array."""
    examples: int


class Rows:
    """Examples on their way into one record batch: their words as text, which Arrow encodes without the GIL."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, int, int, int, int, int | None]] = []
        """Of each example its id, words of its document, new ones among them, query words, candidates, answer."""
        self.documents: list[str] = []
        self.queries: list[str] = []
        self.candidates: list[str] = []
        self.candidate_lengths: list[int] = []

    def add(self, example: Example, known: int) -> None:
        """Append one example, the first `known` words of its document being the last ones of the row before."""
        document, query, candidates = example.document, example.query, example.candidates
        size = len(document)
        self.rows.append((example.id, size, size - known, len(query), len(candidates), example.answer))
        if known < size:
            self.documents.append(SEPARATOR.join(document[known:]))
        self.queries.append(SEPARATOR.join(query))
        self.candidates.append(SEPARATOR.join(chain.from_iterable(candidates)))
        self.candidate_lengths.extend(map(len, candidates))

    def text(self) -> str:
        """All words on lines of their own: new ones of documents, then queries, then candidates."""
        return SEPARATOR.join(chain(self.documents, self.queries, self.candidates))

    def record_batch(self, indices: _Ints) -> Any:
        """These rows in the shape of INDICES, given the words of the text as indices."""
        ids, lengths, new, query_lengths, counts, answers = zip(*self.rows, strict=True)
        query = sum(new)
        candidates = query + sum(query_lengths)
        if len(indices) != candidates + sum(self.candidate_lengths):
            raise StoreError(f"example {self._broken()!r} has a word with a line break in it; make it two words")
        columns = [
            pa.array(ids, pa.string()),
            lists(new, indices[:query]),
            lists(query_lengths, indices[query:candidates]),
            lists(counts, lists(self.candidate_lengths, indices[candidates:])),
            pa.array(answers, pa.int32()),
            pa.array(lengths, pa.int32()),
        ]
        return pa.record_batch(columns, schema=INDICES)

    def _broken(self) -> str:
        """The first example with more words in its text than it should have."""
        ids, _, new, query_lengths, counts, _ = zip(*self.rows, strict=True)
        lengths = iter(self.candidate_lengths)
        choices = (sum(islice(lengths, count)) for count in counts)
        owners = chain(compress(ids, new), ids, ids)
        texts = chain(self.documents, self.queries, self.candidates)
        expected = chain(filter(None, new), query_lengths, choices)
        broken: str = next(o for o, text, n in zip(owners, texts, expected, strict=True) if text.count(SEPARATOR) >= n)
        return broken


def lists(lengths: Sequence[int] | _Ints, values: Any) -> Any:
    """The values as an array of lists with these lengths."""
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.ListArray.from_arrays(offsets, values)


def overlap(before: _Words, document: _Words) -> int:
    """How many words `document` begins with that `before` ends with; fewer than eight are not looked for."""
    if before is document:
        return len(document)
    beginning, start = document[:8], -1
    try:
        while True:
            start = before.index(beginning[0], start + 1)
            if before[start : start + 8] == beginning and before[start:] == document[: len(before) - start]:
                return len(before) - start
    except ValueError:
        return 0


def encode(examples: Iterable[Example], path: Path) -> Encoded:
    """Write the examples to `path`."""
    words = pa.array([], pa.string())
    count = 0

    def coded(text: str) -> _Ints:
        nonlocal words
        tokens = pc.split_pattern(pa.array([text]), SEPARATOR).values
        # the last of the chunks, which share one dictionary; an empty chunk of no words is left out
        chunk = pa.chunked_array([words, tokens], pa.string()).dictionary_encode().chunks[-1]
        words = chunk.dictionary
        indices: _Ints = chunk.indices.to_numpy()
        return indices

    def write(rows: Rows, indices: Future[_Ints]) -> None:
        writer.write_batch(rows.record_batch(indices.result()))

    with (
        pa.OSFile(str(path), "wb") as file,
        pa.ipc.new_file(file, INDICES) as writer,
        ThreadPoolExecutor(1) as thread,  # Arrow needs no GIL: it encodes one batch while the next one is read
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
    before: _Words = ()
    for example in examples:
        # Neighbouring questions ask about the same text, or about a window of it moved on by some sentences: of the
        # 52 million words of CBT's named-entity questions this leaves 10 million to encode.
        rows.add(example, overlap(before, example.document))
        before = example.document
        size += len(before)
        if size >= WORDS_PER_BATCH:
            yield rows
            rows, size, before = Rows(), 0, ()
    if rows.rows:
        yield rows
