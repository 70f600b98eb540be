"""The trials of a sweep, one after the other: each is a run in its own folder."""

import platform
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from optuna.trial import FrozenTrial, TrialState

from gareader.experiment import Experiment, is_begun
from gareader.training import BEST, STATE
from gareader.tuning.attempt import Attempt, Show
from gareader.tuning.folder import RUNS
from gareader.tuning.ledger import OWNER, Ledger, finished, held, stands
from gareader.tuning.plan import Plan
from gareader.tuning.search import proposal


class Sweep:
    """A plan, the folder of its runs, and the ledger that says who does what."""

    def __init__(self, plan: Plan, folder: Path, corpora: tuple[str, str], ledger: Ledger, owner: str) -> None:
        """`corpora` are the questions to train on and to validate on, `owner` is the mark of the folder."""
        self.plan = plan
        self.folder = folder
        self.corpora = corpora
        self.ledger = ledger
        self.owner = owner

    def next(self, wanted: int) -> FrozenTrial | None:
        """The trial to run now, until `wanted` are finished in all: one that was interrupted here, or a new one.

        Whatever happens between two steps, all that counts is in the ledger: a claim that was made is found again.
        """
        self.clear()
        while True:
            trials = self.ledger.trials()
            enough = finished(trials) >= wanted
            mine = next((trial for trial in trials if self.is_mine(trial)), None)
            if mine and not self.is_begun(mine) and (enough or not stands(mine, trials, wanted)):
                self.ledger.withdraw(mine.number)
            elif mine and not enough:
                return mine
            elif enough or not self.claim(wanted):
                return None

    def claim(self, wanted: int) -> bool:
        """Claim a new trial, if one is wanted and there is something left to try."""
        self.ledger.fail_lost()
        trials = self.ledger.trials()
        chosen = proposal(self.plan.space, trials) if len(held(trials)) < wanted else None
        if chosen is not None:
            place = f"{platform.node()}:{self.folder.resolve()}"
            self.ledger.claim(self.plan, chosen, self.owner, place)
        return chosen is not None

    def is_mine(self, trial: FrozenTrial) -> bool:
        """Whether the trial was begun in this folder and is not finished."""
        return trial.state == TrialState.RUNNING and self.is_from_here(trial)

    def is_from_here(self, trial: FrozenTrial) -> bool:
        """Whether the trial was begun in this folder."""
        return bool(trial.user_attrs.get(OWNER) == self.owner)

    def is_begun(self, trial: FrozenTrial) -> bool:
        """Whether there is a run of the trial here."""
        return is_begun(self.run_folder(trial.number))

    def run_folder(self, number: int) -> Path:
        """Where a trial's run is."""
        return self.folder / RUNS / f"{number:04d}"

    def do(
        self,
        trial: FrozenTrial,
        stop: Callable[[], bool] = lambda: False,
        show: Show = lambda line, share: None,
    ) -> str:
        """Run a trial and say how it ended: complete, pruned, lost to another machine, or stopped and still running."""
        with self.ledger.alive(trial.number):
            run = self.experiment(trial).run_or_resume(self.run_folder(trial.number))
            state = Attempt(trial, run, self.plan, self.ledger, show).train(stop)
        if state != "running":
            self.clear()
        return state

    def clear(self) -> None:
        """Drop the state of the trials from here that came to an end, and the reader of those that are not complete."""
        for trial in self.ledger.trials():
            if self.is_from_here(trial) and trial.state != TrialState.RUNNING:
                folder = self.run_folder(trial.number)
                (folder / STATE).unlink(missing_ok=True)
                if trial.state != TrialState.COMPLETE:
                    shutil.rmtree(folder / BEST, ignore_errors=True)

    def experiment(self, trial: FrozenTrial) -> Experiment:
        """The run of a trial, on corpora that are prepared once for all."""
        experiment = self.plan.experiment(self.plan.space.tidy(trial.params))
        train, validation = self.corpora
        return replace(experiment, data=replace(experiment.data, train=train, validation=validation))
