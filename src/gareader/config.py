"""Settings: a TOML table becomes a frozen dataclass, and every complaint names the key."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_type_hints

from gareader.errors import ConfigError, did_you_mean

Table = dict[str, Any]
Settings = TypeVar("Settings")


def load_table(path: Path | str) -> Table:
    """A TOML file as nested tables."""
    try:
        with Path(path).open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file; check the path") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: this is not TOML: {error}") from None


def override(table: Table, assignment: str) -> Table:
    """The table with one setting replaced, from `section.key=value`: TOML, plain text, or nothing for the default."""
    name, equals, text = assignment.partition("=")
    path = [part.strip() for part in name.split(".")]
    if not equals or not all(path) or len(path) < 2:
        raise ConfigError(f"--set {assignment}: write it as section.key=value, for example train.seed=3")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text or None
    return _replaced(table, path, value)


def _replaced(table: Table, path: list[str], value: Any) -> Table:
    first, *rest = path
    if rest:
        below = table.get(first, {})
        value = _replaced(below if isinstance(below, dict) else {}, rest, value)
    return {key: new for key, new in {**table, first: value}.items() if new is not None}


def from_table(kind: type[Settings], table: Mapping[str, Any], section: str) -> Settings:
    """The dataclass `kind` with the table's values for its fields; `section` names the table in errors."""
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    types = get_type_hints(kind)
    for key in table:
        if key not in known:
            raise ConfigError(f"{section}.{key} is no setting; {did_you_mean(key, known)}")
    for name, field in known.items():
        if name not in table and field.default is MISSING and field.default_factory is MISSING:
            raise ConfigError(f"{section}.{name} is missing; add it to [{section}]")
    try:
        return kind(**{key: _checked(value, types[key], f"{section}.{key}") for key, value in table.items()})
    except ConfigError as error:
        message = str(error)
        raise ConfigError(message if message.startswith(f"{section}.") else f"{section}.{message}") from None


def _checked(value: Any, expected: Any, name: str) -> Any:
    """The value as the type its field has; a whole number may stand for a fraction."""
    kinds = get_args(expected) if isinstance(expected, UnionType) else (expected,)
    if float in kinds and type(value) is int:
        return float(value)
    if type(value) in kinds:
        return value
    names = {int: "a whole number", float: "a number", str: "text", bool: "true or false", NoneType: "nothing"}
    wanted = " or ".join(names[kind] for kind in kinds if kind is not NoneType)
    raise ConfigError(f"{name} = {value!r} is not {wanted}")


def at_least_one(settings: Any, *names: str) -> None:
    """Complain about the first of these settings that is less than 1."""
    for name in names:
        if getattr(settings, name) < 1:
            raise ConfigError(f"{name} = {getattr(settings, name)} is too small; use 1 or more")


def positive(settings: Any, *names: str) -> None:
    """Complain about the first of these settings that is given and not more than 0."""
    for name in names:
        if (value := getattr(settings, name)) is not None and not value > 0:
            raise ConfigError(f"{name} = {value} is not positive")


def less_than_one(settings: Any, *names: str) -> None:
    """Complain about the first of these settings that is no share of something, with a rest."""
    for name in names:
        if not 0 <= getattr(settings, name) < 1:
            raise ConfigError(f"{name} = {getattr(settings, name)} is not a share; use 0 or more and less than 1")


def known(settings: Any, **choices: Iterable[str]) -> None:
    """Complain about the first of these settings whose value is none of its choices."""
    for name, names in choices.items():
        if (value := getattr(settings, name)) not in names:
            raise ConfigError(f"{name} = {value!r} is not known; {did_you_mean(str(value), names)}")
