"""Damaged files: each must be a clear error, or without effect, also if it was verified before and remembered.

Example: `python -m benchmarks.damage --files 20`
"""

import json
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any
from unittest.mock import patch

from benchmarks.script import AtLeastOne, Json, start
from gareader.core import cache
from gareader.core.errors import GareaderError
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.store import PreparedCorpus, prepare
from gareader.trained.model import OnTorch, load, save
from gareader.trained.predictor import Predictor
from gareader.training.experiment import Experiment
from gareader.training.run import BEST, STATE

SETTLED = 0.02
"""Seconds after a change of a file during which nothing is remembered: a few ticks of the file system's clock."""
NAMES = ("Ann", "Ben", "Cora", "Dan", "Eve", "Finn")


@dataclass(frozen=True)
class Outcomes:
    """What came of the damaged files of one kind."""

    kind: str
    files: int
    errors: int
    """Errors of gareader, which say what to do."""
    unchanged: int
    """Files that were read as if nothing had happened to them."""
    wrong: int
    """Files that were read as something else, without a word."""
    tracebacks: int


@dataclass(frozen=True)
class Kind:
    """Files that are read together."""

    name: str
    files: list[Path]
    read: Callable[[], Any]
    """Reads them; what it returns can be compared."""


def main(*, files: AtLeastOne = 2000, seed: int = 1, as_json: Json = False) -> None:
    """Read a model, a prepared corpus or the state of a training run, change a random byte, read it, and mend it again.

    Parameters
    ----------
    files
        How many damaged files to read.
    seed
        Determines the bytes.
    """
    with TemporaryDirectory() as folder, remembering(Path(folder, "cache")):
        kinds = made(Path(folder))
        results = [
            outcomes(kind, files // len(kinds) + (number < files % len(kinds)), Random(f"{seed} {kind.name}"))  # noqa: S311
            for number, kind in enumerate(kinds)
        ]
    if not as_json:
        print("| files | damaged | clear error | unchanged | wrong in silence | traceback |\n|---|---|---|---|---|---|")
    for each in results:
        row = " | ".join(str(value) for value in asdict(each).values())
        print(json.dumps(asdict(each)) if as_json else f"| {row} |")
    if any(each.wrong or each.tracebacks for each in results):
        sys.exit(1)


@contextmanager
def remembering(folder: Path) -> Iterator[None]:
    """Let files that were verified be remembered in this folder, though they are new."""
    with patch.dict(os.environ, GAREADER_CACHE=str(folder)), patch.object(cache, "SETTLED", SETTLED):
        yield


def made(folder: Path) -> list[Kind]:
    """Write a small example of each kind of files."""
    examples = [example(number) for number in range(60)]
    prepare(examples, folder / "corpus.arrow")
    prepare(examples, folder / "shards", shard=20)
    table = {
        "data": {key: str(folder / "corpus.arrow") for key in ("train", "validation")} | {"vector_width": 8},
        "reader": {"hidden": 4, "hops": 2},
        "train": {"batch_size": 8, "validate_every": 2, "max_epochs": 1, "ema": 0.9},
    }
    run = Experiment.from_table(table).run(folder / "run")
    run.train(lambda: run.position.step >= 3)
    model, packed = folder / "run" / BEST, folder / "packed"
    save(load(model), packed, packed=True)

    def answers(model: Path) -> Any:
        loaded = load(model)
        predictor = Predictor(OnTorch(loaded.reader), loaded.collator, loaded.temperatures)
        return [each.log_probabilities for each in predictor.predict(examples[:4])], loaded.notes

    def state() -> Any:
        run.load_state()
        return run.position, run.window, {name: value.tolist() for name, value in run.state().items()}

    corpora = {"prepared corpus": folder / "corpus.arrow", "corpus in shards": folder / "shards"}
    return [
        *(
            Kind(name, sorted(path.iterdir()), partial(answers, path))
            for name, path in (("model", model), ("packed model", packed))
        ),
        *(
            Kind(name, sorted(path.iterdir()) if path.is_dir() else [path], partial(questions, path))
            for name, path in corpora.items()
        ),
        Kind("state of a run", [folder / "run" / STATE], state),
    ]


def questions(path: Path) -> list[Example]:
    """The questions of a prepared corpus."""
    return [*PreparedCorpus.open(path)]


def example(number: int) -> Example:
    """A question that no other equals."""
    chance = Random(number)  # noqa: S311
    one, other = chance.sample(NAMES, 2)
    document = f"{one} met {other} at {number} . {one} has the lamp .".split()
    return Example(f"q{number}", tuple(document), (PLACEHOLDER, "has", "it"), ((one,), (other,)), number % 2)


def outcomes(kind: Kind, count: int, chance: Random) -> Outcomes:
    """Damage the files of a kind so many times."""
    before = kind.read()
    counts: Counter[str] = Counter()
    for _ in range(count):
        path = chance.choice(kind.files)
        sleep(2 * SETTLED)
        kind.read()  # verifies what was mended, and remembers it
        with damaged(path, chance), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                counts["unchanged" if kind.read() == before else "wrong"] += 1
            except GareaderError:
                counts["errors"] += 1
            except Exception as error:  # noqa: BLE001  any other is a fault
                print(f"{path.name}: {type(error).__name__}: {error}", file=sys.stderr)
                counts["tracebacks"] += 1
    return Outcomes(kind.name, count, *(counts[name] for name in ("errors", "unchanged", "wrong", "tracebacks")))


@contextmanager
def damaged(path: Path, chance: Random) -> Iterator[None]:
    """Change one byte of the file inside the `with` block."""
    whole = path.read_bytes()
    place = chance.randrange(len(whole))
    path.write_bytes(whole[:place] + bytes([whole[place] ^ chance.randrange(1, 256)]) + whole[place + 1 :])
    try:
        yield
    finally:
        path.write_bytes(whole)


if __name__ == "__main__":
    start(main)
