"""What a study consists of: its file becomes a list of trials, each with all its settings."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from gareader.baselines import BASELINES
from gareader.config import Table, load_table
from gareader.errors import ConfigError, did_you_mean
from gareader.experiment import Experiment

PARTS = ("validation", "test")

_KEYS = {"title", "against", "seeds", "fractions", "set", "corpora", "rows"}
_CORPUS_KEYS = {"train", "validation", "test", "vectors"}
_ROW_KEYS = {"config", "baseline", "published", "set", "on"}


@dataclass(frozen=True)
class Trial:
    """One reader on one corpus, with one share of the training questions and one seed; both are 0 for a baseline."""

    row: str
    corpus: str
    fraction: float
    seed: int
    experiment: Experiment | None
    """None for a baseline, which needs no training."""
    baseline: str | None = None

    @property
    def key(self) -> str:
        """Its name among the results, and that of its folder."""
        words = (self.row, self.corpus, f"{self.fraction:g}", f"{self.seed}")
        return "--".join(re.sub(r"[^\w.+-]+", "_", word).strip("_") for word in words)


@dataclass(frozen=True)
class Study:
    """A table to fill: its rows are readers, its columns corpora."""

    title: str
    trials: list[Trial]
    corpora: dict[str, dict[str, str]]
    """The files of each corpus: train, validation, maybe test."""
    published: dict[str, dict[str, list[float | None]]] = field(default_factory=dict)
    """Of each row and corpus the accuracy in percent on validation and test, as published."""
    against: str | None = None
    """The row that the others are compared with."""

    @classmethod
    def load(cls, path: Path | str) -> "Study":
        """Read a study file; every complaint names the key."""
        table = load_table(path)
        _known(table, _KEYS, "")
        corpora = {name: _corpus(name, value) for name, value in _tables(table, "corpora").items()}
        rows = _tables(table, "rows")
        against = table.get("against")
        if against is not None and against not in rows:
            raise ConfigError(f"against = {against!r} is no row; {did_you_mean(str(against), rows)}")
        seeds, fractions = _numbers(table, "seeds", [1], int), _numbers(table, "fractions", [1.0], float)
        trials = [
            trial
            for (row, settings), corpus in product(rows.items(), corpora)
            for trial in _trials(row, settings, corpus, corpora[corpus], table.get("set", {}), fractions, seeds)
        ]
        keys = [trial.key for trial in trials]
        if twice := {key for key in keys if keys.count(key) > 1}:
            raise ConfigError(f"two rows or corpora have names that look alike as files: {', '.join(sorted(twice))}")
        published = {row: _published(row, settings, corpora) for row, settings in rows.items()}
        return cls(str(table.get("title", Path(path).stem)), trials, corpora, published, against)


def _trials(
    row: str,
    settings: Mapping[str, Any],
    corpus: str,
    files: Mapping[str, str],
    for_all: Mapping[str, Any],
    fractions: list[float],
    seeds: list[int],
) -> Iterator[Trial]:
    """The trials of one cell."""
    _known(settings, _ROW_KEYS, f"rows.{row}.")
    if baseline := settings.get("baseline"):
        if baseline not in BASELINES:
            raise ConfigError(f"rows.{row}.baseline = {baseline!r} is not known; {did_you_mean(baseline, BASELINES)}")
        yield Trial(row, corpus, 0.0, 0, None, baseline)
        return
    if "config" not in settings:
        raise ConfigError(f"rows.{row} has no config; name the settings file of its reader, or a baseline")
    config = settings["config"]
    if isinstance(config, dict):
        if corpus not in config:
            return  # this row leaves the cell empty
        config = config[corpus]
    data = {f"data.{key}": files[key] for key in ("train", "validation", "vectors") if key in files}
    for fraction, seed in product(fractions, seeds):
        table = load_table(config)
        if "vectors" not in table.get("data", {}):
            data.pop("data.vectors", None)  # a reader that learns its own
        chosen = {"train.fraction": fraction, "train.seed": seed}
        for values in (data, for_all, settings.get("set", {}), settings.get("on", {}).get(corpus, {}), chosen):
            table = _with(table, values)
        try:
            yield Trial(row, corpus, fraction, seed, Experiment.from_table(table))
        except ConfigError as error:
            raise ConfigError(f"rows.{row} on {corpus}: {error}") from None


def _with(table: Table, settings: Mapping[str, Any]) -> Table:
    """The table with settings written `section.key`."""
    for name, value in settings.items():
        section, _, key = name.partition(".")
        if not key:
            raise ConfigError(f'{name} is no setting; write section.key, for example "train.max_epochs"')
        table = {**table, section: {**table.get(section, {}), key: value}}
    return table


def _tables(table: Table, key: str) -> dict[str, dict[str, Any]]:
    """A table of tables that must be there."""
    found = table.get(key)
    if not isinstance(found, dict) or not found or not all(isinstance(value, dict) for value in found.values()):
        raise ConfigError(f"[{key}.NAME] is missing; a study has at least one, each with its settings")
    return found


def _corpus(name: str, settings: Mapping[str, Any]) -> dict[str, str]:
    _known(settings, _CORPUS_KEYS, f"corpora.{name}.")
    for key in ("train", "validation"):
        if key not in settings:
            raise ConfigError(f"corpora.{name}.{key} is missing")
    return {key: str(value) for key, value in settings.items()}


def _published(row: str, settings: Mapping[str, Any], corpora: Mapping[str, Any]) -> dict[str, list[float | None]]:
    found: dict[str, list[float | None]] = {}
    for corpus, numbers in settings.get("published", {}).items():
        if corpus not in corpora:
            raise ConfigError(
                f"rows.{row}.published.{corpus} is no corpus of the study; {did_you_mean(corpus, corpora)}"
            )
        if not isinstance(numbers, list) or len(numbers) != len(PARTS) or not all(0 <= n <= 100 for n in numbers):
            raise ConfigError(f"rows.{row}.published.{corpus} = {numbers!r}; give [validation, test] in %, 0 if none")
        found[corpus] = [float(number) or None for number in numbers]
    return found


def _numbers(table: Table, key: str, default: list[Any], kind: type) -> list[Any]:
    found = table.get(key, default)
    if not isinstance(found, list) or not found or not all(type(value) in (int, kind) for value in found):
        raise ConfigError(f"{key} = {found!r} is no list of numbers")
    return [kind(value) for value in found]


def _known(table: Mapping[str, Any], keys: set[str], where: str) -> None:
    for key in table:
        if key not in keys:
            raise ConfigError(f"{where}{key} is no key of a study; {did_you_mean(key, keys)}")
