"""Opening, shuffling and reading a corpus of any size, which is made by repeating a small one.

Example: `python -m benchmarks.shards tests/samples/cbt.txt --questions 1000 --read 320 --out shards`
"""

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import pyarrow as pa

from benchmarks.script import AtLeastOne, Json, start
from gareader.core.errors import GareaderError
from gareader.core.whole import whole_folder
from gareader.data.addresses import is_prepared
from gareader.data.batching import length_batches
from gareader.data.store import PreparedCorpus, prepare_corpus
from gareader.data.store.layout import CHECKSUM
from gareader.data.store.reading import BatchView, place_of, words_checksum

BATCH = 32


@dataclass(frozen=True)
class ShardsBenchmark:
    """Times that a training process waits for its corpus, and its memory."""

    questions: int
    shards: int
    gigabytes: float
    """Size on disk."""
    open_seconds: float
    choose_seconds: float
    """Time to find the answerable questions, for which the whole corpus is read once."""
    shuffle_seconds: float
    """Time to draw the order of an epoch."""
    read: int
    """Number of questions read in that order."""
    questions_per_second: float
    peak_memory_mb: float
    """Peak resident memory, with the mapped pages of the corpus."""
    peak_own_memory_mb: float
    """Peak memory without mapped pages."""


def main(
    corpus: Path, *, questions: AtLeastOne = 10_000_000, out: Path, read: AtLeastOne = 100_000, as_json: Json = False
) -> None:
    """Time of opening, shuffling and reading a corpus of many shards, and its memory.

    Parameters
    ----------
    corpus
        Questions to repeat, each time in another order.
    questions
        How many questions the shards have in all; ten million of the Children's Book Test take 20 GB.
    out
        The folder of the shards; an existing one is measured as it is.
    read
        How many questions to read.
    """
    if not out.exists():
        with TemporaryDirectory() as folder:
            source = corpus if is_prepared(corpus) else Path(folder, "corpus.arrow")
            if source != corpus:
                prepare_corpus(corpus, source)
            repeat(source, questions, out)
    result = bench_shards(out, read)
    if as_json:
        print(json.dumps(asdict(result)))
        return
    print(f"{result.questions:,} questions in {result.shards} shards, {result.gigabytes:.1f} GB")
    print(f"open      {result.open_seconds:8.2f} s")
    print(f"choose    {result.choose_seconds:8.2f} s   (everything is read once)")
    print(f"shuffle   {result.shuffle_seconds:8.2f} s")
    print(f"read      {result.questions_per_second:8,.0f} questions/s in shuffled order, {result.read:,} of them")
    print(f"memory    {result.peak_memory_mb:8,.0f} MB at most, {result.peak_own_memory_mb:,.0f} of it not mapped")


def repeat(source: Path, questions: int, folder: Path) -> None:
    """Write a folder of shards with that many questions, each shard the source in another order."""
    if source.is_dir():
        raise GareaderError(f"{source}: this is a folder of shards; name one of them, or the corpus itself")
    with pa.memory_map(str(source)) as file:
        table = pa.ipc.open_file(file).read_all().combine_chunks()
    with whole_folder(folder, sync=False) as new:
        for number in range(-(-questions // len(table))):
            order = np.random.default_rng(number).permutation(len(table))[: questions - number * len(table)]
            path, starts = new / f"{number:05}.arrow", range(0, len(order), 4096)
            with pa.ipc.new_file(str(path), table.schema) as writer:
                for place, start in enumerate(starts):
                    batch = table.take(order[start : start + 4096]).combine_chunks().to_batches()[0]
                    words = words_checksum(batch.column(1).values.dictionary)
                    view = BatchView(path, batch, place_of(words, place, last=place == len(starts) - 1), None)
                    writer.write_batch(batch, custom_metadata={CHECKSUM: view.checksum()})


def bench_shards(folder: Path, read: int) -> ShardsBenchmark:
    """Measure in a process of its own."""
    program = f"from benchmarks.shards import print_times; print_times({str(folder)!r}, {read})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise GareaderError(f"the process that was to be measured ended with an error: {done.stderr[-1000:]}")
    size = sum(file.stat().st_size for file in folder.iterdir())
    return ShardsBenchmark(shards=len(list(folder.iterdir())), gigabytes=size / 1e9, **json.loads(done.stdout))


def print_times(folder: str, read: int) -> None:
    """Open, shuffle and read the shards; print times and memory as JSON."""
    laps = [perf_counter()]
    own = 0.0

    def lap() -> float:
        nonlocal own
        own = max(own, memory("RssAnon"))
        laps.append(perf_counter())
        return laps[-1] - laps[-2]

    corpus = PreparedCorpus.open(folder)
    opening = lap()
    corpus.answerable()
    choosing = lap()
    batches = length_batches(corpus.document_lengths, BATCH, seed=[1, 0])
    shuffling = lap()
    chosen = batches[: -(-read // BATCH)]
    for batch in chosen:
        words = sum(len(corpus[int(i)].document) for i in batch)
        if words < len(batch):
            raise ValueError("a document is empty")
    reading = lap()
    result = {
        "questions": len(corpus),
        "open_seconds": opening,
        "choose_seconds": choosing,
        "shuffle_seconds": shuffling,
        "read": sum(map(len, chosen)),
        "questions_per_second": sum(map(len, chosen)) / reading,
        "peak_memory_mb": memory("VmHWM"),
        "peak_own_memory_mb": own,
    }
    print(json.dumps(result))


def memory(kind: str) -> float:
    """The memory of that kind in MB, from /proc."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{kind}:")[2].split()[0]) / 1024


if __name__ == "__main__":
    start(main)
