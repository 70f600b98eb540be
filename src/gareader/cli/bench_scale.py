"""Commands that measure what grows with processes and with data: bench scale, bench shards."""

import json
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from gareader.cli.app import Json
from gareader.cli.bench import AtLeastOne, Document, Repeats, bench

if TYPE_CHECKING:
    from gareader.benchmark.scaling import ScalingBenchmark


@bench.command
def scale(*, document: Document = 430, updates: AtLeastOne = 5, repeats: Repeats = 3, as_json: Json = False) -> None:
    """A training step by one process and by two, with one thread and with all; what follows for many machines.

    Example: `gareader bench scale --document 20 --updates 1 --repeats 1`

    Parameters
    ----------
    updates
        Steps of each process in each round, beside one to warm up.
    """
    from gareader.benchmark.scaling import bench_scaling

    result = bench_scaling(document, updates, repeats)
    if as_json:
        print(json.dumps(asdict(result)))
    else:
        show_scaling(result)


@bench.command
def shards(
    corpus: Path, *, questions: AtLeastOne = 10_000_000, out: Path, read: AtLeastOne = 100_000, as_json: Json = False
) -> None:
    """A corpus of many shards: opened, shuffled and read in that order, and the memory it takes.

    Example: `gareader bench shards tests/data/cbt.txt --questions 1000 --read 320 --out shards`

    Parameters
    ----------
    corpus
        Questions to repeat, each time in another order.
    questions
        How many there shall be in all; ten million of the Children's Book Test take 20 GB.
    out
        The folder of the shards; measured again without being made again if it is there.
    read
        How many questions to read.
    """
    from gareader.benchmark.shards import bench_shards, repeat
    from gareader.store import is_prepared, prepare_corpus

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


def show_scaling(result: "ScalingBenchmark") -> None:
    """Measurements, then the model's tables."""
    from gareader.benchmark.scaling import GIGABITS, QUESTIONS, exchange_seconds

    alone = result.setups[0].median
    for setup in result.setups:
        low, high = min(setup.seconds), max(setup.seconds)
        print(
            f"{setup.processes} × {setup.threads} threads   {setup.median:6.3f} s a step ({low:.3f} to {high:.3f})   "
            f"{QUESTIONS / setup.median:6.1f} questions/s   {alone / setup.median:4.2f} ×   "
            f"waiting {setup.waiting:.1%}"
        )
    megabytes = 4 * result.weights / 1e6
    print(f"\nModel: {result.weights:,} weights, {megabytes:.1f} MB of gradients round a ring; questions a second")
    print(
        f"{'machines':>8}"
        + "".join(f"{f'{kind}, {g} Gbit/s':>26}" for g in GIGABITS for kind in ("batch 32", "32 each"))
    )
    whole = result.part_seconds[QUESTIONS]
    for machines in (1, 2, 4, 8, 16, 32, 64):
        cells = []
        for gigabits in GIGABITS:
            exchange = exchange_seconds(machines, result.weights, gigabits) if machines > 1 else 0.0
            part = result.part_seconds[max(1, QUESTIONS // machines)]
            cells += [QUESTIONS / (part + exchange), machines * QUESTIONS / (whole + exchange)]
        print(f"{machines:>8}" + "".join(f"{cell:>26,.0f}" for cell in cells))
