"""JSON and TOML from anyone: whatever is wrong with a text is one kind of error."""

import json
from collections.abc import Callable
from typing import Any


class ParseError(ValueError):
    """A text that is no JSON or TOML, or has another type at its root than is due."""


def json_value(text: str | bytes, parse_constant: Callable[[str], Any] | None = None) -> Any:
    try:
        return json.loads(text, parse_constant=parse_constant)
    except RecursionError:
        raise ParseError("it is nested too deeply") from None
    except ValueError as error:  # also of bytes that are not UTF-8
        raise _parse_error(error) from None


def json_object(text: str | bytes) -> dict[str, Any]:
    value = json_value(text)
    if not isinstance(value, dict):
        raise ParseError(f"{json_kind(value)} where an object is due")
    return value


def toml_table(text: str) -> dict[str, Any]:
    import tomllib  # answers need no TOML

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ParseError("it is nested too deeply") from None
    except ValueError as error:
        raise _parse_error(error) from None


def _parse_error(error: ValueError) -> ParseError:
    """Python's own error about thousands of digits names a function to call."""
    digits = "integer string conversion" in str(error)
    return ParseError("a number has thousands of digits" if digits else str(error))


def json_kind(value: object) -> str:
    """The JSON type of a value, for errors."""
    names = {
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), "null")
