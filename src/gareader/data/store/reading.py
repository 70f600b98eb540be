"""Reading a prepared corpus: random access takes microseconds in a corpus of any size; damage is found when read."""

import mmap
import zlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gareader.core.cache import Verified
from gareader.core.errors import ExampleError, StoreError
from gareader.core.files import open_regular
from gareader.data.addresses import MAGIC, files
from gareader.data.examples import FUNCTION_WORDS, Example, Words
from gareader.data.store import layout

RELEASED_AFTER = 1 << 12
"""After this many examples the mapped pages are released, so that the process's memory stays flat."""


class PreparedCorpus(Sequence[Example]):
    """A prepared corpus, memory-mapped."""

    def __init__(self, shards: list["_Shard"]) -> None:
        coded = pa.concat_arrays([shard.words for shard in shards]).dictionary_encode()
        self.words: Words = tuple(coded.dictionary.to_pylist())
        """The distinct words, in the order of first occurrence."""
        lookups = _lookups(self.words, layout.ints(coded.indices), [len(shard.words) for shard in shards])
        self._batches = [batch for shard in shards for batch in shard.batches]
        self._lookups = [lookup for lookup, shard in zip(lookups, shards, strict=True) for _ in shard.batches]
        lengths = [np.diff(batch.document_offsets) for batch in self._batches]
        self.document_lengths: NDArray[np.int32] = np.concatenate([np.zeros(0, np.int32), *lengths])
        self._starts: list[int] = np.cumsum([0, *map(len, lengths)]).tolist()
        self._shards = shards
        self._read = 0

    @classmethod
    def open(cls, path: Path | str) -> "PreparedCorpus":
        """Map a file, a folder of shards, or the files at an address into memory.

        Read only the directory, the words and the document lengths.
        """
        with ThreadPoolExecutor(16) as threads:  # most of the time is waiting for the disk
            return cls([*threads.map(_Shard, files(path))])

    def __repr__(self) -> str:
        return f"<PreparedCorpus of {len(self):,} questions, {len(self.words):,} words>"

    def answerable(self) -> NDArray[np.bool_]:
        """For each example, whether its answer is known and in the document; read all documents once."""
        answerable = [np.zeros(0, bool)]
        for shard in self._shards:
            answerable += [batch.answerable(shard.function_words) for batch in shard.batches]
            shard.release()
        return np.concatenate(answerable)

    def checksum(self) -> str:
        """A checksum of all examples but for their words' spelling, which `words` has; read all of them once."""
        sums: list[int] = []
        for shard in self._shards:
            for batch in shard.batches:
                batch.verify()
                before = sums or [0] * len(batch.content())
                sums = [zlib.crc32(each.data, total) for each, total in zip(batch.content(), before, strict=True)]
            shard.release()
        return " ".join(f"{total:08x}" for total in sums)

    @property
    def most_candidates(self) -> int:
        """The largest number of candidates of an example."""
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
        row = range(len(self))[index]  # a negative index counts from the end; IndexError beyond the ends
        self._read += 1
        if self._read % RELEASED_AFTER == 0:
            for shard in self._shards:
                shard.release()
        number = bisect_right(self._starts, row) - 1
        return self._batches[number].example(row - self._starts[number], self._lookups[number])


def _lookups(words: Words, indices: NDArray[np.int32], sizes: list[int]) -> list[NDArray[np.object_]]:
    """The words of each shard, given the indices of all shards' words; shards with all words share one array."""
    whole = np.array(words, dtype=object)
    everything = np.arange(len(words), dtype=np.int32)
    shares = np.split(indices, np.cumsum(sizes)[:-1])
    return [whole if np.array_equal(share, everything) else whole[share] for share in shares]


