"""A prepared corpus on disk: one Arrow file, memory-mapped, that pyarrow, polars and datasets read too."""

import errno
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, compress, islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gareader import corpora
from gareader.errors import CorpusError, ExampleError, StoreError
from gareader.examples import Example

VERSION = b"1"
WORDS_PER_BATCH = 1 << 21
"""The example that reaches this many document words closes a record batch: eight megabytes, whatever the corpus."""

_VERSION_KEY = b"gareader.corpus"
_MAGIC = b"ARROW1"
_SEPARATOR = "\n"
_Words = tuple[str, ...]
_Ints = npt.NDArray[np.int32]


def _schema(word: Any, **more: Any) -> Any:
    words = pa.list_(word)
    columns = {
        "id": pa.string(),
        "document": words,
        "query": words,
        "candidates": pa.list_(words),
        "answer": pa.int32(),
    }
    return pa.schema(columns | more, {_VERSION_KEY: VERSION})


_PREPARED = _schema(pa.dictionary(pa.int32(), pa.string()))
_INDICES = _schema(pa.int32(), length=pa.int32())
"""While words are still being met: of a document only what the one before lacks, with the length of the whole."""


def read_examples(
    path: Path | str, *, format: str | None = None, on_bad: Callable[[CorpusError], None] | None = None
) -> Iterable[Example]:
    """The examples of a prepared corpus, or of a file or folder in any format that `corpora` knows."""
    if is_prepared(path):
        return PreparedCorpus.open(path)
    return corpora.read(path, format=format, on_bad=on_bad)


