"""The plan of a study: its TOML file becomes a list of trials, each with complete settings."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from gareader.core.config import Table, load_table, with_setting
from gareader.core.errors import ConfigError, did_you_mean
from gareader.measuring.baselines import BASELINES
from gareader.training.experiment import Experiment

SPLITS = ("validation", "test")
"""The splits that every reader of a study answers."""

_KEYS = {"title", "against", "seeds", "fractions", "set", "corpora", "rows"}
_DATA_KEYS = ("train", "validation", "vectors")
_CORPUS_KEYS = {*_DATA_KEYS, "test", "called"}
_ROW_KEYS = {"config", "baseline", "published", "against", "set", "on", "fractions"}
_NOT_FOR_BASELINES = ("config", "set", "on", "fractions")


@dataclass(frozen=True)
class Trial:
    """One reader on one corpus, with one fraction of the training questions and one seed; both are 0 for a baseline."""

    row: str
    corpus: str
    fraction: float
    seed: int
    experiment: Experiment | None
    """None for a baseline, which needs no training."""
    baseline: str | None = None

    @property
    def key(self) -> str:
        """The name of the trial among the results and in the folder of runs."""
        names = (self.row, self.corpus, f"{self.fraction:g}", f"{self.seed}")
        return "--".join(re.sub(r"[^\w.+-]+", "_", name).strip("_") for name in names)


@dataclass(frozen=True)
class Study:
    """A table of accuracies: its rows are readers, its columns corpora."""

    title: str
    trials: list[Trial]
    corpora: dict[str, dict[str, str]]
    """The files of each corpus, by the keys train, validation and, if there is one, test."""
    published: dict[str, dict[str, list[float | None]]] = field(default_factory=dict)
    """The published accuracy in percent on validation and test, by row and corpus."""
    against: dict[str, str] = field(default_factory=dict)
    """The row that each row is compared with."""
    called: dict[str, dict[str, str]] = field(default_factory=dict)
    """What the table calls the splits of a corpus, by corpus and split."""

    @classmethod
    def load(cls, path: Path | str) -> "Study":
        """Read a study file; every error names its key."""
        table = load_table(path)
        _known(table, _KEYS, "")
        corpora, called = dict[str, dict[str, str]](), dict[str, dict[str, str]]()
        for name, settings in _tables(table, "corpora").items():
            corpora[name], called[name] = _corpus(settings, f"corpora.{name}.")
        rows = _tables(table, "rows")
        against = {row: _against(row, settings, table, rows) for row, settings in rows.items()}
        seeds, fractions = _numbers(table, "seeds", [1], int), _numbers(table, "fractions", [1.0], float)
        trials = [
            trial
            for (row, settings), corpus in product(rows.items(), corpora)
            for trial in _trials(row, settings, corpus, corpora, _table(table, "set"), fractions, seeds)
        ]
        keys = [trial.key for trial in trials]
        if repeated := {key for key in keys if keys.count(key) > 1}:
            raise ConfigError(f"two rows or corpora have names that look alike as files: {', '.join(sorted(repeated))}")
        published = {row: _published(row, settings, corpora) for row, settings in rows.items()}
        compared = {row: other for row, other in against.items() if other not in (None, row)}
        return cls(str(table.get("title", Path(path).stem)), trials, corpora, published, compared, called)

    def splits(self, corpus: str) -> list[str]:
        """The splits of a corpus that every reader answers."""
        return [split for split in SPLITS if split in self.corpora[corpus]]

    def label(self, corpus: str, split: str) -> str:
        return self.called.get(corpus, {}).get(split, split)


def _trials(
    row: str,
    settings: Mapping[str, Any],
    corpus: str,
    corpora: Mapping[str, Mapping[str, str]],
    for_all: Mapping[str, Any],
    fractions: list[float],
    seeds: list[int],
) -> Iterator[Trial]:
    """Yield the trials of one cell of the table."""
    where = f"rows.{row}."
    _known(settings, _ROW_KEYS, where)
    for_row, on = _table(settings, "set", where), _by_corpus(settings, "on", where, corpora)
    if "baseline" in settings:
        if useless := [key for key in _NOT_FOR_BASELINES if key in settings]:
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
    fractions = _numbers(settings, "fractions", fractions, float, where)
    data = {f"data.{key}": corpora[corpus][key] for key in _DATA_KEYS if key in corpora[corpus]}
    for fraction, seed in product(fractions, seeds):
        table = load_table(config)
        if "vectors" not in _table(table, "data"):
            data.pop("data.vectors", None)  # the reader learns its own word vectors
        chosen = {"train.fraction": fraction, "train.seed": seed}
        for values in (data, for_all, for_row, _table(on, corpus, f"{where}on."), chosen):
            for name, value in values.items():
                table = with_setting(table, name, value)
        try:
            yield Trial(row, corpus, fraction, seed, Experiment.from_table(table))
        except ConfigError as error:
            raise ConfigError(f"rows.{row} on {corpus}: {error}") from None


def _table(table: Mapping[str, Any], key: str, where: str = "") -> dict[str, Any]:
    """The inner table of that key, empty if there is none."""
    inner = table.get(key, {})
    if not isinstance(inner, dict):
        raise ConfigError(f"{where}{key} = {inner!r} is no table; write it as {{ key = value }}")
    return inner


def _by_corpus(table: Mapping[str, Any], key: str, where: str, corpora: Mapping[str, Any]) -> dict[str, Any]:
    """The inner table of that key, whose keys are names of corpora."""
    inner = _table(table, key, where)
    for corpus in inner:
        if corpus not in corpora:
            raise ConfigError(f"{where}{key}.{corpus} is no corpus of the study; {did_you_mean(corpus, corpora)}")
    return inner


def _tables(table: Table, key: str) -> dict[str, dict[str, Any]]:
    """The required, non-empty table of tables of that key."""
    tables = table.get(key)
    if not isinstance(tables, dict) or not tables or not all(isinstance(value, dict) for value in tables.values()):
        raise ConfigError(f"[{key}.NAME] is missing; a study has at least one, each with its settings")
    return tables


def _corpus(settings: Mapping[str, Any], where: str) -> tuple[dict[str, str], dict[str, str]]:
    """The files of a corpus, and what the table calls its splits."""
    _known(settings, _CORPUS_KEYS, where)
    for key in ("train", "validation"):
        if key not in settings:
            raise ConfigError(f"{where}{key} is missing")
    called = _table(settings, "called", where)
    _known(called, {*SPLITS}, f"{where}called.")
    files = {key: str(value) for key, value in settings.items() if key != "called"}
    return files, {split: str(label) for split, label in called.items()}


def _against(row: str, settings: Mapping[str, Any], table: Table, rows: Mapping[str, Any]) -> str | None:
    where, other = (f"rows.{row}.", settings["against"]) if "against" in settings else ("", table.get("against"))
    if other is not None and other not in rows:
        raise ConfigError(f"{where}against = {other!r} is no row; {did_you_mean(str(other), rows)}")
    return other


def _published(row: str, settings: Mapping[str, Any], corpora: Mapping[str, Any]) -> dict[str, list[float | None]]:
    published: dict[str, list[float | None]] = {}
    for corpus, numbers in _by_corpus(settings, "published", f"rows.{row}.", corpora).items():
        if not isinstance(numbers, list) or len(numbers) != len(SPLITS) or not all(map(_is_percentage, numbers)):
            raise ConfigError(f"rows.{row}.published.{corpus} = {numbers!r}; give [validation, test] in %, 0 if none")
        published[corpus] = [float(number) or None for number in numbers]
    return published


def _is_percentage(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 100


def _numbers(table: Mapping[str, Any], key: str, default: list[Any], kind: type, where: str = "") -> list[Any]:
    numbers = table.get(key, default)
    if not isinstance(numbers, list) or not numbers or not all(type(value) in (int, kind) for value in numbers):
        raise ConfigError(f"{where}{key} = {numbers!r} is no list of numbers")
    return [kind(value) for value in numbers]


def _known(table: Mapping[str, Any], keys: set[str], where: str) -> None:
    for key in table:
        if key not in keys:
            raise ConfigError(f"{where}{key} is no key of a study; {did_you_mean(key, keys)}")
