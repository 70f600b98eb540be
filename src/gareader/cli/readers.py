"""The command that lists the readers, which are architectures: readers."""

import ast
import inspect
import json
import re
import sys
from dataclasses import MISSING, fields
from importlib.metadata import entry_points
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from gareader.cli.app import Json, Modules, import_modules
from gareader.core.config import Settings, declared, in_words, load_table
from gareader.core.errors import ReaderImportError, did_you_mean
from gareader.core.presets import RUNS, by_name
from gareader.readers.settings import SETTINGS

CITATION = re.compile(r"\A(?P<authors>[^:]+):\s.+?\.\s(?P<venue>(?:\w+ )?(?P<year>\d{4}))\b", re.DOTALL)


def readers(name: str | None = None, *, modules: Modules = (), as_json: Json = False) -> None:
    """List the readers (architectures) that `reader.name` takes, or show the paper and the settings of one.

    Example: `gareader readers`

    Parameters
    ----------
    name
        Show the paper of this reader, where it departs from it, and all its settings.
    """
    import_modules(modules)
    docstrings = outside_docstrings(modules) | built_in_docstrings()  # no package takes a built-in name
    if name is not None and name not in docstrings:
        raise ReaderImportError(f"there is no reader {name!r}; {did_you_mean(name, docstrings)}")
    if name is None:
        records = sorted((record(each, docstrings[each]) for each in docstrings), key=lambda each: each["year"] or 9999)
        if as_json:
            print("\n".join(json.dumps(each, ensure_ascii=False) for each in records))
        else:
            Console().print(overview(records))
        return
    if (config := SETTINGS.get(name)) is None:
        from gareader.readers.registry import kind_of  # it imports torch

        config = kind_of(name).config
    docstring, settings = docstrings[name] if name in SETTINGS else docstring_of(config), settings_of(config)
    if as_json:
        print(json.dumps({**record(name, docstring), "paper": docstring, "settings": settings}, ensure_ascii=False))
    else:
        print(f"reader.name = {json.dumps(name)}\n\n{docstring}\n\nSettings:")
        for each in settings:
            print(f"\nreader.{each['name']}, default {each['default']}: {each['values']}\n    {each['about']}")


def built_in_docstrings() -> dict[str, str]:
    """The docstring of each built-in reader's module, read from its file: to import the readers imports torch."""
    package = find_spec("gareader.readers")
    files = sorted(Path(str(package and package.origin)).parent.glob("*_reader.py"))
    names = (path.stem.removesuffix("_reader").replace("_", "-") for path in files)
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in files)
    return {name: ast.get_docstring(tree) or "" for name, tree in zip(names, trees, strict=True)}


def outside_docstrings(modules: tuple[str, ...]) -> dict[str, str]:
    """The docstrings of readers of installed packages, which are not imported, and of --import modules."""
    docstrings = {
        point.name: f"{point.value}, of the package {point.dist and point.dist.name}."
        for point in entry_points(group="gareader.readers")
    }
    if modules:
        from gareader.readers.registry import READERS, kind_of, reader_names  # it imports torch

        names = [name for name in reader_names() if name not in READERS and name not in docstrings]
        docstrings |= {name: docstring_of(kind_of(name).config) for name in names}
    return docstrings


def docstring_of(config: type[Settings]) -> str:
    """The docstring of the module that defines these settings, and with them a reader."""
    return inspect.cleandoc(sys.modules[config.__module__].__doc__ or "")


def record(name: str, docstring: str) -> dict[str, Any]:
    """The JSON record of a reader, from the docstring of its module."""
    title, _, rest = docstring.partition("\n\n")
    citation = CITATION.match(rest)
    authors = [author.strip().split()[-1] for author in citation["authors"].split(",")] if citation else []
    short = " and ".join(authors) if len(authors) < 3 else f"{authors[0]} et al."
    return {
        "name": name,
        "about": " ".join(title.split()),
        "reference": f"{short}, {citation['venue']}" if citation else None,
        "year": int(citation["year"]) if citation else None,
        "presets": [preset for preset, path in by_name(RUNS).items() if reader_of(path) == name],
    }


def reader_of(config: Path) -> str:
    """The name of the reader that a settings file trains."""
    return str(load_table(config).get("reader", {}).get("name", "gated-attention"))


def overview(records: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("reader.name", "what it is", "paper", "preset"):
        table.add_column(heading, no_wrap=heading in ("reader.name", "preset"), overflow="fold")
    for each in records:
        names = ", ".join([*each["presets"][:1], *["…"] * (len(each["presets"]) > 1)])
        table.add_row(each["name"], each["about"], each["reference"] or "–", names or "–")
    return table


def settings_of(config: type[Settings]) -> list[dict[str, Any]]:
    """Each setting of a reader: its name, default, possible values and the docstring under its field."""
    tree = ast.parse(inspect.getsource(config))
    definition = next(node for node in tree.body if isinstance(node, ast.ClassDef))
    about = {
        field.target.id: text.value.value
        for field, text in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    }
    types = declared(config)
    return [
        {
            "name": field.name,
            "default": "not set" if field.default in (None, MISSING) else field.default,
            "values": in_words(types[field.name]).replace("`", ""),
            "about": about.get(field.name, ""),
        }
        for field in fields(config)
    ]
