"""A settings file and a space: what each trial of a sweep is."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from gareader.config import Table, load_table, override
from gareader.experiment import Experiment
from gareader.tuning import toml
from gareader.tuning.space import Chosen, Space

CHECKED = 10_000
"""The most combinations that are looked at before the first trial."""


@dataclass(frozen=True)
class Plan:
    """The settings that all trials share, and those that are tuned."""

    table: Table
    space: Space

    @classmethod
    def load(cls, config: Path, space: Path, assignments: Iterable[str] = ()) -> "Plan":
        """From the two files; a setting or a value that the reader cannot have is refused here."""
        table = load_table(config)
        for assignment in assignments:
            table = override(table, assignment)
        plan = cls(table, Space.load(space))
        for corner in islice(plan.space.corners(), CHECKED):
            plan.experiment(corner)
        return plan

    def experiment(self, chosen: Chosen) -> Experiment:
        """The run with the chosen values."""
        table = self.table
        for name, value in chosen.items():
            table = override(table, f"{name}={toml.text(value)}")
        return Experiment.from_table(table)

    def settings(self) -> dict[str, Any]:
        """Everything that makes this sweep another one if it is changed, by names such as `train.seed`."""
        fixed = {**self.experiment(next(self.space.corners())).table(), "sweep": asdict(self.space.sweep)}
        names = {f"{section}.{key}": value for section, keys in fixed.items() for key, value in keys.items()}
        tuned = {setting.name: setting.table() for setting in self.space.settings}
        return {**names, **tuned}

    def changed(self, before: dict[str, Any]) -> list[str]:
        """The names of what is other than before."""
        now = self.settings()
        return sorted(name for name in {*before, *now} if before.get(name) != now.get(name))

    @property
    def name(self) -> str:
        """The sweep's name where none is given: the same on every machine that has the same settings."""
        return f"gareader-{hashlib.sha256(json.dumps(self.settings(), sort_keys=True).encode()).hexdigest()[:12]}"
