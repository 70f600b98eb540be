"""The ledger of a sweep: which trials there are, who runs them and what they reached, kept by Optuna in a database."""

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

from gareader.claims import check_same
from gareader.errors import ConfigError, TrainingError
from gareader.tuning.plan import NAMED, Plan
from gareader.tuning.search import FINISHED, HELD, distributions
from gareader.tuning.space import Chosen

HEARTBEAT, GRACE = 60, 600
"""Seconds between two signs of life of a trial, and after the last one until others may take it over."""

OWNER, PLACE, MEASURED, PROBLEM = "owner", "place", "measured", "problem"
"""What a trial carries: whose it is, where its folder is, what it reached so far, and why it was given up."""

_SETTINGS = "settings"


class Ledger:
    """The trials of one sweep, as all machines see them."""

    def __init__(self, study: optuna.Study, storage: RDBStorage) -> None:
        self.study = study
        self.storage = storage
        self.study_id = storage.get_study_id_from_name(study.study_name)

    def trials(self) -> list[FrozenTrial]:
        """All that were ever begun, in order."""
        return self.study.get_trials(deepcopy=False)

    def claim(self, plan: Plan, chosen: Chosen, owner: str, place: str) -> None:
        """Begin a trial: in one transaction it gets the next number, its settings and its owner."""
        if not _agreed(self.study, plan):
            self.study.set_user_attr(_SETTINGS, plan.settings())
        trial = optuna.create_trial(
            state=TrialState.RUNNING,
            params=chosen,
            distributions=distributions(plan.space),
            user_attrs={OWNER: owner, PLACE: place},
        )
        self.storage.record_heartbeat(self.storage.create_new_trial(self.study_id, trial))

    def withdraw(self, number: int) -> None:
        """Undo a claim."""
        self.study.tell(number, state=TrialState.FAIL, skip_if_finished=True)

    def fail_lost(self) -> None:
        """Give free the trials of others that have shown no sign of life for too long."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            optuna.storages.fail_stale_trials(self.study)

    def id(self, number: int) -> int:
        """What the database calls a trial."""
        return self.storage.get_trial_id_from_study_id_trial_number(self.study_id, number)

    @contextmanager
    def alive(self, number: int) -> Iterator[None]:
        """Meanwhile others see that the trial is being run; a database out of reach is tried again later."""
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
    """How many came to an end, given up ones included."""
    return sum(trial.state in FINISHED for trial in trials)


def held(trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """Those that have a result, or will have one."""
    return [trial for trial in trials if trial.state in HELD]


def stands(trial: FrozenTrial, trials: Sequence[FrozenTrial], wanted: int) -> bool:
    """Whether a claim is good: of two made at the same time the lower number counts, which is the same for all."""
    earlier = [other for other in held(trials) if other.number < trial.number]
    return len(earlier) < wanted and all(other.params != trial.params for other in earlier)


@contextmanager
def opened(
    address: str, plan: Plan, name: str | None = None, *, heartbeat: int = HEARTBEAT, grace: int = GRACE
) -> Iterator[Ledger]:
    """The ledger at a database address, made if there is none; trouble with the database is one of our errors."""
    try:
        url = make_url(address)
    except ArgumentError:
        raise ConfigError(
            "--storage is no database address; write it as postgresql+psycopg://USER@HOST/DATABASE"
        ) from None  # and it is not repeated: it may hold a password
    storage = None
    try:
        storage = _storage(url, heartbeat, grace)
        yield Ledger(_study(storage, name or _name(storage, plan), plan), storage)
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
    """Optuna's storage; machines that begin at the same moment may disturb each other while they make its tables."""
    address = url.render_as_string(hide_password=False)
    pauses = iter((0.5, 1.0, 2.0))
    while True:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ExperimentalWarning)
                return RDBStorage(address, {"pool_pre_ping": True}, heartbeat_interval=heartbeat, grace_period=grace)
        except DatabaseError as error:
            # SQLite's word for a table that is there already is that of an error of operation.
            kinds = (IntegrityError, ProgrammingError, *[OperationalError] * (url.get_backend_name() == "sqlite"))
            if not isinstance(error, kinds) or (pause := next(pauses, None)) is None:
                raise
            sleep(pause)
        except ImportError as error:
            missing = getattr(error.__cause__, "name", None) or error
            raise ConfigError(f"--storage {url}: this needs {missing}, which is not installed; install it") from None


def _name(storage: RDBStorage, plan: Plan) -> str:
    """The name of the sweep with these settings; another gareader may have made another one of them."""
    for study in storage.get_all_studies():
        before = study.user_attrs.get(_SETTINGS)
        if study.study_name.startswith(NAMED) and before is not None and not plan.changed(before):
            return study.study_name
    return plan.name


def _study(storage: RDBStorage, name: str, plan: Plan) -> optuna.Study:
    """The study of that name, if it is of this sweep."""
    study = optuna.create_study(storage=storage, study_name=name, direction="maximize", load_if_exists=True)
    _agreed(study, plan)
    return study


def _agreed(study: optuna.Study, plan: Plan) -> bool:
    """Whether the study has the settings of this sweep; before the first claim it has none, and others are an error."""
    before: dict[str, Any] | None = study.user_attrs.get(_SETTINGS)
    if before is not None:
        owner = f"{study.study_name}: the sweep of that name"
        check_same(owner, plan.changed(before), "use its own, or choose another --name")
    return before is not None
