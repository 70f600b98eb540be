"""What the checksums cost when a model, a prepared corpus or the state of a run is opened.

Example: `python -m benchmarks.verifying --repeats 1 --questions 100`
"""

import json
import os
import pkgutil
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from importlib.resources import files
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

from benchmarks.script import AtLeastOne, Json, Repeats, start
from gareader.core import cache
from gareader.data.sources import read_examples
from gareader.data.store import PreparedCorpus, prepare
from gareader.trained import lexicon, predictor
from gareader.training.experiment import Experiment

CHECKSUMS = [
    "gareader.trained.folder.file_digest",
    "gareader.trained.folder.settings_digest",
    "gareader.data.store.reading.BatchView.checksum",
    "gareader.data.store.reading.words_checksum",
    "gareader.training.checkpoint.checksum",
]
"""The functions that compute the checksums."""
SETTLED_AT_ONCE = patch.object(cache, "SETTLED", -1)
"""Lets new files be remembered."""


@dataclass(frozen=True)
class Cost:
    """What it costs to open something: each the least of some repetitions, which is what others disturb least."""

    opened: str
    first_seconds: float
    """Where nothing is remembered."""
    first_cpu_seconds: float
    """Of all threads."""
    again_seconds: float
    """Where it was verified before."""
    again_cpu_seconds: float
    unverified_seconds: float
    """Without the checksums."""
    unverified_cpu_seconds: float


def main(*, questions: AtLeastOne = 8000, repeats: Repeats = 15, as_json: Json = False) -> None:
    """Open each kind of files, in turn for the first time, again, and without checksums.

    Parameters
    ----------
    questions
        The questions of the corpus, which are the bundled stories again and again.
    """
    with TemporaryDirectory() as folder, patch.dict(os.environ, GAREADER_CACHE=folder), SETTLED_AT_ONCE:
        for name, act in opening(Path(folder), questions).items():
            with recorded() as known:
                forgotten(act)
            rows = [(*forgotten(act), *timed(act), *unverified(act, known)) for _ in range(repeats)]
            cost = Cost(name, *map(min, zip(*rows, strict=True)))
            print(json.dumps(asdict(cost)) if as_json else in_words(cost), flush=True)


def in_words(cost: Cost) -> str:
    """The cost as a line."""
    known, known_cpu = cost.unverified_seconds, cost.unverified_cpu_seconds
    first = f"first {cost.first_seconds / known - 1:+.1%} (CPU {cost.first_cpu_seconds / known_cpu - 1:+.1%})"
    again = f"again {cost.again_seconds / known - 1:+.1%} (CPU {cost.again_cpu_seconds / known_cpu - 1:+.1%})"
    return f"{cost.opened:36} {known:.3f} s   {first}   {again}"


def opening(folder: Path, questions: int) -> dict[str, Callable[[], object]]:
    """What is opened, by its name."""
    corpus, run = folder / "corpus.arrow", folder / "run"
    stories = [*read_examples(Path(str(files("gareader.data") / "stories" / "stories.jsonl")))]
    prepare(islice(cycle(stories), questions), corpus)
    table = {
        "data": {"train": str(corpus), "validation": str(corpus), "vector_width": 100},
        "reader": {"hidden": 128, "hops": 2},
        "train": {"batch_size": 1, "ema": 0.999, "validation_examples": 1},
    }
    training = Experiment.from_table(table).run(run)
    training.train(lambda: training.position.step >= 1)

    def model() -> None:
        predictor._load.cache_clear()
        lexicon._kept.cache_clear()
        predictor.load()

    return {
        "gareader.load()": model,
        "all questions of a prepared corpus": lambda: [*PreparedCorpus.open(corpus)],
        "a run with --resume": lambda: Experiment.from_table(table).run(run, resume=True),
    }


def timed(act: Callable[[], object]) -> tuple[float, float]:
    """The seconds of an act, and those of the processor."""
    began, used = perf_counter(), process_time()
    act()
    return perf_counter() - began, process_time() - used


def forgotten(act: Callable[[], object]) -> tuple[float, float]:
    """The seconds of an act whose files nothing remembers."""
    shutil.rmtree(cache.cache() / "verified", ignore_errors=True)
    return timed(act)


def unverified(act: Callable[[], object], known: Mapping[str, Sequence[Any]]) -> tuple[float, float]:
    """The seconds of an act whose checksums are those that it computed before, in the same order."""
    shutil.rmtree(cache.cache() / "verified", ignore_errors=True)
    with ExitStack() as stack:
        stack.enter_context(patch("gareader.core.cache.Verified.remember"))
        for name, results in known.items():
            stack.enter_context(patch(name, side_effect=results))
        return timed(act)


@contextmanager
def recorded() -> Iterator[dict[str, list[Any]]]:
    """Record the checksums that are computed, by function."""
    found: dict[str, list[Any]] = {name: [] for name in CHECKSUMS}

    def watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            found[name].append(function(*given))
            return found[name][-1]

        return call

    with ExitStack() as stack:
        for name in CHECKSUMS:
            stack.enter_context(patch(name, watched(name, pkgutil.resolve_name(name))))
        yield found


if __name__ == "__main__":
    start(main)
