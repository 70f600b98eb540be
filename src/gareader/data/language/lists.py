"""Lists of words, in TOML files beside the modules that use them."""

import tomllib
from pathlib import Path


def word_lists(module: str, name: str) -> dict[str, frozenset[str]]:
    """The lists of the file of that name beside a module, whose `__file__` is given."""
    table = tomllib.loads(Path(module).with_name(name).read_text(encoding="utf-8"))
    return {key: frozenset(words.split()) for key, words in table.items()}
