"""The search space of a sweep: a TOML file becomes settings, each with its values or its range."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import isfinite, prod
from pathlib import Path
from typing import Annotated, Any, Literal

from gareader.core.config import Bounds, Settings, checked, choices, from_table, load_table
from gareader.core.errors import ConfigError, did_you_mean

FIXED = ("data.train", "data.validation", "train.validation_examples")
"""Settings that must be equal in all trials, so that their accuracies can be compared."""

_SECTIONS = ("data", "reader", "train", "sweep")
_KEYS = ("values", "low", "high", "step", "log")

Value = bool | int | float | str
TrialSettings = dict[str, Value]
"""The value of each tuned setting in one trial, by the setting's name."""


@dataclass(frozen=True)
class SweepConfig(Settings):
    sampler: Literal["tpe", "random", "grid"] = "tpe"
    """tpe learns from earlier trials; random does not; grid tries every combination once, in random order."""
    pruner: Literal["median", "hyperband", "none"] = "median"
    """median prunes a trial below the median of the complete ones; hyperband all but the best third at each stage."""
    seed: Annotated[int, Bounds(least=0)] = 1
    """Seed of the sampler; the seed of training is train.seed."""
    startup: Annotated[int, Bounds(least=0)] = 5
    """Random trials before tpe learns, and complete trials before any is pruned."""
    warm_up: Annotated[int, Bounds(least=0)] = 0
    """Updates before which no trial is pruned."""


@dataclass(frozen=True)
class Setting:
    """A setting to tune, with its values or its range."""

    name: str
    """Section and key, for example `reader.hidden`."""
    values: tuple[Value, ...] = ()
    """All values, if they are listed; empty for a range."""
    low: float = 0
    high: float = 0
    step: float | None = None
    """Distance between neighbouring values of the range; None for a continuous range."""
    log: bool = False
    """Whether the range is searched on a logarithmic scale."""

    @classmethod
    def from_table(cls, name: str, table: Any, expected: Any = None) -> "Setting":
        """Read a table with `values`, or with `low`, `high` and maybe `step` or `log`; errors name the key.

        `expected` is the type of the setting, if it is known. The table may be empty if the type has choices.
        """
        if not isinstance(table, Mapping):
            raise ConfigError(f"{name} = {table!r} says no range; write [{name}] with values, or with low and high")
        for key in table:
            if key not in _KEYS:
                raise ConfigError(f"{name}.{key} is no key of a range; {did_you_mean(key, _KEYS)}")
        if expected is not None:
            table = _as_declared(name, table or {"values": [*choices(expected)]}, expected)
        if "values" in table:
            return cls(name, values=_values(name, table))
        return cls(name, **_range(name, table))

    @property
    def whole(self) -> bool:
        return isinstance(self.low, int)

    @property
    def count(self) -> int | None:
        """The number of values; None for a continuous range."""
        if self.values:
            return len(self.values)
        return None if self.step is None else round((self.high - self.low) / self.step) + 1

    def at(self, index: int) -> Value:
        """The value at an index, for a setting with a count."""
        return self.values[index] if self.values else self.tidy(self.low + index * (self.step or 0))

    def tidy(self, value: Any) -> Value:
        """A value as people write it: 0.3 for 0.30000000000000004, and four digits in a continuous range."""
        if self.values or self.whole:
            return value  # type: ignore[no-any-return]
        return min(max(float(f"{value:.{12 if self.step else 4}g}"), self.low), self.high)

    def table(self) -> dict[str, Any]:
        """The setting as a table of a space file."""
        if self.values:
            return {"values": list(self.values)}
        return {"low": self.low, "high": self.high, "step": self.step, "log": self.log}


