"""Reading a prepared corpus: any example in microseconds, whatever its size."""

import mmap
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gareader import corpora
from gareader.errors import CorpusError, ExampleError, StoreError
from gareader.examples import Example
from gareader.files import check_no_pipe
from gareader.store import layout
from gareader.store.addresses import files, is_prepared

RELEASED_AFTER = 1 << 12
"""Examples after which the pages that were read leave this process's memory, so that it stays flat."""


def read_examples(
    path: Path | str, *, format: str | None = None, on_bad: Callable[[CorpusError], None] | None = None
) -> Iterable[Example]:
    """The examples of a prepared corpus, or of a file or folder in any format that `corpora` knows."""
    check_no_pipe(Path(path))
    if is_prepared(path):
        return PreparedCorpus.open(path)
    return corpora.read(path, format=format, on_bad=on_bad)


class PreparedCorpus(Sequence[Example]):
    """A prepared corpus, memory-mapped."""

    def __init__(self, shards: list["_Shard"]) -> None:
        coded = pa.concat_arrays([shard.words for shard in shards]).dictionary_encode()
        self.words: tuple[str, ...] = tuple(coded.dictionary.to_pylist())
        """The distinct words, in the order in which they were met."""
        lookups = _lookups(self.words, coded.indices.to_numpy(), [len(shard.words) for shard in shards])
        self._batches = [batch for shard in shards for batch in shard.batches]
        self._lookups = [lookup for lookup, shard in zip(lookups, shards, strict=True) for _ in shard.batches]
        lengths = [np.diff(batch.document_offsets) for batch in self._batches]
        self.document_lengths: NDArray[np.int32] = np.concatenate([np.zeros(0, np.int32), *lengths])
        self._starts: list[int] = np.cumsum([0, *map(len, lengths)]).tolist()
        self._shards = shards
        self._read = 0

    @classmethod
    def open(cls, path: Path | str) -> "PreparedCorpus":
        """Map a file, a folder of shards, or what is at an address, into memory.

        Reads only the directory, the words and the document lengths.
        """
        with ThreadPoolExecutor(16) as threads:  # most of the time is waiting for a disk
            return cls([*threads.map(_Shard, files(path))])

    def answerable(self) -> NDArray[np.bool_]:
        """Of each example, whether its answer is known and in the document; reads all documents once."""
        found = [np.zeros(0, bool)]
        for shard in self._shards:
            found += [batch.answerable() for batch in shard.batches]
            shard.release()
        return np.concatenate(found)

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
        self._read += 1
        if self._read % RELEASED_AFTER == 0:
            for shard in self._shards:
                shard.release()
        number = bisect_right(self._starts, row) - 1
        return self._batches[number].example(row - self._starts[number], self._lookups[number])

    def __iter__(self) -> Iterator[Example]:
        return (self[number] for number in range(len(self)))


def _lookups(words: tuple[str, ...], indices: NDArray[np.int32], sizes: list[int]) -> list[NDArray[np.object_]]:
    """Of each shard its words, given the indices of all shards' words; shards with all the words share one array."""
    whole = np.array(words, dtype=object)
    everything = np.arange(len(words), dtype=np.int32)
    shares = np.split(indices, np.cumsum(sizes)[:-1])
    return [whole if np.array_equal(share, everything) else whole[share] for share in shares]


class _Shard:
    """One file of a corpus."""

    def __init__(self, path: Path) -> None:
        try:
            self.map = _mapped(path)
            reader = pa.ipc.open_file(pa.BufferReader(pa.py_buffer(self.map)))
            layout.check(reader.schema)
            batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
            self.words = batches[0].column("document").values.dictionary if batches else pa.array([], pa.string())
            self.words.validate(full=True)
            for batch in batches:
                _, document, query, candidates, _ = batch.columns
                if not all(each.values.dictionary.equals(self.words) for each in (document, query, candidates.values)):
                    raise StoreError("its columns do not share their words; prepare the corpus again")
            self.batches = [_Batch(path, batch) for batch in batches]
        except StoreError as error:
            raise StoreError(f"{path}: {error}") from None
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _damaged(path, error) from error

    def release(self) -> None:
        """Take what has been read out of this process's memory; the system's cache of the file may keep it."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self.map.madvise(mmap.MADV_DONTNEED)


class _Batch:
    """One record batch as numpy views of the mapped file; damage in it is an exception, never a wild read."""

    def __init__(self, path: Path, batch: Any) -> None:
        batch.validate()
        self.path = path
        ids, document, query, candidates, self.answers = batch.columns
        _, offsets, text = ids.buffers()
        self.id_offsets = np.frombuffer(offsets, np.int32)
        self.id_text = np.frombuffer(text or b"", np.uint8)
        self.documents, self.document_offsets = _views(document)
        self.queries, self.query_offsets = _views(query)
        self.candidates, self.candidate_offsets = _views(candidates.values)
        self.choices = candidates.offsets.to_numpy()

    def example(self, row: int, words: NDArray[np.object_]) -> Example:
        """Row `row` in words."""
        try:
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
        except (IndexError, UnicodeDecodeError, ExampleError) as error:
            raise _damaged(self.path, error) from error

    def answerable(self) -> NDArray[np.bool_]:
        """Of each row, whether a word of its answer is in its document."""
        answers = self.answers.fill_null(-1).to_numpy()
        found = np.zeros(len(answers), bool)
        try:
            right = self.choices[:-1] + np.maximum(answers, 0)
            firsts, ends = self.candidate_offsets[right], self.candidate_offsets[right + 1]
            lengths = np.diff(self.document_offsets)
            for place in range(int((ends - firsts).max(initial=0))):
                has_word = (answers >= 0) & (firsts + place < ends)
                words = self.candidates[np.where(has_word, firsts + place, 0)]
                hits = self.documents == np.repeat(words, lengths)
                found |= has_word & np.logical_or.reduceat(hits, self.document_offsets[:-1])
        except (IndexError, ValueError) as error:
            raise _damaged(self.path, error) from error
        return found


def _views(lists: Any) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    # unsigned, so that a damaged index is out of bounds instead of counted from the end
    return lists.values.indices.to_numpy().view(np.uint32), lists.offsets.to_numpy()


def _mapped(path: Path) -> mmap.mmap:
    """The file in memory, if it begins and ends as it should."""
    try:
        with path.open("rb") as file:
            if file.read(len(layout.MAGIC)) != layout.MAGIC:
                raise StoreError("not a prepared corpus; prepare it first")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise StoreError(f"cannot open the prepared corpus: {error.strerror}") from error
    if mapped[-len(layout.MAGIC) :] != layout.MAGIC:
        raise StoreError("the prepared corpus is cut off; copy or prepare it again")
    return mapped


def _damaged(path: Path, error: Exception) -> StoreError:
    return StoreError(f"{path}: the prepared corpus is damaged ({error}); copy or prepare it again")
