"""Run the trials of a sweep one after the other, each in its own folder."""

import platform
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from optuna.trial import FrozenTrial, TrialState

from gareader.studies.tuning.attempt import Attempt, Show
from gareader.studies.tuning.folder import RUNS
from gareader.studies.tuning.ledger import OWNER, Ledger, claimed, finished, stands
from gareader.studies.tuning.plan import Plan
from gareader.studies.tuning.search import proposal
from gareader.training.experiment import Experiment, is_begun
from gareader.training.run import BEST, LAST, STATE


class Sweep:
    """A plan, the folder of its runs, and the ledger of all trials."""

    def __init__(self, plan: Plan, folder: Path, corpora: tuple[str, str], ledger: Ledger, owner: str) -> None:
        """`corpora` are the paths of the training and validation questions, `owner` is the owner id of the folder."""
        self.plan = plan
        self.folder = folder
        self.corpora = corpora
        self.ledger = ledger
        self.owner = owner

    def next(self, wanted: int) -> FrozenTrial | None:
        """The trial to run now: one that was interrupted here, or a new one; None when `wanted` are finished in all.

        The ledger has the whole state: after a crash between two steps the claim is still there.
        """
        self.clear()
        while True:
            trials = self.ledger.trials()
            enough = finished(trials) >= wanted
            own = next((trial for trial in trials if self.is_running_here(trial)), None)
            if own and not self.is_begun(own) and (enough or not stands(own, trials, wanted)):
                self.ledger.withdraw(own.number)
            elif own and not enough:
                return own
            elif enough or not self.claim(wanted):
                return None

    def claim(self, wanted: int) -> bool:
        """Claim a new trial and return True, unless enough are claimed or all settings have been tried."""
        self.ledger.fail_lost()
        trials = self.ledger.trials()
        settings = proposal(self.plan.space, trials) if len(claimed(trials)) < wanted else None
        if settings is not None:
            place = f"{platform.node()}:{self.folder.resolve()}"
            self.ledger.claim(self.plan, settings, self.owner, place)
        return settings is not None

    def is_running_here(self, trial: FrozenTrial) -> bool:
        """Whether this folder owns the trial and it is not finished."""
        return trial.state == TrialState.RUNNING and self.owns(trial)

    def owns(self, trial: FrozenTrial) -> bool:
        """Whether the trial was claimed from this folder."""
        return bool(trial.user_attrs.get(OWNER) == self.owner)

    def is_begun(self, trial: FrozenTrial) -> bool:
        """Whether the folder has a run of the trial."""
        return is_begun(self.run_folder(trial.number))

    def run_folder(self, number: int) -> Path:
        """The folder of a trial's run."""
        return self.folder / RUNS / f"{number:04d}"

    def do(
        self,
        trial: FrozenTrial,
        stop: Callable[[], bool] = lambda: False,
        show: Show = lambda line, share: None,
    ) -> str:
        """Run a trial and return its state: complete, pruned, lost to another machine, or running if it was stopped."""
        with self.ledger.alive(trial.number):
            run = self.experiment(trial).run_or_resume(self.run_folder(trial.number))
            state = Attempt(trial, run, self.plan, self.ledger, show).train(stop)
        if state != "running":
            self.clear()
        return state

    def clear(self) -> None:
        """Delete the checkpoints of this folder's ended trials, and the models of those that are not complete."""
        for trial in self.ledger.trials():
            if self.owns(trial) and trial.state != TrialState.RUNNING:
                folder = self.run_folder(trial.number)
                (folder / STATE).unlink(missing_ok=True)
                shutil.rmtree(folder / LAST, ignore_errors=True)
                if trial.state != TrialState.COMPLETE:
                    shutil.rmtree(folder / BEST, ignore_errors=True)

    def experiment(self, trial: FrozenTrial) -> Experiment:
        """The experiment of a trial, on the corpora that all trials read."""
        experiment = self.plan.experiment(self.plan.space.tidy(trial.params))
        train, validation = self.corpora
        return replace(experiment, data=replace(experiment.data, train=train, validation=validation))
