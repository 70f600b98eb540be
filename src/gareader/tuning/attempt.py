"""A trial while it is run: each validation goes to the ledger, and a poor trial comes to an early end."""

from collections.abc import Callable
from typing import Any

from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, Trial, TrialState

from gareader.errors import TrainingError
from gareader.training import Run
from gareader.tuning.ledger import MEASURED, PROBLEM, Ledger
from gareader.tuning.plan import Plan
from gareader.tuning.search import pruner

Show = Callable[[dict[str, Any], float], None]


class Attempt:
    """The run of one trial."""

    def __init__(self, trial: FrozenTrial, run: Run, plan: Plan, ledger: Ledger, show: Show) -> None:
        """`show` gets each line of metrics, and how much of the run is done."""
        ledger.study.pruner = pruner(plan.space, ledger.trials())
        self.ledger = ledger
        self.trial = Trial(ledger.study, ledger.id(trial.number))  # study.ask would begin another one
        self.reported = set(trial.intermediate_values)
        self.run = run
        self.show = show
        self.unjudged = False
        self.state = "running"

    def train(self, stop: Callable[[], bool]) -> str:
        """Train to the end: complete, pruned, or lost because another machine took the trial over; else running."""
        self.run.on_metrics = self.listen
        try:
            self.train_and_tell(stop)
        except UpdateFinishedTrialError:
            self.state = "lost"
        return self.state

    def train_and_tell(self, stop: Callable[[], bool]) -> None:
        """Train, and close the trial if it came to an end."""
        try:
            self.run.train(lambda: self.poor() or stop())
        except TrainingError as error:  # the loss is no number any more, and will be none again
            self.trial.set_user_attr(PROBLEM, str(error))
            self.end(TrialState.PRUNED)
        if self.run.position.finished:
            self.end(TrialState.COMPLETE, self.run.position.best_accuracy)

    def listen(self, line: dict[str, Any]) -> None:
        """Write down a validation; a resumed run may repeat its last one."""
        self.show(line, self.run.share_done)
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
        self.unjudged = True

    def poor(self) -> bool:
        """Whether the last validation was so poor that the trial is given up, which is written down at once."""
        if self.unjudged and not self.run.position.finished and self.trial.should_prune():
            self.end(TrialState.PRUNED)
            return True
        self.unjudged = False
        return False

    def end(self, state: TrialState, accuracy: float | None = None) -> None:
        """Close the trial, unless others have done so."""
        told = self.ledger.study.tell(self.trial.number, accuracy, state, skip_if_finished=True).state
        self.state = "lost" if told == TrialState.FAIL else told.name.lower()
