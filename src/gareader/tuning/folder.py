"""The folder of a sweep: one process at a time, and never another sweep."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.engine import URL

from gareader.claims import check_same, clean_unless, read_claim, write_claim
from gareader.errors import TrainingError
from gareader.experiment import is_begun
from gareader.files import held
from gareader.store import Watch, prepared_once
from gareader.tuning.plan import Plan

SWEEP, LOCK, DATABASE, CORPORA, RUNS = "sweep.json", "lock", "tune.sqlite3", "corpora", "trials"


def local_storage(folder: Path) -> str:
    """The address of a database in the folder."""
    return URL.create("sqlite", database=str(folder / DATABASE)).render_as_string()


@contextmanager
def owned(folder: Path, plan: Plan) -> Iterator[str]:
    """The mark of the folder, by which it knows its trials after a restart; meanwhile no other process."""
    with held(folder / LOCK, "a sweep is running here already; wait for it, or give each process its own --out"):
        new = [folder / name for name in (SWEEP, DATABASE, CORPORA, RUNS)]
        with clean_unless(lambda: any(map(is_begun, folder.glob(f"{RUNS}/*"))), lambda: new):
            yield mark(folder, plan) or new_mark(folder, plan)


def mark(folder: Path, plan: Plan) -> str | None:
    """The mark of the folder, if there is a sweep; one with other settings is an error."""
    file = folder / SWEEP
    if not file.exists():
        return None
    nothing = f"{file}: this says nothing about a sweep; choose another --out"
    known = read_claim(file, nothing)
    if not isinstance(known.get("settings"), dict) or "owner" not in known:
        raise TrainingError(nothing)
    check_same(f"{folder}: the sweep there", plan.changed(known["settings"]), "use its own, or choose another --out")
    return str(known["owner"])


def new_mark(folder: Path, plan: Plan) -> str:
    """A mark for the folder, kept with the settings of its sweep."""
    owner = uuid.uuid4().hex
    write_claim(folder / SWEEP, {"owner": owner, "settings": plan.settings()})
    return owner


def prepared_corpora(folder: Path, plan: Plan, watch: Watch = lambda examples, label: examples) -> tuple[str, str]:
    """The training and validation questions of all trials, prepared in the folder unless they are prepared already."""
    data, corpora = plan.first.data, folder / CORPORA
    return (
        prepared_once(data.train, corpora / "train.arrow", watch),
        prepared_once(data.validation, corpora / "validation.arrow", watch),
    )