def is_prepared(path: Path | str) -> bool:
    """Whether this is an Arrow file; `PreparedCorpus.open` tells whether it is a good one."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:  # a folder, or nothing that can be read: the reader of the corpus will say so
        return False


def prepare(examples: Iterable[Example], path: Path | str) -> "PreparedCorpus":
    """Write `examples` to `path`, whole or not at all; memory grows with the distinct words, not with the examples."""
    path = Path(path)
    try:
        # Beside `path`, so that the last step is a rename; removed with all it holds, whatever happens.
        with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
            indices, prepared = Path(folder, "indices.arrow"), Path(folder, "prepared.arrow")
            words = _write_indices(examples, indices)
            _write_prepared(indices, words, prepared)
            prepared.replace(path)
    except UnicodeEncodeError as error:
        word = (
            error.object[: error.start].rpartition(_SEPARATOR)[2] + error.object[error.start :].partition(_SEPARATOR)[0]
        )
        raise StoreError(f"{path}: {word!r} holds half a character, which UTF-8 cannot; mend the text") from None
    except OSError as error:
        if error.errno == errno.ENOSPC:
            way_out = "preparing takes up to twice the room of its result; free some or choose another disk"
            raise StoreError(f"{path}: the disk is full; {way_out}") from error
        raise StoreError(f"{path}: cannot write the prepared corpus: {error.strerror or error}") from error
    return PreparedCorpus.open(path)


class _Rows:
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
            self.documents.append(_SEPARATOR.join(document[known:]))
        self.queries.append(_SEPARATOR.join(query))
        self.candidates.append(_SEPARATOR.join(chain.from_iterable(candidates)))
        self.candidate_lengths.extend(map(len, candidates))

    def text(self) -> str:
        """All words on lines of their own: new ones of documents, then queries, then candidates."""
        return _SEPARATOR.join(chain(self.documents, self.queries, self.candidates))

    def record_batch(self, indices: _Ints) -> Any:
        """These rows in the shape of _INDICES, given the words of the text as indices."""
        ids, lengths, new, query_lengths, counts, answers = zip(*self.rows, strict=True)
        query = sum(new)
        candidates = query + sum(query_lengths)
        if len(indices) != candidates + sum(self.candidate_lengths):
            raise StoreError(f"example {self._broken()!r} has a word with a line break in it; make it two words")
        columns = [
            pa.array(ids, pa.string()),
            _lists(new, indices[:query]),
            _lists(query_lengths, indices[query:candidates]),
            _lists(counts, _lists(self.candidate_lengths, indices[candidates:])),
            pa.array(answers, pa.int32()),
            pa.array(lengths, pa.int32()),
        ]
        return pa.record_batch(columns, schema=_INDICES)

    def _broken(self) -> str:
        """The first example with more words in its text than it should have."""
        ids, _, new, query_lengths, counts, _ = zip(*self.rows, strict=True)
        lengths = iter(self.candidate_lengths)
        choices = (sum(islice(lengths, count)) for count in counts)
        owners = chain(compress(ids, new), ids, ids)
        texts = chain(self.documents, self.queries, self.candidates)
        expected = chain(filter(None, new), query_lengths, choices)
        broken: str = next(o for o, text, n in zip(owners, texts, expected, strict=True) if text.count(_SEPARATOR) >= n)
        return broken


def _lists(lengths: Sequence[int] | _Ints, values: Any) -> Any:
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.ListArray.from_arrays(offsets, values)


def _overlap(before: _Words, document: _Words) -> int:
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


def _write_indices(examples: Iterable[Example], path: Path) -> Any:
    """Write the words as indices into a dictionary that still grows, and return the complete dictionary."""
    words = pa.array([], pa.string())

    def encode(text: str) -> _Ints:
        nonlocal words
        tokens = pc.split_pattern(pa.array([text]), _SEPARATOR).values
        # the last of the chunks, which share one dictionary; an empty chunk of no words is left out
        coded = pa.chunked_array([words, tokens], pa.string()).dictionary_encode().chunks[-1]
        words = coded.dictionary
        indices: _Ints = coded.indices.to_numpy()
        return indices

    def write(rows: _Rows, indices: Future[_Ints]) -> None:
        writer.write_batch(rows.record_batch(indices.result()))

    with (
        pa.OSFile(str(path), "wb") as file,
        pa.ipc.new_file(file, _INDICES) as writer,
        ThreadPoolExecutor(1) as thread,  # Arrow needs no GIL: it encodes one batch while the next one is read
    ):
        before = None
        for rows in _batches(examples):
            now = rows, thread.submit(encode, rows.text())
            if before:
                write(*before)
            before = now
        if before:
            write(*before)
    return words


def _batches(examples: Iterable[Example]) -> Iterator[_Rows]:
    rows, size = _Rows(), 0
    before: _Words = ()
    for example in examples:
        # Neighbouring questions ask about the same text, or about a window of it moved on by some sentences: of the
        # 52 million words of CBT's named-entity questions this leaves 10 million to encode.
        rows.add(example, _overlap(before, example.document))
        before = example.document
        size += len(before)
        if size >= WORDS_PER_BATCH:
            yield rows
            rows, size, before = _Rows(), 0, ()
    if rows.rows:
        yield rows


def _write_prepared(indices: Path, words: Any, path: Path) -> None:
    """Write the final file, now that the dictionary is complete."""

    def coded(values: Any) -> Any:
        return pa.DictionaryArray.from_arrays(values, words, safe=False)

    with pa.memory_map(str(indices)) as source, path.open("wb") as file:
        reader = pa.ipc.open_file(source)
        with pa.ipc.new_file(file, _PREPARED) as writer:
            for number in range(reader.num_record_batches):
                ids, new, query, candidates, answer, lengths = reader.get_batch(number).columns
                lengths = lengths.to_numpy()
                stream, ends = new.values.to_numpy(), new.offsets.to_numpy()[1:]
                documents = [stream[start:end] for start, end in zip(ends - lengths, ends, strict=True)]
                inner = pa.ListArray.from_arrays(candidates.values.offsets, coded(candidates.values.values))
                columns = [
                    ids,
                    _lists(lengths, coded(np.concatenate(documents))),
                    pa.ListArray.from_arrays(query.offsets, coded(query.values)),
                    pa.ListArray.from_arrays(candidates.offsets, inner),
                    answer,
                ]
                writer.write_batch(pa.record_batch(columns, schema=_PREPARED))
        # No fsync, which can take as long as all the rest: a corpus can be prepared again, and a file that a power cut
        # has left short is found out when it is opened.


class PreparedCorpus(Sequence[Example]):
    """A prepared corpus, memory-mapped: any example in microseconds, whatever the size of the file."""

    def __init__(self, path: Path, batches: list["_Batch"], words: _Words) -> None:
        self.path = path
        self.words = words
        """The distinct words, in the order in which they were met."""
        lengths = [np.diff(batch.document_offsets) for batch in batches]
        self.document_lengths: _Ints = np.concatenate([np.zeros(0, np.int32), *lengths])
        self._batches = batches
        self._starts: list[int] = np.cumsum([0, *map(len, lengths)]).tolist()
        self._lookup = np.array(words, dtype=object)

    @classmethod
    def open(cls, path: Path | str) -> "PreparedCorpus":
        """Map the file at `path` into memory; reads only its directory, its words and its document lengths."""
        path = Path(path)
        try:
            reader = pa.ipc.open_file(_mapped(path))
            _check_schema(path, reader.schema)
            batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
            words = batches[0].column("document").values.dictionary if batches else pa.array([], pa.string())
            words.validate(full=True)
            return cls(path, [_Batch(batch) for batch in batches], tuple(words.to_pylist()))
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _damaged(path, error) from error

    @property
    def most_candidates(self) -> int:
        """Of any example."""
        return max((int(np.diff(batch.choices).max()) for batch in self._batches), default=0)

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        row = range(len(self))[index]  # negative ones count from the end; IndexError beyond
        number = bisect_right(self._starts, row) - 1
        try:
            return self._batches[number].example(row - self._starts[number], self._lookup)
        except (IndexError, UnicodeDecodeError, ExampleError) as error:
            raise _damaged(self.path, error) from error

    def __iter__(self) -> Iterator[Example]:
        return (self[number] for number in range(len(self)))


class _Batch:
    """One record batch as numpy views of the mapped file; damage in it is an exception, never a wild read."""

    def __init__(self, batch: Any) -> None:
        batch.validate()
        ids, document, query, candidates, self.answers = batch.columns
        _, offsets, text = ids.buffers()
        self.id_offsets = np.frombuffer(offsets, np.int32)
        self.id_text = np.frombuffer(text or b"", np.uint8)
        self.documents, self.document_offsets = _views(document)
        self.queries, self.query_offsets = _views(query)
        self.candidates, self.candidate_offsets = _views(candidates.values)
        self.choices = candidates.offsets.to_numpy()

    def example(self, row: int, words: npt.NDArray[np.object_]) -> Example:
        """Row `row` in words."""
        first, end = self.choices[row : row + 2]
        bounds = self.candidate_offsets[first : end + 1]
        candidates = words[self.candidates[bounds[0] : bounds[-1]]].tolist()
        bounds = (bounds - bounds[0]).tolist()
        return Example(
            self.id_text[slice(*self.id_offsets[row : row + 2])].tobytes().decode(),
            tuple(words[self.documents[slice(*self.document_offsets[row : row + 2])]]),
            tuple(words[self.queries[slice(*self.query_offsets[row : row + 2])]]),
            tuple(tuple(candidates[start:end]) for start, end in pairwise(bounds)),
            self.answers[row].as_py(),
        )


def _views(lists: Any) -> tuple[npt.NDArray[np.uint32], _Ints]:
    # unsigned, so that a damaged index is out of bounds instead of counted from the end
    return lists.values.indices.to_numpy().view(np.uint32), lists.offsets.to_numpy()


def _mapped(path: Path) -> Any:
    """The file in memory, if it begins and ends as it should."""
    try:
        with path.open("rb") as file:
            beginning = file.read(len(_MAGIC))
            if beginning == _MAGIC:
                file.seek(-len(_MAGIC), os.SEEK_END)
            end = file.read()
    except OSError as error:
        raise StoreError(f"{path}: cannot open the prepared corpus: {error.strerror}") from error
    if beginning != _MAGIC:
        raise StoreError(f"{path}: not a prepared corpus; prepare it first")
    if end != _MAGIC:
        raise StoreError(f"{path}: the prepared corpus is cut off; copy or prepare it again")
    return pa.memory_map(str(path))


def _check_schema(path: Path, schema: Any) -> None:
    version = (schema.metadata or {}).get(_VERSION_KEY)
    if version is None:
        raise StoreError(f"{path}: an Arrow file, but not a prepared corpus of gareader; prepare your corpus first")
    if version != VERSION:
        problem = f"this gareader reads version {VERSION.decode()} of prepared corpora, not version {version.decode()}"
        raise StoreError(f"{path}: {problem}; prepare the corpus again, or update gareader")
    if not schema.equals(_PREPARED):
        raise StoreError(f"{path}: its columns are not those of a prepared corpus; prepare the corpus again")


def _damaged(path: Path, error: Exception) -> StoreError:
    return StoreError(f"{path}: the prepared corpus is damaged ({error}); copy or prepare it again")
