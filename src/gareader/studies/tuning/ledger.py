"""The ledger of a sweep: its trials with their owners and accuracies, kept by Optuna in a database."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread
from time import sleep
from typing import Any

import optuna
from optuna.exceptions import ExperimentalWarning, StorageInternalError
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    IntegrityError,
    OperationalError,
    ProgrammingError,
    SQLAlchemyError,
)

from gareader.core.claims import check_same
from gareader.core.errors import ConfigError, TrainingError
from gareader.studies.tuning.plan import PREFIX, Plan
from gareader.studies.tuning.search import CLAIMED, FINISHED, distributions
from gareader.studies.tuning.space import TrialSettings

HEARTBEAT, GRACE = 60, 600
"""Seconds between two heartbeats of a trial, and after the last one until others may take the trial over."""

OWNER, PLACE, MEASURED, PROBLEM = "owner", "place", "measured", "problem"
"""Attributes of a trial: its owner id, its machine and folder, its best validation so far, and why training failed."""

_SETTINGS = "settings"


class Ledger:
    """The trials of one sweep, common to all machines."""

    def __init__(self, study: optuna.Study, storage: RDBStorage) -> None:
        self.study = study
        self.storage = storage
        self.study_id = storage.get_study_id_from_name(study.study_name)

    def trials(self) -> list[FrozenTrial]:
        """All trials, lost ones included, in order."""
        return self.study.get_trials(deepcopy=False)

    def claim(self, plan: Plan, settings: TrialSettings, owner: str, place: str) -> None:
        """Begin a trial: one transaction gives it the next number, its settings and its owner."""
        if not _agreed(self.study, plan):
            self.study.set_user_attr(_SETTINGS, plan.settings())
        trial = optuna.create_trial(
            state=TrialState.RUNNING,
            params=settings,
            distributions=distributions(plan.space),
            user_attrs={OWNER: owner, PLACE: place},
        )
        self.storage.record_heartbeat(self.storage.create_new_trial(self.study_id, trial))

    def withdraw(self, number: int) -> None:
        """Undo the claim of a trial."""
        self.study.tell(number, state=TrialState.FAIL, skip_if_finished=True)

    def fail_lost(self) -> None:
        """Fail the trials of others whose last heartbeat is too old, so that they can be claimed again."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            optuna.storages.fail_stale_trials(self.study)

    def id(self, number: int) -> int:
        return self.storage.get_trial_id_from_study_id_trial_number(self.study_id, number)

    @contextmanager
    def alive(self, number: int) -> Iterator[None]:
        """Record heartbeats of the trial in the background; an error of the database is ignored until the next."""
        over, trial = Event(), self.id(number)

        def beat() -> None:
            while True:
                with suppress(StorageInternalError, SQLAlchemyError):
                    self.storage.record_heartbeat(trial)
                if over.wait(self.storage.heartbeat_interval):
                    break
            self.storage.remove_session()

        thread = Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def finished(trials: Sequence[FrozenTrial]) -> int:
    """The number of complete and pruned trials."""
    return sum(trial.state in FINISHED for trial in trials)


def claimed(trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """The trials that have a result, or will have one."""
    return [trial for trial in trials if trial.state in CLAIMED]


def stands(trial: FrozenTrial, trials: Sequence[FrozenTrial], wanted: int) -> bool:
    """Whether a claim is valid: of two simultaneous claims every machine keeps the one with the lower number."""
    earlier = [other for other in claimed(trials) if other.number < trial.number]
    return len(earlier) < wanted and all(other.params != trial.params for other in earlier)


@contextmanager
def open_ledger(
    address: str, plan: Plan, name: str | None = None, *, heartbeat: int = HEARTBEAT, grace: int = GRACE
) -> Iterator[Ledger]:
    """Open or create the ledger at a database address; an error of the database becomes a TrainingError."""
    try:
        url = make_url(address)
    except ArgumentError:
        raise ConfigError(
            "--storage is no database address; write it as postgresql+psycopg://USER@HOST/DATABASE"
        ) from None  # without the address: it may hold a password
    storage = None
    try:
        storage = _storage(url, heartbeat, grace)
        name = name or _name(storage, plan)
        study = optuna.create_study(storage=storage, study_name=name, direction="maximize", load_if_exists=True)
        _agreed(study, plan)
        yield Ledger(study, storage)
    except (StorageInternalError, SQLAlchemyError) as error:
        cause = error.__cause__ or error
        problem = str(getattr(cause, "orig", None) or cause).strip().split("\n")[0]
        raise TrainingError(
            f"{url}: the database cannot be used ({problem}); what was done is kept: mend it and give the same command"
        ) from error
    finally:
        if storage is not None:
            storage.remove_session()
            storage.engine.dispose()


def _storage(url: URL, heartbeat: int, grace: int) -> RDBStorage:
    """Optuna's storage; try again when another machine creates its tables at the same moment."""
    address = url.render_as_string(hide_password=False)
    pauses = iter((0.5, 1.0, 2.0))
    while True:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ExperimentalWarning)
                return RDBStorage(address, {"pool_pre_ping": True}, heartbeat_interval=heartbeat, grace_period=grace)
        except DatabaseError as error:
            # SQLite reports an existing table as an OperationalError.
            kinds = (IntegrityError, ProgrammingError, *[OperationalError] * (url.get_backend_name() == "sqlite"))
            if not isinstance(error, kinds) or (pause := next(pauses, None)) is None:
                raise
            sleep(pause)
        except ImportError as error:
            missing = getattr(error.__cause__, "name", None) or error
            raise ConfigError(f"--storage {url}: this needs {missing}, which is not installed; install it") from None


def _name(storage: RDBStorage, plan: Plan) -> str:
    """The name of the sweep with these settings; another version of gareader may have given it another fingerprint."""
    for study in storage.get_all_studies():
        before = study.user_attrs.get(_SETTINGS)
        if study.study_name.startswith(PREFIX) and before is not None and not plan.changed(before):
            return study.study_name
    return plan.name


def _agreed(study: optuna.Study, plan: Plan) -> bool:
    """Whether the settings are recorded, as they are after the first claim; raise TrainingError if they differ."""
    before: dict[str, Any] | None = study.user_attrs.get(_SETTINGS)
    if before is not None:
        owner = f"{study.study_name}: the sweep of that name"
        check_same(owner, plan.changed(before), "use its own, or choose another --name")
    return before is not None
