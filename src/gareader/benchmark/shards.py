"""A corpus of any size, made from a small one by repeating and permuting it: opened, shuffled and read."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa

from gareader.batching import length_batches
from gareader.errors import GareaderError
from gareader.store import PreparedCorpus
from gareader.whole import whole_folder

BATCH = 32


@dataclass(frozen=True)
class ShardsBenchmark:
    """What a process that trains on the corpus has to wait for, and its memory."""

    questions: int
    shards: int
    gigabytes: float
    """On disk."""
    open_seconds: float
    choose_seconds: float
    """To look which answers are in their documents: everything is read once."""
    shuffle_seconds: float
    """To draw the order of an epoch."""
    read: int
    """Questions read in that order."""
    questions_per_second: float
    peak_memory_mb: float
    """The largest resident memory, mapped pages of the corpus included."""
    peak_own_memory_mb: float
    """Without mapped pages."""


def repeat(source: Path, questions: int, folder: Path) -> None:
    """A folder of shards, each the source in another order, until there are so many questions."""
    if source.is_dir():
        raise GareaderError(f"{source}: this is a folder of shards; name one of them, or the corpus itself")
    with pa.memory_map(str(source)) as file:
        table = pa.ipc.open_file(file).read_all().combine_chunks()
    with whole_folder(folder, sync=False) as new:
        for number in range(-(-questions // len(table))):
            order = np.random.default_rng(number).permutation(len(table))[: questions - number * len(table)]
            with pa.ipc.new_file(str(new / f"{number:05}.arrow"), table.schema) as writer:
                for start in range(0, len(order), 4096):
                    writer.write_table(table.take(order[start : start + 4096]).combine_chunks())


def bench_shards(folder: Path, read: int) -> ShardsBenchmark:
    """Measure in a process of its own."""
    command = [sys.executable, "-m", "gareader.benchmark.shards", str(folder), str(read)]
    done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise GareaderError(f"the process that was to be measured ended with an error: {done.stderr[-1000:]}")
    size = sum(file.stat().st_size for file in folder.iterdir())
    return ShardsBenchmark(shards=len(list(folder.iterdir())), gigabytes=size / 1e9, **json.loads(done.stdout))


def main(folder: str, read: int) -> None:
    """What that process does."""
    watch = [perf_counter()]
    own = 0.0

    def lap() -> float:
        nonlocal own
        own = max(own, memory("RssAnon"))
        watch.append(perf_counter())
        return watch[-1] - watch[-2]

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
    found = {
        "questions": len(corpus),
        "open_seconds": opening,
        "choose_seconds": choosing,
        "shuffle_seconds": shuffling,
        "read": sum(map(len, chosen)),
        "questions_per_second": sum(map(len, chosen)) / reading,
        "peak_memory_mb": memory("VmHWM"),
        "peak_own_memory_mb": own,
    }
    sys.stdout.write(json.dumps(found))


def memory(kind: str) -> float:
    """In MB, as the system counts it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{kind}:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
