"""A running trial: every validation is reported to the ledger, and a poor trial is pruned."""

from collections.abc import Callable
from typing import Any

from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, Trial, TrialState

from gareader.core.errors import TrainingError
from gareader.studies.tuning.ledger import MEASURED, PROBLEM, Ledger
from gareader.studies.tuning.plan import Plan
from gareader.studies.tuning.search import pruner
from gareader.training.run import Run

Show = Callable[[dict[str, Any], float], None]


class Attempt:
    """The run of one trial."""

    def __init__(self, trial: FrozenTrial, run: Run, plan: Plan, ledger: Ledger, show: Show) -> None:
        """`show` gets each line of metrics and the finished share of the run."""
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
            self.train_and_end(stop)
        except UpdateFinishedTrialError:
            self.state = "lost"
        return self.state

    def train_and_end(self, stop: Callable[[], bool]) -> None:
        """Train, and close the trial if it is finished or diverged."""
        try:
            self.run.train(lambda: self.poor() or stop())
        except TrainingError as error:  # the loss is no finite number any more
            self.trial.set_user_attr(PROBLEM, str(error))
            self.end(TrialState.PRUNED)
        if self.run.position.finished:
            self.end(TrialState.COMPLETE, self.run.position.best_accuracy)

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
