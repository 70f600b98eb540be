"""The folder of a sweep: one process at a time, and never another sweep."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.engine import URL

from gareader.core.claims import check_same, clean_unless, locked, read_claim, write_claim
from gareader.core.errors import TrainingError
from gareader.data.store import Watch, prepared_once, unwatched
from gareader.studies.tuning.plan import Plan
from gareader.training.experiment import is_begun

SWEEP, LOCK, DATABASE, CORPORA, RUNS = "sweep.json", "lock", "tune.sqlite3", "corpora", "trials"


def local_storage(folder: Path) -> str:
    """The address of the SQLite database in the folder."""
    return URL.create("sqlite", database=str(folder / DATABASE)).render_as_string()


@contextmanager
def owned(folder: Path, plan: Plan) -> Iterator[str]:
    """Lock the folder for this process; the value is its owner id, which marks its trials in the ledger."""
    with locked(folder / LOCK, "a sweep is running here already; wait for it, or give each process its own --out"):
        new = [folder / name for name in (SWEEP, DATABASE, CORPORA, RUNS)]
        with clean_unless(lambda: any(map(is_begun, folder.glob(f"{RUNS}/*"))), lambda: new):
            owner = recorded_owner(folder, plan)
            if owner is None:
                owner = uuid.uuid4().hex
                write_claim(folder / SWEEP, {"owner": owner, "settings": plan.settings()})
            yield owner


def recorded_owner(folder: Path, plan: Plan) -> str | None:
    """The owner id of the folder; None if it has no sweep; raise TrainingError if its sweep has other settings."""
    file = folder / SWEEP
    if not file.exists():
        return None
    nothing = f"{file}: this says nothing about a sweep; choose another --out"
    record = read_claim(file, nothing)
    if not isinstance(record.get("settings"), dict) or "owner" not in record:
        raise TrainingError(nothing)
    check_same(f"{folder}: the sweep there", plan.changed(record["settings"]), "use its own, or choose another --out")
    return str(record["owner"])


def prepared_corpora(folder: Path, plan: Plan, watch: Watch = unwatched) -> tuple[str, str]:
    """The paths of the prepared training and validation corpora that all trials read."""
    data, corpora = plan.first.data, folder / CORPORA
    return (
        prepared_once(data.train, corpora / "train.arrow", watch),
        prepared_once(data.validation, corpora / "validation.arrow", watch),
    )
