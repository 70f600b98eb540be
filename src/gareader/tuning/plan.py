"""A settings file and a space: what each trial of a sweep is."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import MISSING, asdict, dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any

from gareader.config import Table, changed, flat, load_table, override, recorded_names, with_setting
from gareader.errors import ConfigError
from gareader.experiment import Experiment, types
from gareader.tuning.space import Chosen, Space

CHECKED = 10_000
"""The most combinations that are looked at before the first trial."""
NAMED = "gareader-"
"""How the names begin that sweeps get from their settings."""


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
        plan = cls(table, Space.load(space, types(table)))
        for corner in islice(plan.space.corners(), CHECKED):
            plan.experiment(corner)
        tuned = {setting.name for setting in plan.space.settings}
        if "train.seed" in tuned and plan.first.train.validation_examples is not None:
            raise ConfigError(
                "train.seed cannot be tuned while train.validation_examples is set: the seed chooses those questions, "
                "and all trials need the same; validate on all, or compare with gareader study"
            )
        return plan

    @property
    def first(self) -> Experiment:
        """One of the runs, for the settings that all share."""
        return self.experiment(next(self.space.corners()))

    def experiment(self, chosen: Chosen) -> Experiment:
        """The run with the chosen values."""
        table = self.table
        for name, value in chosen.items():
            table = with_setting(table, name, value)
        return Experiment.from_table(table)

    def settings(self) -> dict[str, Any]:
        """Everything that makes this sweep another one if it is changed, by names such as `train.seed`."""
        fixed = {**self.first.table(), "sweep": asdict(self.space.sweep)}
        return flat(fixed) | {setting.name: setting.table() for setting in self.space.settings}

    def changed(self, before: dict[str, Any]) -> list[str]:
        """The names of what is other than before."""
        return changed(self.essential(recorded_names(before)), self.essential(self.settings()))

    def essential(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Those that are not at their default, so that a setting of a later gareader makes no sweep another one."""
        first = self.first
        parts = {
            "data": fields(first.data),
            "reader": fields(first.reader_config),
            "train": fields(first.train),
            "sweep": fields(self.space.sweep),
        }
        defaults = {f"{section}.{field.name}": field.default for section, part in parts.items() for field in part}
        return {name: value for name, value in settings.items() if value != defaults.get(name, MISSING)}

    @property
    def name(self) -> str:
        """The sweep's name where none is given: the same on every machine that has the same settings."""
        essential = json.dumps(self.essential(self.settings()), sort_keys=True)
        return f"{NAMED}{hashlib.sha256(essential.encode()).hexdigest()[:12]}"
