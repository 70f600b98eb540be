"""What `make docs` adds to the pages of this folder: pages made from the program, the notebooks and linked files.

Links that leave docs/ are right on GitHub and in an editor; on the site they lead to a page with the file.
"""

import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import gareader
from gareader.cli.app import app

PROJECT = Path(__file__).parents[1]
LINK = re.compile(r"(?s:(?P<fence>````?).*?(?P=fence))|`[^`]+`|\]\((?![a-z]+:|#)(?P<target>[^)#\s]+)")
"""The target of a link; code is passed over."""
LANGUAGES = {".py": "python", ".toml": "toml", ".c": "c", ".h": "c"}
FOLDERS = {"decisions": "What was decided, and why", "models": "The cards of the models"}
"""Folders of docs/ that get a page of contents."""
ROOMS = {
    "trained": "Models and their answers",
    "data": "Questions, answers and corpora",
    "readers": "Readers",
    "training": "Training",
    "core": "Errors",
}
"""The headings of the Python reference, by the room of a name's module."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Write out the entries `folder/*` of the navigation."""
    config.nav = list(_expanded(config.nav))
    return config


def _expanded(entries: list[Any]) -> Iterator[Any]:
    for entry in entries:
        if isinstance(entry, dict):
            ((title, inside),) = entry.items()
            yield {title: list(_expanded(inside)) if isinstance(inside, list) else inside}
        elif entry == "notebooks/*":
            yield from (f"notebooks/{path.stem}.md" for path in _notebooks())
        elif entry.endswith("/*"):
            yield from (f"{entry[:-1]}{name}" for name in ("index.md", *(path.name for path in _pages(entry[:-2]))))
        else:
            yield entry


def _pages(folder: str) -> list[Path]:
    return sorted((PROJECT / "docs" / folder).glob("*.md"))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    made = {"reference/commands.md": _commands(), "reference/python.md": _names()}
    made |= {f"{folder}/index.md": _contents(folder, title) for folder, title in FOLDERS.items()}
    made |= {f"notebooks/{path.stem}.md": _notebook(path) for path in _notebooks()}
    for uri, text in made.items():
        files.append(File.generated(config, uri, content=text))
    pages = [(file.src_uri, file.content_string) for file in files.documentation_pages()]
    waiting = [target for uri, text in pages for target in _outside(text, _place(uri))]
    while waiting:  # a file may link to others
        path = waiting.pop()
        if files.get_file_from_path(_page_of(path)) is None:
            text = _shown(path)
            files.append(File.generated(config, _page_of(path), content=text))
            waiting += _outside(text, _place(_page_of(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Lead links that leave docs/ to the pages of their files."""
    uri = page.file.src_uri

    def led(match: re.Match[str]) -> str:
        if match["target"] is None:
            return match[0]
        path = _resolved(match["target"], _place(uri))
        inside = path.removeprefix("docs/")
        target = inside if path.startswith("docs/") else _page_of(path)
        target = f"{target}/index.md" if target in FOLDERS else target
        return f"]({relpath(target, PurePosixPath(uri).parent)}"

    return LINK.sub(led, markdown)


def _place(uri: str) -> str:
    """The folder, seen from the project's, from which the links of a page lead."""
    parent = PurePosixPath(uri).parent
    if uri.startswith("project/"):
        return f"{parent.relative_to('project')}"
    return f"{parent}" if uri.startswith("notebooks/") else f"docs/{parent}"


def _resolved(target: str, place: str) -> str:
    return normpath(f"{place}/{target}")


def _outside(text: str, place: str) -> list[str]:
    paths = [_resolved(target, place) for *_, target in LINK.findall(text) if target]
    return [path for path in paths if not path.startswith("docs/")]


def _page_of(path: str) -> str:
    if path.startswith("notebooks/"):
        return f"{path.removesuffix('.ipynb')}.md"
    return f"project/{path}/index.md" if (PROJECT / path).is_dir() else f"project/{path}.md"


def _shown(path: str) -> str:
    """A file or the names of a folder as a page that the search leaves out."""
    place = PROJECT / path
    if place.is_dir():
        body = "".join(f"- `{each.name}{'/' * each.is_dir()}`\n" for each in sorted(place.glob("[!._]*")))
    elif not place.is_file():
        raise PluginError(f"a page links to {path}, which does not exist")
    elif place.suffix == ".md":
        return f"---\nsearch:\n  exclude: true\n---\n\n{place.read_text(encoding='utf-8')}"
    else:
        body = f"````{LANGUAGES.get(place.suffix, 'text')}\n{place.read_text(encoding='utf-8')}\n````\n"
    return f"---\nsearch:\n  exclude: true\n---\n\n# {path}\n\n{body}"


def _contents(folder: str, title: str) -> str:
    """Links to the pages of a folder, with their headings."""
    first = ((path, path.read_text(encoding="utf-8").partition("\n")[0]) for path in _pages(folder))
    return f"# {title}\n\n" + "".join(f"- [{line.removeprefix('# ')}]({path.name})\n" for path, line in first)


def _commands() -> str:
    """The help of every command."""
    text = app.generate_docs(output_format="markdown", include_hidden=False)
    return text.replace(
        "# gareader\n", "# Commands\n\nMade from the program: `gareader COMMAND --help` has the same.\n", 1
    )


def _names() -> str:
    """The public names, from their docstrings."""
    lines = ["# Python", "", "Every public name of `gareader`, from its docstring.", ""]
    room = {name: module.partition(".")[0] for name, module in gareader.HOMES.items()}
    for key, names in groupby(sorted(room, key=lambda name: [*ROOMS].index(room[name])), room.get):
        lines += ["", f"## {ROOMS[f'{key}']}", ""]
        lines += [f"::: gareader.{gareader.HOMES[name]}.{name}\n" for name in names]
    return "\n".join(lines)


def _notebooks() -> list[Path]:
    return sorted((PROJECT / "notebooks").glob("*.ipynb"), reverse=True)


def _notebook(path: Path) -> str:
    """The cells of a notebook with what they print."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            text = "".join(output.get("text") or output["data"]["text/plain"])
            parts.append(f"```text\n{text.rstrip()}\n```")
    parts.append(f"*The notebook is `notebooks/{path.name}`.*")
    return "\n\n".join(parts) + "\n"
