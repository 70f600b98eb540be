"""Writing a prepared corpus, whole or not at all; memory grows with the distinct words alone."""

import errno
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gareader.core.distributed import ALONE
from gareader.core.errors import CorpusError, StoreError
from gareader.core.files import check_no_pipe
from gareader.core.parallel import in_order
from gareader.core.whole import whole_file, whole_folder
from gareader.data import corpora
from gareader.data.addresses import is_prepared
from gareader.data.corpora.delta import deltas_of
from gareader.data.corpora.files import Span
from gareader.data.examples import Example
from gareader.data.store.encoding import Encoded, encode, lists
from gareader.data.store.layout import CHECKSUM, PREPARED, int_array, ints
from gareader.data.store.reading import BatchView, PreparedCorpus, place_of, words_checksum
from gareader.data.text import SEPARATOR

Watch = Callable[[Iterable[Example], str], Iterable[Example]]
"""Wraps a stream of examples, for example in a progress bar with this label."""

SPAN = 1 << 22
"""The bytes of a file that one of several processes reads at a time."""


def prepare(examples: Iterable[Example], path: Path | str, *, shard: int | None = None) -> PreparedCorpus:
    """Write `examples` to a file, or, with `shard`, to a folder of files with at least `shard` examples each."""
    path = Path(path)
    with _scratch(path, shard) as folder:
        _write([encode(deltas_of(examples), folder / "indices")], path, shard)
    return PreparedCorpus.open(path)


def prepared_once(given: str, path: Path, watch: Watch) -> str:
    """Return the prepared corpus: `given` if it is prepared, else `path`, which all cores prepare if need be."""
    if path.exists():
        return str(path)
    if is_prepared(given):
        return given
    path.parent.mkdir(parents=True, exist_ok=True)
    prepare_corpus(Path(given), path, workers=ALONE.workers, watch=lambda passing: watch(passing, f"preparing {given}"))
    return str(path)


def prepare_corpus(
    corpus: Path,
    path: Path | str,
    *,
    format: str | None = None,
    on_bad: Callable[[CorpusError], None] | None = None,
    shard: int | None = None,
    workers: int = 1,
    watch: Callable[[Iterable[Any]], Iterable[Any]] = lambda examples: examples,
) -> PreparedCorpus:
    """Prepare a file or folder of questions, with several processes if it is a file that can be cut into spans.

    `watch` wraps the stream of examples, or of as many numbers where other processes read them.
    """
    path = Path(path)
    check_no_pipe(corpus)
    kind = format or corpora.recognise(corpus)
    spans = corpora.spans(corpus, SPAN, format=kind)
    first = [*islice(spans, 2)]
    with _scratch(path, shard) as folder:
        if min(workers, len(first)) <= 1:
            questions = corpora.deltas(corpus, format=kind, on_bad=on_bad)
            parts = [encode(watch(questions), folder / "indices")]
        else:
            work = partial(_encode_span, corpus, kind, folder, on_bad is not None)
            parts = []

            def numbers() -> Iterator[int]:
                for part, bad in in_order(work, enumerate(chain(first, spans)), workers, take_part=True):
                    if on_bad:
                        deque(map(on_bad, bad), maxlen=0)
                    parts.append(part)
                    yield from range(part.examples)

            deque(watch(numbers()), maxlen=0)
        _write(parts, path, shard)
    return PreparedCorpus.open(path)


def _encode_span(
    corpus: Path, format: str, folder: Path, skip_bad: bool, item: tuple[int, Span]
) -> tuple[Encoded, list[CorpusError]]:
    """Encode one span of a corpus, in a worker."""
    number, span = item
    bad: list[CorpusError] = []
    questions = corpora.deltas(corpus, format=format, on_bad=bad.append if skip_bad else None, span=span)
    return encode(questions, folder / f"indices-{number}"), bad


@contextmanager
def _scratch(path: Path, shard: int | None) -> Iterator[Path]:
    """Yield a temporary folder beside `path`; turn the errors of writing into StoreError."""
    if path.is_dir() and (not shard or any(path.iterdir())):
        raise StoreError(f"{path}: this folder is there already; remove it, or choose another name with --out")
    if shard and path.is_file():
        raise StoreError(f"{path}: this file is there already; remove it, or choose another name with --out")
    try:
        with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
            yield Path(folder)
    except UnicodeEncodeError as error:
        before, after = error.object[: error.start], error.object[error.start :]
        word = before.rpartition(SEPARATOR)[2] + after.partition(SEPARATOR)[0]
        raise StoreError(f"{path}: {word!r} holds half a character, which UTF-8 cannot; mend the text") from None
    except OSError as error:
        if error.errno == errno.ENOSPC:
            way_out = "preparing takes up to twice the room of its result; free some or choose another disk"
            raise StoreError(f"{path}: the disk is full; {way_out}") from error
        raise StoreError(f"{path}: cannot write the prepared corpus: {error.strerror or error}") from error


