"""The trials of a sweep, one after the other: each is a run in its own folder."""

import platform
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from optuna.trial import FrozenTrial, TrialState

from gareader.experiment import SETTINGS, Experiment
from gareader.training import BEST, STATE
from gareader.tuning.attempt import Attempt, Show
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
        return trial.state == TrialState.RUNNING and trial.user_attrs.get(OWNER) == self.owner

    def is_begun(self, trial: FrozenTrial) -> bool:
        """Whether there is a run of the trial here."""
        return (self.run_folder(trial.number) / SETTINGS).exists()

    def run_folder(self, number: int) -> Path:
        """Where a trial's run is."""
        return self.folder / "trials" / f"{number:04d}"

    def do(
        self,
        trial: FrozenTrial,
        stop: Callable[[], bool] = lambda: False,
        show: Show = lambda line, share: None,
    ) -> str:
        """Run a trial and say how it ended: complete, pruned, lost to another machine, or stopped and still running."""
        folder = self.run_folder(trial.number)
        with self.ledger.alive(trial.number):
            run = self.experiment(trial).run(folder, resume=self.is_begun(trial))
            state = Attempt(trial, run, self.plan, self.ledger, show).train(stop)
        if state != "running":
            (folder / STATE).unlink(missing_ok=True)
        if state in ("pruned", "lost"):
            shutil.rmtree(folder / BEST, ignore_errors=True)
        return state

    def experiment(self, trial: FrozenTrial) -> Experiment:
        """The run of a trial, on corpora that are prepared once for all."""
        experiment = self.plan.experiment(self.plan.space.tidy(trial.params))
        train, validation = self.corpora
        return replace(experiment, data=replace(experiment.data, train=train, validation=validation))
