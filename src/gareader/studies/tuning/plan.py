"""The plan of a sweep: a settings file and a search space, from which every trial gets its settings."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import MISSING, asdict, dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any

from gareader.core.config import Table, changed, flat, load_table, with_setting
from gareader.core.errors import ConfigError
from gareader.studies.tuning.space import Space, TrialSettings
from gareader.training.experiment import Experiment, types

CHECKED = 10_000
"""The most combinations that are checked before the first trial."""
PREFIX = "gareader-"
"""Prefix of the names that are made from a sweep's settings."""


@dataclass(frozen=True)
class Plan:
    """The settings common to all trials, and the space of the tuned ones."""

    table: Table
    space: Space

    @classmethod
    def load(cls, config: Path, space: Path, assignments: Iterable[str] = ()) -> "Plan":
        """Read the two files; raise ConfigError for a setting or a value that the reader cannot have."""
        table = load_table(config, assignments)
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
        """One of the experiments, for the settings common to all."""
        return self.experiment(next(self.space.corners()))

    def experiment(self, settings: TrialSettings) -> Experiment:
        """The experiment with these values of the tuned settings."""
        table = self.table
        for name, value in settings.items():
            table = with_setting(table, name, value)
        return Experiment.from_table(table)

    def settings(self) -> dict[str, Any]:
        """All settings that identify the sweep, by names such as `train.seed`."""
        fixed = {**self.first.table(), "sweep": asdict(self.space.sweep)}
        return flat(fixed) | {setting.name: setting.table() for setting in self.space.settings}

    def changed(self, before: dict[str, Any]) -> list[str]:
        """The names of the settings that differ from those recorded before."""
        return changed(self.essential(before), self.essential(self.settings()))

    def essential(self, settings: dict[str, Any]) -> dict[str, Any]:
        """The settings that differ from their default, so that a sweep stays the same when gareader gets new ones."""
        first = self.first
        sections = {
            "data": fields(first.data),
            "reader": fields(first.reader_config),
            "train": fields(first.train),
            "sweep": fields(self.space.sweep),
        }
        defaults = {f"{name}.{field.name}": field.default for name, section in sections.items() for field in section}
        return {name: value for name, value in settings.items() if value != defaults.get(name, MISSING)}

    @property
    def name(self) -> str:
        """The default name of the sweep: a fingerprint of its settings, equal on every machine."""
        essential = json.dumps(self.essential(self.settings()), sort_keys=True)
        return f"{PREFIX}{hashlib.sha256(essential.encode()).hexdigest()[:12]}"
