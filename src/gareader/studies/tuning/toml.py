"""Settings written as TOML."""

import json
from collections.abc import Mapping
from typing import Any

Value = bool | int | float | str


def text(value: Value) -> str:
    """A value as TOML."""
    if isinstance(value, str):
        # TOML has JSON's escapes; it also wants the delete character escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value).lower()


def document(table: Mapping[str, Mapping[str, Any]]) -> str:
    """Sections of values as a TOML file."""
    sections = (
        "".join([f"[{name}]\n", *(f"{k} = {text(v)}\n" for k, v in keys.items())]) for name, keys in table.items()
    )
    return "\n".join(sections)
