"""What a sweep found: its trials as a table, and the best settings as a file that `train` takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gareader.tuning import toml
from gareader.tuning.plan import Plan
from gareader.tuning.space import Chosen, Space

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

STATES = ("complete", "pruned", "running")


@dataclass(frozen=True)
class Outcome:
    """What is known of a trial."""

    trial: int
    state: str
    """One of STATES."""
    settings: Chosen
    """The tuned ones."""
    accuracy: float | None = None
    """The best on validation so far."""
    interval: tuple[float, float] | None = None
    """95 % Wilson interval of the accuracy."""
    update: int = 0
    """When it was reached."""
    updates: int = 0
    """Done in all, at the last validation."""
    minutes: float = 0.0
    place: str = ""
    """The machine and the folder where the trial was run."""
    problem: str | None = None
    """Why training could not go on."""


def outcomes(space: Space, trials: Sequence["FrozenTrial"]) -> list[Outcome]:
    """The trials that have a result or will have one, the best first, then those that were given up or still run."""
    found = [outcome(space, trial) for trial in trials if trial.state.name.lower() in STATES]
    return sorted(found, key=lambda each: (STATES.index(each.state), -(each.accuracy or 0.0), each.trial))


def outcome(space: Space, trial: "FrozenTrial") -> Outcome:
    """What the ledger says of a trial."""
    known: dict[str, Any] = dict(trial.user_attrs.get("measured", {}))
    if "interval" in known:
        known["interval"] = tuple(known["interval"])
    place, problem = trial.user_attrs.get("place", ""), trial.user_attrs.get("problem")
    state, settings = trial.state.name.lower(), space.tidy(trial.params)
    return Outcome(trial.number, state, settings, **known, place=place, problem=problem)


def best(found: Sequence[Outcome]) -> Outcome | None:
    """The best of the complete trials."""
    return found[0] if found and found[0].state == "complete" else None


def markdown(space: Space, found: Sequence[Outcome]) -> str:
    """A row for each trial, the best first."""
    names = [setting.name for setting in space.settings]
    head = ["rank", "trial", *names, "validation, %", "update", "of", "minutes", "state"]
    lines = [f"# A sweep over {', '.join(names)}", "", _line(head), "|---" * len(head) + "|"]
    for rank, each in enumerate(found, 1):
        place = str(rank) if each.state == "complete" else "–"
        values = [f"{each.settings[name]}" for name in names]
        ends = [f"{each.update:,}", f"{each.updates:,}", f"{each.minutes:.1f}"] if each.updates else ["–"] * 3
        state = "diverged" if each.problem else each.state
        lines.append(_line([place, f"{each.trial}", *values, accuracy(each), *ends, state]))
    lines += [
        "",
        "The best validation accuracy of each trial with its 95 % Wilson interval, and the update it was reached at.",
        "The first is the best of many looks at the same questions: measure it on others before you believe it.",
    ]
    return "\n".join(lines) + "\n"


def accuracy(found: Outcome) -> str:
    """The accuracy in percent with its interval."""
    if found.accuracy is None or found.interval is None:
        return "…"
    low, high = found.interval
    return f"{100 * found.accuracy:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def best_settings(plan: Plan, chosen: Outcome, name: str, finished: int, path: Path) -> str:
    """All settings of a trial as a TOML file for `path`, with its origin on top."""
    origin = [
        f"The best of {finished} trials of the sweep {toml.text(name)}: trial {chosen.trial}.",
        f"Command:   gareader train {toml.text(str(path))}",
        f"Obtained:  {accuracy(chosen)} % of the validation questions at update {chosen.update:,}.",
        f"Reader:    {toml.text(chosen.place)}, trials/{chosen.trial:04d}/best",
    ]
    header = "".join(f"# {line}\n" for line in origin)
    return header + "\n" + toml.document(plan.experiment(chosen.settings).table())


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