def _write(parts: list[Encoded], path: Path, shard: int | None) -> None:
    """Write the final file or folder with the words of all parts."""
    coded = pa.concat_arrays([part.words for part in parts]).dictionary_encode()
    places = np.split(ints(coded.indices), np.cumsum([len(part.words) for part in parts])[:-1])
    # No sync, which can take as long as all the rest: a corpus can be prepared again, and opening a file that a power
    # cut has truncated raises an error.
    whole = whole_folder if shard else whole_file
    with whole(path, sync=False) as new, _Files(new, shard, words_checksum(coded.dictionary)) as files:
        for part, numbers in zip(parts, places, strict=True):
            with pa.memory_map(str(part.path)) as source:
                reader = pa.ipc.open_file(source)
                for number in range(reader.num_record_batches):
                    files.write(_prepared_batch(reader.get_batch(number), numbers, coded.dictionary))
            part.path.unlink()


def _prepared_batch(batch: Any, numbers: NDArray[np.int32], words: Any) -> Any:
    """Turn a record batch of INDICES into one of PREPARED; `numbers` maps its indices to those into `words`."""

    def coded(indices: NDArray[np.int32]) -> Any:
        return pa.DictionaryArray.from_arrays(int_array(indices), words, safe=False)

    ids, new, query, candidates, answer, lengths = batch.columns
    lengths = ints(lengths)
    stream, ends = numbers[ints(new.values)], ints(new.offsets)[1:]
    documents = np.concatenate([stream[start:end] for start, end in zip(ends - lengths, ends, strict=True)])
    choices = pa.ListArray.from_arrays(candidates.values.offsets, coded(numbers[ints(candidates.values.values)]))
    columns = [
        ids,
        lists(lengths, coded(documents)),
        pa.ListArray.from_arrays(query.offsets, coded(numbers[ints(query.values)])),
        pa.ListArray.from_arrays(candidates.offsets, choices),
        answer,
    ]
    return pa.record_batch(columns, schema=PREPARED)


class _Files:
    """The output file, or the shards of the output folder."""

    def __init__(self, path: Path, shard: int | None, words: int) -> None:
        """`words` is the checksum of the words."""
        self.path = path
        self.shard = shard
        self.words = words
        self.number = 0
        self.examples = 0
        self.batches = 0
        self.waiting: Any = None  # the next batch to write; the checksum of the last one says that it is the last
        self.thread = ThreadPoolExecutor(1)  # writes one batch while the next one is made
        self.writing: Future[None] | None = None
        self.writer = self._next_file()

    def _next_file(self) -> Any:
        return pa.ipc.new_file(str(self.path / f"{self.number:05}.arrow" if self.shard else self.path), PREPARED)

    def write(self, batch: Any) -> None:
        """Append the batch; begin a new shard if the last one is full."""
        if self.shard and self.examples >= self.shard:
            self._write_waiting(last=True)
            self._close()
            self.number += 1
            self.examples = self.batches = 0
            self.writer = self._next_file()
        self._write_waiting(last=False)
        self.waiting = batch
        self.examples += len(batch)

    def _write_waiting(self, *, last: bool) -> None:
        """Write the batch that waits, if there is one, with its checksum."""
        if self.waiting is not None:
            view = BatchView(self.path, self.waiting, place_of(self.words, self.batches, last=last))
            metadata = {CHECKSUM: view.checksum()}
            self._written()
            self.writing = self.thread.submit(self.writer.write_batch, self.waiting, custom_metadata=metadata)
            self.batches += 1
            self.waiting = None

    def _written(self) -> None:
        """Wait until the last batch is written."""
        if self.writing is not None:
            self.writing.result()

    def _close(self) -> None:
        """Close the file, even if a batch could not be written."""
        try:
            self._written()
        finally:
            self.writer.close()

    def __enter__(self) -> "_Files":
        return self

    def __exit__(self, *problem: object) -> None:
        try:
            if problem[0] is None:
                self._write_waiting(last=True)
        finally:
            with self.thread:
                self._close()
