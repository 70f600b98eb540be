"""Run the trials of a sweep one after the other, each in its own folder."""

import platform
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, Trial, TrialState

from gareader.core.errors import TrainingError
from gareader.studies.tuning.folder import RUNS
from gareader.studies.tuning.ledger import MEASURED, OWNER, PROBLEM, Ledger, claimed, finished, stands
from gareader.studies.tuning.plan import Plan
from gareader.studies.tuning.search import proposal, pruner
from gareader.training.experiment import Experiment, is_begun
from gareader.training.run import BEST, LAST, STATE, Run

Show = Callable[[dict[str, Any], float], None]
"""Gets each line of metrics and the finished share of the run."""


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
            own = next((trial for trial in trials if trial.state == TrialState.RUNNING and self.owns(trial)), None)
            if own and not is_begun(self.run_folder(own.number)) and (enough or not stands(own, trials, wanted)):
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

    def owns(self, trial: FrozenTrial) -> bool:
        """Whether the trial was claimed from this folder."""
        return bool(trial.user_attrs.get(OWNER) == self.owner)

    def run_folder(self, number: int) -> Path:
        return self.folder / RUNS / f"{number:04d}"

    def do(
        self, trial: FrozenTrial, stop: Callable[[], bool] = lambda: False, show: Show = lambda line, share: None
    ) -> str:
        """Run a trial and return its state: complete, pruned, lost to another machine, or running if it was stopped."""
        with self.ledger.alive(trial.number):
            folder = self.run_folder(trial.number)
            run = self.experiment(trial).run(folder, resume=is_begun(folder))
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


class Attempt:
    """The run of one trial: every validation is reported to the ledger, and a poor trial is pruned."""

    def __init__(self, trial: FrozenTrial, run: Run, plan: Plan, ledger: Ledger, show: Show) -> None:
        ledger.study.pruner = pruner(plan.space, ledger.trials())
        self.ledger = ledger
        self.trial = Trial(ledger.study, ledger.id(trial.number))  # study.ask would begin a new trial
        self.reported = set(trial.intermediate_values)
        self.run = run
        self.show = show
        self.validated = False  # since the pruner was asked last
        self.state = "running"

    def train(self, stop: Callable[[], bool]) -> str:
        """Train and return the state: complete, pruned, lost to another machine, or running if `stop` said so."""
        self.run.on_metrics = self.listen
        try:
            try:
                self.run.train(lambda: self.poor() or stop())
            except TrainingError as error:  # the loss is no finite number any more
                self.trial.set_user_attr(PROBLEM, str(error))
                self.end(TrialState.PRUNED)
            if self.run.position.finished:
                self.end(TrialState.COMPLETE, self.run.position.best_accuracy)
        except UpdateFinishedTrialError:
            self.state = "lost"
        return self.state

    def listen(self, line: dict[str, Any]) -> None:
        """Report a validation to the ledger, unless a resumed run repeats it."""
        self.show(line, self.run.progress)
        if "validation_accuracy" not in line:
            return
        accuracy, step = line["validation_accuracy"], line["step"]
        best = self.trial.user_attrs.get(MEASURED)
        if best is None or accuracy > best["accuracy"]:
            best = {"accuracy": accuracy, "interval": line["validation_interval"], "update": step}
        minutes = round(self.run.position.seconds / 60, 2)
        self.trial.set_user_attr(MEASURED, {**best, "updates": step, "minutes": minutes})
        if step not in self.reported:
            self.trial.report(accuracy, step)
        self.validated = True

    def poor(self) -> bool:
        """Whether the pruner gives the trial up after its last validation; if so, close it as pruned."""
        if self.validated and not self.run.position.finished and self.trial.should_prune():
            self.end(TrialState.PRUNED)
            return True
        self.validated = False
        return False

    def end(self, state: TrialState, accuracy: float | None = None) -> None:
        """Close the trial, unless another machine has closed it."""
        recorded = self.ledger.study.tell(self.trial.number, accuracy, state, skip_if_finished=True).state
        self.state = "lost" if recorded == TrialState.FAIL else recorded.name.lower()
