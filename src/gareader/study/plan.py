"""What a study consists of: its file becomes a list of trials, each with all its settings."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from gareader.baselines import BASELINES
from gareader.config import Table, load_table, with_setting
from gareader.errors import ConfigError, did_you_mean
from gareader.experiment import Experiment

PARTS = ("validation", "test")

_KEYS = {"title", "against", "seeds", "fractions", "set", "corpora", "rows"}
_DATA_KEYS = ("train", "validation", "vectors")
_CORPUS_KEYS = {*_DATA_KEYS, "test"}
_ROW_KEYS = {"config", "baseline", "published", "against", "set", "on"}
_NOT_OF_A_BASELINE = ("config", "set", "on")


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
    against: dict[str, str] = field(default_factory=dict)
    """Of a row the one that it is compared with."""

    @classmethod
    def load(cls, path: Path | str) -> "Study":
        """Read a study file; every complaint names the key."""
        table = load_table(path)
        _known(table, _KEYS, "")
        corpora = {name: _corpus(name, value) for name, value in _tables(table, "corpora").items()}
        rows = _tables(table, "rows")
        against = {row: _against(row, settings, table, rows) for row, settings in rows.items()}
        seeds, fractions = _numbers(table, "seeds", [1], int), _numbers(table, "fractions", [1.0], float)
        trials = [
            trial
            for (row, settings), corpus in product(rows.items(), corpora)
            for trial in _trials(row, settings, corpus, corpora, _table(table, "set"), fractions, seeds)
        ]
        keys = [trial.key for trial in trials]
        if twice := {key for key in keys if keys.count(key) > 1}:
            raise ConfigError(f"two rows or corpora have names that look alike as files: {', '.join(sorted(twice))}")
        published = {row: _published(row, settings, corpora) for row, settings in rows.items()}
        compared = {row: other for row, other in against.items() if other not in (None, row)}
        return cls(str(table.get("title", Path(path).stem)), trials, corpora, published, compared)

    def parts(self, corpus: str) -> list[str]:
        """The parts of a corpus that every reader answers."""
        return [part for part in PARTS if part in self.corpora[corpus]]


def _trials(
    row: str,
    settings: Mapping[str, Any],
    corpus: str,
    corpora: Mapping[str, Mapping[str, str]],
    for_all: Mapping[str, Any],
    fractions: list[float],
    seeds: list[int],
) -> Iterator[Trial]:
    """The trials of one cell."""
    where = f"rows.{row}."
    _known(settings, _ROW_KEYS, where)
    for_row, on = _table(settings, "set", where), _by_corpus(settings, "on", where, corpora)
    if "baseline" in settings:
        if useless := [key for key in _NOT_OF_A_BASELINE if key in settings]:
            raise ConfigError(f"{where}{useless[0]} means nothing for a baseline; remove it")
        baseline = str(settings["baseline"])
        if baseline not in BASELINES:
            raise ConfigError(f"{where}baseline = {baseline!r} is not known; {did_you_mean(baseline, BASELINES)}")
        yield Trial(row, corpus, 0.0, 0, None, baseline)
        return
    if "config" not in settings:
        raise ConfigError(f"rows.{row} has no config; name the settings file of its reader, or a baseline")
    config = settings["config"]
    if isinstance(config, dict):
        config = _by_corpus(settings, "config", where, corpora).get(corpus)
        if config is None:
            return  # this row leaves the cell empty
    if not isinstance(config, str):
        raise ConfigError(f"{where}config = {config!r} is no path; name the settings file of its reader")
    data = {f"data.{key}": corpora[corpus][key] for key in _DATA_KEYS if key in corpora[corpus]}
    for fraction, seed in product(fractions, seeds):
        table = load_table(config)
        if "vectors" not in _table(table, "data"):
            data.pop("data.vectors", None)  # a reader that learns its own
        chosen = {"train.fraction": fraction, "train.seed": seed}
        for values in (data, for_all, for_row, _table(on, corpus, f"{where}on."), chosen):
            for name, value in values.items():
                table = with_setting(table, name, value)
        try:
            yield Trial(row, corpus, fraction, seed, Experiment.from_table(table))
        except ConfigError as error:
            raise ConfigError(f"rows.{row} on {corpus}: {error}") from None


def _table(table: Mapping[str, Any], key: str, where: str = "") -> dict[str, Any]:
    """A table of settings, empty if it is not there."""
    found = table.get(key, {})
    if not isinstance(found, dict):
        raise ConfigError(f"{where}{key} = {found!r} is no table; write it as {{ key = value }}")
    return found


def _by_corpus(table: Mapping[str, Any], key: str, where: str, corpora: Mapping[str, Any]) -> dict[str, Any]:
    """A table with something for some of the corpora."""
    found = _table(table, key, where)
    for corpus in found:
        if corpus not in corpora:
            raise ConfigError(f"{where}{key}.{corpus} is no corpus of the study; {did_you_mean(corpus, corpora)}")
    return found


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


def _against(row: str, settings: Mapping[str, Any], table: Table, rows: Mapping[str, Any]) -> str | None:
    where, found = (f"rows.{row}.", settings["against"]) if "against" in settings else ("", table.get("against"))
    if found is not None and found not in rows:
        raise ConfigError(f"{where}against = {found!r} is no row; {did_you_mean(str(found), rows)}")
    return found


def _published(row: str, settings: Mapping[str, Any], corpora: Mapping[str, Any]) -> dict[str, list[float | None]]:
    found: dict[str, list[float | None]] = {}
    for corpus, numbers in _by_corpus(settings, "published", f"rows.{row}.", corpora).items():
        if not isinstance(numbers, list) or len(numbers) != len(PARTS) or not all(map(_is_percentage, numbers)):
            raise ConfigError(f"rows.{row}.published.{corpus} = {numbers!r}; give [validation, test] in %, 0 if none")
        found[corpus] = [float(number) or None for number in numbers]
    return found


def _is_percentage(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 100


def _numbers(table: Table, key: str, default: list[Any], kind: type) -> list[Any]:
    found = table.get(key, default)
    if not isinstance(found, list) or not found or not all(type(value) in (int, kind) for value in found):
        raise ConfigError(f"{key} = {found!r} is no list of numbers")
    return [kind(value) for value in found]


def _known(table: Mapping[str, Any], keys: set[str], where: str) -> None:
    for key in table:
        if key not in keys:
            raise ConfigError(f"{where}{key} is no key of a study; {did_you_mean(key, keys)}")
