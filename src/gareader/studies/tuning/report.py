"""The report of a sweep: its trials as a table, and the best settings as a file for `gareader train`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gareader.studies.markdown import accuracy_cell, table
from gareader.studies.tuning.plan import Plan
from gareader.studies.tuning.space import Space, TrialSettings, Value

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

STATES = ("complete", "pruned", "running")


@dataclass(frozen=True)
class TrialSummary:
    trial: int
    state: str
    """One of STATES."""
    settings: TrialSettings
    """The values of the tuned settings."""
    accuracy: float | None = None
    """The best validation accuracy so far."""
    interval: tuple[float, float] | None = None
    """95 % Wilson interval of the accuracy."""
    update: int = 0
    """The update at which the accuracy was measured."""
    updates: int = 0
    """Number of updates at the last validation."""
    minutes: float = 0.0
    place: str = ""
    """The machine and the folder of the run."""
    problem: str | None = None
    """Why training failed."""


def summaries(space: Space, trials: Sequence["FrozenTrial"]) -> list[TrialSummary]:
    """The complete trials, the best first, then the pruned and the running ones; failed trials are left out."""
    reported = [summary(space, trial) for trial in trials if trial.state.name.lower() in STATES]
    return sorted(reported, key=lambda each: (STATES.index(each.state), -(each.accuracy or 0.0), each.trial))


def summary(space: Space, trial: "FrozenTrial") -> TrialSummary:
    measured: dict[str, Any] = dict(trial.user_attrs.get("measured", {}))
    if "interval" in measured:
        measured["interval"] = tuple(measured["interval"])
    place, problem = trial.user_attrs.get("place", ""), trial.user_attrs.get("problem")
    state, settings = trial.state.name.lower(), space.tidy(trial.params)
    return TrialSummary(trial.number, state, settings, **measured, place=place, problem=problem)


def best(trials: Sequence[TrialSummary]) -> TrialSummary | None:
    return trials[0] if trials and trials[0].state == "complete" else None


def markdown(space: Space, trials: Sequence[TrialSummary]) -> str:
    """A row for each trial, the best first."""
    names = [setting.name for setting in space.settings]
    head = ["rank", "trial", *names, "validation, %", "update", "of", "minutes", "state"]
    rows = []
    for rank, each in enumerate(trials, 1):
        place = str(rank) if each.state == "complete" else "–"
        values = [f"{each.settings[name]}" for name in names]
        ends = [f"{each.update:,}", f"{each.updates:,}", f"{each.minutes:.1f}"] if each.updates else ["–"] * 3
        state = "diverged" if each.problem else each.state
        rows.append([place, f"{each.trial}", *values, accuracy(each), *ends, state])
    lines = [
        f"# A sweep over {', '.join(names)}",
        "",
        *table(head, rows),
        "",
        "The best validation accuracy of each trial with its 95 % Wilson interval, and the update it was reached at.",
        "The first is the best of many looks at the same questions: measure it on others before you believe it.",
    ]
    return "\n".join(lines) + "\n"


def accuracy(trial: TrialSummary) -> str:
    """The accuracy in percent with its interval; … before the first validation."""
    if trial.accuracy is None or trial.interval is None:
        return "…"
    return accuracy_cell(trial.accuracy, trial.interval)


def best_settings(plan: Plan, trial: TrialSummary, name: str, finished: int, path: Path) -> str:
    """All settings of a trial as a TOML file for `path`, with its origin on top."""
    origin = [
        f"The best of {finished} trials of the sweep {toml_value(name)}: trial {trial.trial}.",
        f"Command:   gareader train {toml_value(str(path))}",
        f"Obtained:  {accuracy(trial)} % of the validation questions at update {trial.update:,}.",
        f"Reader:    {toml_value(trial.place)}, trials/{trial.trial:04d}/best",
    ]
    header = "".join(f"# {line}\n" for line in origin)
    return header + "\n" + toml_document(plan.experiment(trial.settings).table())


def toml_value(value: Value) -> str:
    if isinstance(value, str):
        # TOML has JSON's escapes; it also wants the delete character escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value).lower()


def toml_document(table: Mapping[str, Mapping[str, Any]]) -> str:
    sections = (
        "".join([f"[{name}]\n", *(f"{k} = {toml_value(v)}\n" for k, v in keys.items())]) for name, keys in table.items()
    )
    return "\n".join(sections)