class _Shard:
    """One file of a corpus."""

    def __init__(self, path: Path) -> None:
        try:
            self.map, self.verified = _mapped(path)
            reader = pa.ipc.open_file(pa.BufferReader(pa.py_buffer(self.map)))
            layout.check_schema(reader.schema)
            pairs = [reader.get_batch_with_custom_metadata(number) for number in range(reader.num_record_batches)]
            batches = [batch for batch, _ in pairs]
            self.words = batches[0].column("document").values.dictionary if batches else layout.text_array([])
            self.words.validate(full=True)
            for batch in batches:
                _, document, query, candidates, _ = batch.columns
                if not all(each.values.dictionary.equals(self.words) for each in (document, query, candidates.values)):
                    raise StoreError("its columns do not share their words; prepare the corpus again")
            sums = [(metadata or {}).get(layout.CHECKSUM) for _, metadata in pairs]
            if layout.CHECKSUM in reader.schema.metadata and (None in sums or not (sums or self.is_empty())):
                raise StoreError("the prepared corpus is damaged (no checksum); copy or prepare it again")
            if self.verified:
                sums = [None] * len(sums)
            words = words_checksum(self.words) if any(sums) else 0
            places = [place_of(words, number, last=number == len(sums) - 1) for number in range(len(sums))]
            self.batches = [BatchView(path, *each, self.note) for each in zip(batches, places, sums, strict=True)]
        except StoreError as error:
            raise StoreError(f"{path}: {error}") from None
        except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise _damaged(path, error) from error

    @property
    def function_words(self) -> NDArray[np.bool_]:
        """For each distinct word, whether it is a function word."""
        known = pc.is_in(self.words, value_set=pa.array(sorted(FUNCTION_WORDS), self.words.type))
        return np.asarray(known.to_numpy(zero_copy_only=False))

    def note(self) -> None:
        """Remember that the file is right if that is so of each batch."""
        if not any(batch.stored for batch in self.batches):
            self.verified.remember()

    def is_empty(self) -> bool:
        """Whether no record batch follows the schema, whatever the list of them at the end of the file says."""
        try:
            pa.ipc.open_stream(pa.py_buffer(self.map).slice(8)).read_next_batch()
        except StopIteration:
            return True
        return False

    def release(self) -> None:
        """Release the mapped pages of this process; the system's cache of the file may keep them."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self.map.madvise(mmap.MADV_DONTNEED)


class BatchView:
    """One record batch as numpy views of the mapped file; damage raises an error, never a read out of bounds."""

    def __init__(
        self,
        path: Path,
        batch: Any,
        place: bytes,
        stored: bytes | None = None,
        verified: Callable[[], None] = lambda: None,
    ) -> None:
        """`place` is the beginning of the checksum, `stored` the one in the file, if it is not known to be right.

        Earlier versions wrote none. `verified` is called when it has been found right.
        """
        batch.validate()
        self.path, self.place, self.stored, self.verified = path, place, stored, verified
        ids, document, query, candidates, self.answers = batch.columns
        _, offsets, text = ids.buffers()
        self.id_offsets = np.frombuffer(offsets, np.int32)[: len(batch) + 1]
        self.id_text = np.frombuffer(text or b"", np.uint8)[: self.id_offsets[-1]]
        self.documents, self.document_offsets = _views(document)
        self.queries, self.query_offsets = _views(query)
        self.candidates, self.candidate_offsets = _views(candidates.values)
        self.choices = layout.ints(candidates.offsets)

    def content(self) -> tuple[NDArray[Any], ...]:
        """All numbers of the batch, in arrays that make those of a larger batch if they are joined."""
        return (
            self.id_text,
            np.diff(self.id_offsets),
            self.documents,
            np.diff(self.document_offsets),
            self.queries,
            np.diff(self.query_offsets),
            self.candidates,
            np.diff(self.candidate_offsets),
            np.diff(self.choices),
            layout.ints(self.answers, -1),
        )

    def checksum(self) -> bytes:
        """The CRC-32 of the words, the place in the file and the content: it finds every changed byte."""
        starts = self.document_offsets[:1], self.query_offsets[:1], self.candidate_offsets[:1], self.choices[:1]
        total = zlib.crc32(self.place)
        for part in chain(self.content(), starts, (self.id_offsets[:1],)):
            total = zlib.crc32(part.data, zlib.crc32(b"%d" % part.size, total))
        return b"%08x" % total

    def verify(self) -> None:
        """Raise StoreError if the checksum is wrong; this is done once, when the batch is first read."""
        if self.stored is None:
            return
        try:
            damaged = self.stored != self.checksum()
        except (pa.ArrowException, IndexError, ValueError) as error:
            raise _damaged(self.path, error) from error
        if damaged:
            raise _damaged(self.path, "its checksum does not match")
        self.stored = None
        self.verified()

    def example(self, row: int, words: NDArray[np.object_]) -> Example:
        """Return the example of a row."""
        if self.stored is not None:
            self.verify()
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

    def answerable(self, function: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """For each row, whether a word of its answer that counts is in its document; `function` marks the others."""
        self.verify()
        answers = layout.ints(self.answers, -1)
        answerable = np.zeros(len(answers), bool)
        try:
            right = self.choices[:-1] + np.maximum(answers, 0)
            firsts, ends = self.candidate_offsets[right], self.candidate_offsets[right + 1]
            lengths = np.diff(self.document_offsets)
            others = np.concatenate([[0], np.cumsum(~function[self.candidates])])
            has_others = others[ends] > others[firsts]
            for place in range(int((ends - firsts).max(initial=0))):
                has_word = (answers >= 0) & (firsts + place < ends)
                words = self.candidates[np.where(has_word, firsts + place, 0)]
                has_word &= ~(function[words] & has_others)
                hits = self.documents == np.repeat(words, lengths)
                answerable |= has_word & np.logical_or.reduceat(hits, self.document_offsets[:-1])
        except (IndexError, ValueError) as error:
            raise _damaged(self.path, error) from error
        return answerable


def place_of(words: int, number: int, *, last: bool) -> bytes:
    """The beginning of a batch's checksum: its words, its number in the file, and whether it is the last one."""
    return b"%d %d %d" % (words, number, last)


def words_checksum(words: Any) -> int:
    """The CRC-32 of an Arrow array of words."""
    _, offsets, text = words.buffers()
    if not len(words):
        return 0
    ends = np.frombuffer(offsets, np.int32)[words.offset : words.offset + len(words) + 1]
    return zlib.crc32(np.frombuffer(text or b"", np.uint8)[ends[0] : ends[-1]].data, zlib.crc32(np.diff(ends).data))


def _views(lists: Any) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    # unsigned, so that a damaged index is out of bounds instead of counted from the end
    return layout.ints(lists.values.indices).view(np.uint32), layout.ints(lists.offsets)


def _mapped(path: Path) -> tuple[mmap.mmap, Verified]:
    """Map the file into memory; raise StoreError if its first or last bytes are wrong."""
    try:
        with open_regular(path) as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise StoreError("not a prepared corpus; prepare it first")
            verified = Verified(file.fileno())
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise StoreError(f"cannot open the prepared corpus: {error.strerror}") from error
    if mapped[-len(MAGIC) :] != MAGIC:
        raise StoreError("the prepared corpus is cut off; copy or prepare it again")
    return mapped, verified


def _damaged(path: Path, error: object) -> StoreError:
    return StoreError(f"{path}: the prepared corpus is damaged ({error}); copy or prepare it again")
