"""The folder of a sweep: one process at a time, and never another sweep."""

import json
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy.engine import URL

from gareader.errors import TrainingError
from gareader.examples import Example
from gareader.files import written_whole
from gareader.store import is_prepared, prepare, read_examples
from gareader.tuning.plan import Plan

Watch = Callable[[Iterable[Example], str], Iterable[Example]]

SWEEP, LOCK, DATABASE = "sweep.json", "lock", "tune.sqlite3"


def local_storage(folder: Path) -> str:
    """The address of a database in the folder."""
    return URL.create("sqlite", database=str(folder / DATABASE)).render_as_string()


@contextmanager
def owned(folder: Path, plan: Plan, *, lock: bool = True) -> Iterator[str]:
    """The mark of the folder, by which it knows its trials after a restart; with `lock`, meanwhile no other process.

    The system gives the lock back when the process ends, however it ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / LOCK, timeout=0) if lock else nullcontext():
            yield mark(folder, plan)
    except Timeout:
        raise TrainingError(
            f"{folder}: a sweep is running here already; wait for it, or give each process its own --out"
        ) from None


def mark(folder: Path, plan: Plan) -> str:
    """The mark of the folder, kept with the settings of its sweep; those of another sweep are an error."""
    file = folder / SWEEP
    if not file.exists():
        owner = uuid.uuid4().hex
        with written_whole(file) as out:
            out.write(json.dumps({"owner": owner, "settings": plan.settings()}, indent=2, ensure_ascii=False) + "\n")
        return owner
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
        owner, before = str(known["owner"]), dict(known["settings"])
    except (ValueError, TypeError, KeyError):
        raise TrainingError(f"{file}: this says nothing about a sweep; choose another --out") from None
    if changed := plan.changed(before):
        raise TrainingError(
            f"{folder}: the sweep there has other settings ({', '.join(changed)}); use its own, or choose another --out"
        )
    return owner


def prepared_corpora(folder: Path, plan: Plan, watch: Watch = lambda examples, label: examples) -> tuple[str, str]:
    """The training and validation questions of all trials, prepared in the folder unless they are prepared already."""
    data = plan.experiment(next(plan.space.corners())).data
    (folder / "corpora").mkdir(exist_ok=True)

    def prepared(given: str, path: Path) -> str:
        if is_prepared(given):
            return given
        if not path.exists():
            prepare(watch(read_examples(given), f"preparing {given}"), path)
        return str(path)

    train, validation = (folder / "corpora" / f"{part}.arrow" for part in ("train", "validation"))
    return prepared(data.train, train), prepared(data.validation, validation)
