"""Settings: a TOML table becomes a frozen dataclass with typed and bounded fields; errors name the key."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import reduce
from math import inf
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from gareader.core.errors import ConfigError, did_you_mean
from gareader.core.files import read_small
from gareader.core.parsing import ParseError, toml_table

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Table = dict[str, Any]


@dataclass(frozen=True)
class Bounds:
    """The range of a number, as part of the type of its field: `Annotated[int, Bounds(least=1)]`."""

    least: float = -inf
    above: float = -inf
    below: float = inf
    most: float = inf
    odd: bool = False
    reason: str = ""
    """Why the range is so, where that is not obvious."""

    def problem(self, value: float) -> str | None:
        """The problem with a number, or None."""
        if not (value >= self.least and (value > self.above or self.above == -inf)):
            return "too small" if value == value else "no number"
        if value == inf:
            return "not finite"
        if value > self.most or (value >= self.below and self.below != inf):
            return "too large"
        return "even" if self.odd and value % 2 == 0 else None

    def __str__(self) -> str:
        parts = (
            (f"{self.least} or more", self.least > -inf),
            (f"more than {self.above}", self.above > -inf),
            (f"less than {self.below}", self.below < inf),
            (f"at most {self.most}", self.most < inf),
            ("odd", self.odd),
        )
        return " and ".join(text for text, given in parts if given)


Count = Annotated[int, Bounds(least=1)]
Positive = Annotated[float, Bounds(above=0)]
NonNegative = Annotated[float, Bounds(least=0)]
Share = Annotated[float, Bounds(least=0, below=1)]
"""A number in [0, 1)."""


@dataclass(frozen=True)
class Settings:
    """Base of all settings: a value outside the type of its field raises ConfigError."""

    def __init_subclass__(cls) -> None:
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Settings.__repr__  # type: ignore[method-assign]  # `dataclass` then adds none

    def __post_init__(self) -> None:
        for name, expected in declared(type(self)).items():
            checked(getattr(self, name), expected, name)

    def __repr__(self) -> str:
        """The settings that are not the defaults."""
        values = [(field.name, getattr(self, field.name), field.default) for field in fields(self)]
        changed = [f"{name}={value!r}" for name, value, default in values if value != default]
        return f"{type(self).__name__}({', '.join(changed)})"


_TYPES: dict[type, dict[str, Any]] = {}  # a cache: get_type_hints takes longer than the checks


def declared(kind: "type[DataclassInstance]") -> dict[str, Any]:
    """Return the type of each setting, with its bounds."""
    if kind not in _TYPES:
        types = get_type_hints(kind, include_extras=True)
        _TYPES[kind] = {field.name: types[field.name] for field in fields(kind)}
    return _TYPES[kind]


SettingsType = TypeVar("SettingsType", bound="DataclassInstance")


def from_table(kind: type[SettingsType], table: Mapping[str, Any], section: str, **given: Any) -> SettingsType:
    """Return settings of this class with the table's values and those `given`; `section` names the table in errors."""
    types = {name: expected for name, expected in declared(kind).items() if name not in given}
    for key in table:
        if key not in types:
            raise ConfigError(f"{section}.{key} is no setting; {did_you_mean(key, types)}")
    for field in fields(kind):
        if field.name not in {*table, *given} and field.default is MISSING and field.default_factory is MISSING:
            raise ConfigError(f"{section}.{field.name} is missing; add it to [{section}]")
    values = {key: checked(value, types[key], f"{section}.{key}") for key, value in table.items()}
    try:
        return kind(**values, **given)
    except ConfigError as error:  # about several settings together
        raise ConfigError(f"{section}.{error}") from None


def checked(value: Any, expected: Any, name: str) -> Any:
    """Return the value in the type of its field, or raise ConfigError; an int is accepted for a float."""
    if value is None and _optional(expected):
        return value
    wanted, bounds = _parts(expected)
    if get_origin(wanted) is Literal:
        if value not in get_args(wanted):
            raise ConfigError(f"{name} = {value!r} is not known; {did_you_mean(str(value), get_args(wanted))}")
        return value
    wanted = get_origin(wanted) or wanted  # dict of dict[str, Any]
    if wanted is float and type(value) is int and abs(value) < 1 << 1000:
        value = float(value)
    way_out = f"use {bounds}" + (f", {bounds.reason}" if bounds.reason else "") if bounds else ""
    if type(value) is not wanted:
        raise ConfigError(f"{name} = {value!r} is not {_NAMES[wanted]}" + (f"; {way_out}" if way_out else ""))
    if bounds and (problem := bounds.problem(value)):
        raise ConfigError(f"{name} = {value} is {problem}; {way_out}")
    return value


def choices(expected: Any) -> tuple[Any, ...]:
    """All values of a setting of this type; empty if there is no finite list."""
    wanted, _ = _parts(expected)
    if wanted is bool:
        return (False, True)
    return get_args(wanted) if get_origin(wanted) is Literal else ()


def in_words(expected: Any) -> str:
    """The type and range of a setting as text for people."""
    wanted, bounds = _parts(expected)
    if get_origin(wanted) is Literal:
        return ", ".join(f'`"{choice}"`' for choice in get_args(wanted))
    return _NAMES[wanted] + (f", {bounds}" if bounds else "")


_NAMES = {int: "a whole number", float: "a number", str: "text", bool: "true or false", dict: "a table"}


def _optional(expected: Any) -> bool:
    return get_origin(expected) in (Union, UnionType) and NoneType in get_args(expected)


def _parts(expected: Any) -> tuple[Any, Bounds | None]:
    """Return the type without None, and its bounds or None."""
    if _optional(expected):
        (expected,) = (each for each in get_args(expected) if each is not NoneType)
    if get_origin(expected) is Annotated:
        wanted, *notes = get_args(expected)
        return wanted, next((note for note in notes if isinstance(note, Bounds)), None)
    return expected, None


def load_table(path: Path | str, assignments: Iterable[str] = ()) -> Table:
    """Read a TOML file as nested tables, and apply assignments such as `section.key=value`."""
    try:
        return reduce(override, assignments, toml_table(read_small(Path(path)).decode()))
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file; check the path") from None
    except (ParseError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: this is not TOML: {error}") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None


def override(table: Table, assignment: str) -> Table:
    """Apply `section.key=value` to the table; the value is TOML, plain text, or empty for the default."""
    name, equals, text = assignment.partition("=")
    if not equals or not all(part.strip() for part in name.split(".")) or "." not in name:
        raise ConfigError(f"--set {assignment}: write it as section.key=value, for example train.seed=3")
    try:
        value = toml_table(f"value = {text}")["value"]
    except ParseError:
        value = text or None
    return with_setting(table, name, value)


def with_setting(table: Table, name: str, value: Any) -> Table:
    """Return the table with the setting `section.key` replaced, or removed if the value is None."""
    section, _, key = (part.strip() for part in name.partition("."))
    if not key:
        raise ConfigError(f'{name} is no setting; write section.key, for example "train.max_epochs"')
    settings = table.get(section, {})
    if not isinstance(settings, dict):
        raise ConfigError(f"{section} = {settings!r} is no section; write its settings under [{section}]")
    return {**table, section: {other: old for other, old in {**settings, key: value}.items() if old is not None}}


def flat(table: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The settings of all sections by names such as `train.seed`."""
    return {f"{section}.{key}": value for section, settings in table.items() for key, value in settings.items()}


def changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The names of the settings that differ between two sets of flat settings."""
    return sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
