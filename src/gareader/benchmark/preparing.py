"""Preparing a corpus, beside a bare loop over the same file."""

from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from gareader import corpora, store
from gareader.benchmark.measure import peak_memory, seconds
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
    """Of a process that does nothing else, all of Python included."""


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
        program = f"from gareader import corpora, store; store.prepare(corpora.read({str(corpus)!r}), {str(out)!r})"
        peak = peak_memory(program)
    return PrepareBenchmark(examples, bare, prepared, median(bare) / median(prepared), opening, peak)


def read_and_split(path: Path) -> int:
    """The least that any reader of the file must do."""
    words = 0
    with opened(path) as content, TextIOWrapper(content, encoding="utf-8") as lines:
        for line in lines:
            words += len(line.split())
    return words
