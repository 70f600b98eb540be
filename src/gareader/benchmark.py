"""Measurements side by side in one run: what is compared alternates, and medians are reported with their spread."""

import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from gareader import corpora, store
from gareader.files import opened


@dataclass(frozen=True)
class PrepareBenchmark:
    """Preparing a corpus beside a bare loop that reads and splits the same file."""

    examples: int
    bare_seconds: list[float]
    prepare_seconds: list[float]
    share_of_bare_speed: float
    """Bare median ÷ prepare median: 1 is as fast as only reading and splitting."""
    open_seconds: float
    """To open the result."""
    peak_memory_mb: float
    """Of a process that runs `gareader prepare`, all of Python included."""


def bench_prepare(corpus: Path, repeats: int = 5) -> PrepareBenchmark:
    """Measure on a corpus that is one file."""
    with TemporaryDirectory() as folder:
        out = Path(folder, "corpus.arrow")
        bare, prepared = [], []
        for _ in range(repeats):
            bare.append(seconds(lambda: read_and_split(corpus)))
            prepared.append(seconds(lambda: store.prepare(corpora.read(corpus), out)))
        opening = seconds(lambda: store.PreparedCorpus.open(out))
        examples = len(store.PreparedCorpus.open(out))
        command = [sys.executable, "-m", "gareader", "prepare", str(corpus), "--out", str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return PrepareBenchmark(examples, bare, prepared, median(bare) / median(prepared), opening, peak)


def read_and_split(path: Path) -> int:
    """The least that any reader of the file must do."""
    words = 0
    with opened(path) as content, TextIOWrapper(content, encoding="utf-8") as lines:
        for line in lines:
            words += len(line.split())
    return words


def seconds(work: Callable[[], object]) -> float:
    """How long it takes once."""
    start = perf_counter()
    work()
    return perf_counter() - start