@dataclass(frozen=True)
class Space:
    """The settings to tune, and the settings of the search."""

    settings: tuple[Setting, ...]
    sweep: SweepConfig

    @classmethod
    def load(cls, path: Path | str, types: Mapping[str, Any] | None = None) -> "Space":
        """Read a space file; `types` are the types of the settings, by names such as `reader.hidden`."""
        table = load_table(path)
        for section, keys in table.items():
            if section not in _SECTIONS:
                raise ConfigError(f"[{section}] is no section of a space; {did_you_mean(section, _SECTIONS)}")
            if not isinstance(keys, dict):
                raise ConfigError(f"{section} = {keys!r} is no section; write [{section}.KEY] with its values")
        sweep = from_table(SweepConfig, table.pop("sweep", {}), "sweep")
        names = {f"{section}.{key}": value for section, keys in table.items() for key, value in keys.items()}
        if not names:
            raise ConfigError(
                f"{path}: there is nothing to tune; write for example [reader.hidden] values = [128, 256]"
            )
        for name in names:
            if name in FIXED:
                raise ConfigError(
                    f"{name} cannot be tuned: all trials need the same questions; compare with gareader study"
                )
        known = types or {}
        settings = tuple(Setting.from_table(name, value, known.get(name)) for name, value in names.items())
        for setting in settings:
            if sweep.sampler == "grid" and setting.count is None:
                raise ConfigError(f"{setting.name} has no end of values, which a grid needs; give it values or a step")
        return cls(settings, sweep)

    @property
    def cells(self) -> int | None:
        """The number of combinations; None if a range is continuous."""
        counts = [setting.count for setting in self.settings]
        return None if None in counts else prod(count or 0 for count in counts)

    def cell(self, index: int) -> TrialSettings:
        settings = {}
        for setting in self.settings:
            index, place = divmod(index, setting.count or 1)
            settings[setting.name] = setting.at(place)
        return settings

    def corners(self) -> Iterator[TrialSettings]:
        """Yield the combinations of listed values and ends of ranges: if these are valid, all are."""
        for values in product(*(setting.values or (setting.low, setting.high) for setting in self.settings)):
            yield {setting.name: value for setting, value in zip(self.settings, values, strict=True)}

    def tidy(self, sampled: Mapping[str, Any]) -> TrialSettings:
        """Sampled values as people write them."""
        return {setting.name: setting.tidy(sampled[setting.name]) for setting in self.settings}


def _as_declared(name: str, table: Mapping[str, Any], expected: Any) -> dict[str, Any]:
    """The table with its numbers converted to the type of the setting; raise ConfigError if one does not fit."""
    converted = dict(table)
    for key in ("low", "high"):
        if key in converted:
            converted[key] = checked(converted[key], expected, f"{name}.{key}")
    if isinstance(converted.get("values"), list):
        converted["values"] = [checked(value, expected, f"{name}.values") for value in converted["values"]]
    return converted


def _values(name: str, table: Mapping[str, Any]) -> tuple[Value, ...]:
    if others := [key for key in table if key != "values"]:
        raise ConfigError(f"{name} has both values and {', '.join(others)}; give one or the other")
    values = table["values"]
    if not isinstance(values, list) or not all(isinstance(value, Value) for value in values):
        raise ConfigError(f"{name}.values = {values!r} is no list of numbers, texts or truths")
    if any(isinstance(value, float) and not isfinite(value) for value in values):
        raise ConfigError(f"{name}.values = {values!r} has one that is not a number")
    if len(values) < 2 or any(value in values[:place] for place, value in enumerate(values)):
        raise ConfigError(f"{name}.values = {values!r}; give two or more different ones, or set it in the config")
    return tuple(values)


def _range(name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """The range of a setting; it is one of whole numbers if both ends are whole."""
    for key in ("low", "high"):
        if key not in table:
            raise ConfigError(f"{name}.{key} is missing; give values, or low and high")
    ends = [_number(name, table, key) for key in ("low", "high")]
    kind = int if all(isinstance(end, int) for end in ends) else float
    low, high = map(kind, ends)
    if not low < high:
        raise ConfigError(f"{name}.low = {low} is not below {name}.high = {high}")
    log = table.get("log", False)
    if not isinstance(log, bool):
        raise ConfigError(f"{name}.log = {log!r} is not true or false")
    if log and low <= 0:
        raise ConfigError(f"{name}.low = {low} has no logarithm; use more than 0, or log = false")
    if "step" not in table:
        return {"low": low, "high": high, "step": 1 if kind is int else None, "log": log}
    if log:
        raise ConfigError(f"{name} has both a step and log; give one or the other")
    return {"low": low, "high": high, "step": _step(name, table, low, high)}


def _step(name: str, table: Mapping[str, Any], low: float, high: float) -> float:
    """The step of a range; raise ConfigError unless it divides the range evenly."""
    step = _number(name, table, "step")
    if step <= 0:
        raise ConfigError(f"{name}.step = {step} is not positive")
    if isinstance(low, int) and not isinstance(step, int):
        raise ConfigError(f"{name}.step = {step} leads to fractions between whole numbers; write low = {low}.0")
    steps = (high - low) / step
    if abs(steps - round(steps)) > 1e-8:
        raise ConfigError(f"{name}.step = {step} does not lead from {low} to {high}; choose another step or high")
    return step


def _number(name: str, table: Mapping[str, Any], key: str) -> float:
    value = table[key]
    if type(value) not in (int, float) or not isfinite(value):
        raise ConfigError(f"{name}.{key} = {value!r} is not a number")
    return value  # type: ignore[no-any-return]
