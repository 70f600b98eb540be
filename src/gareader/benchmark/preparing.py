"""Time of preparing a corpus, beside a bare loop over the same file."""

from dataclasses import dataclass
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from gareader.benchmark.measure import peak_memory, seconds
from gareader.core.distributed import cores
from gareader.core.files import opened
from gareader.data.store import PreparedCorpus, prepare_corpus


@dataclass(frozen=True)
class PrepareBenchmark:
    """Durations of preparing a corpus and of a bare loop that reads and splits the same file."""

    examples: int
    processes: int
    bare_seconds: list[float]
    prepare_seconds: list[float]
    """With as many processes as cores, if the format can be read in parallel."""
    alone_seconds: list[float]
    """With one process."""
    share_of_bare_speed: float
    """Bare median ÷ prepare median: 1 is as fast as only reading and splitting."""
    open_seconds: float
    """Time to open the prepared corpus."""
    peak_memory_mb: float
    """Peak memory of one process that does nothing else, Python included."""


def bench_prepare(corpus: Path, repeats: int) -> PrepareBenchmark:
    """Measure the preparing of a corpus that is one file."""
    with TemporaryDirectory() as folder:
        out = Path(folder, "corpus.arrow")
        bare, parallel, alone = list[float](), list[float](), list[float]()
        for _ in range(repeats):
            bare.append(seconds(lambda: read_and_split(corpus)))
            for times, workers in ((parallel, cores()), (alone, 1)):
                out.unlink(missing_ok=True)  # to replace a file costs more than to write a new one
                times.append(seconds(partial(prepare_corpus, corpus, out, workers=workers)))
        opening = seconds(lambda: PreparedCorpus.open(out))
        examples = len(PreparedCorpus.open(out))
        program = (
            "from pathlib import Path; from gareader.data.store import prepare_corpus; "
            f"prepare_corpus(Path({str(corpus)!r}), {str(out)!r})"
        )
        peak = peak_memory(program)
    share = median(bare) / median(parallel)
    return PrepareBenchmark(examples, cores(), bare, parallel, alone, share, opening, peak)


def read_and_split(path: Path) -> int:
    """Read the file and count its words: the least that reading a corpus must do."""
    words = 0
    with opened(path) as content, TextIOWrapper(content, encoding="utf-8") as lines:
        for line in lines:
            words += len(line.split())
    return words
