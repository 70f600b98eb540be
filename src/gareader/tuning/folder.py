"""The folder of a sweep: one process at a time, and never another sweep."""

import json
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.engine import URL

from gareader.errors import TrainingError
from gareader.experiment import SETTINGS
from gareader.files import held
from gareader.store import Watch, prepared_once
from gareader.tuning.plan import Plan
from gareader.whole import written_whole

SWEEP, LOCK, DATABASE, CORPORA, RUNS = "sweep.json", "lock", "tune.sqlite3", "corpora", "trials"


def local_storage(folder: Path) -> str:
    """The address of a database in the folder."""
    return URL.create("sqlite", database=str(folder / DATABASE)).render_as_string()


@contextmanager
def owned(folder: Path, plan: Plan) -> Iterator[str]:
    """The mark of the folder, by which it knows its trials after a restart; meanwhile no other process."""
    with held(folder / LOCK, "a sweep is running here already; wait for it, or give each process its own --out"):
        before = {*folder.iterdir()}
        try:
            yield mark(folder, plan) or new_mark(folder, plan)
        except BaseException:
            if not any(folder.glob(f"{RUNS}/*/{SETTINGS}")):  # what could not begin must not block the next try
                for path in {folder / name for name in (SWEEP, DATABASE, CORPORA, RUNS)} - before:
                    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            raise


def mark(folder: Path, plan: Plan) -> str | None:
    """The mark of the folder, if there is a sweep; one with other settings is an error."""
    file = folder / SWEEP
    if not file.exists():
        return None
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


def new_mark(folder: Path, plan: Plan) -> str:
    """A mark for the folder, kept with the settings of its sweep."""
    owner = uuid.uuid4().hex
    with written_whole(folder / SWEEP) as out:
        out.write(json.dumps({"owner": owner, "settings": plan.settings()}, indent=2, ensure_ascii=False) + "\n")
    return owner


def prepared_corpora(folder: Path, plan: Plan, watch: Watch = lambda examples, label: examples) -> tuple[str, str]:
    """The training and validation questions of all trials, prepared in the folder unless they are prepared already."""
    data, corpora = plan.first.data, folder / CORPORA
    return (
        prepared_once(data.train, corpora / "train.arrow", watch),
        prepared_once(data.validation, corpora / "validation.arrow", watch),
    )
