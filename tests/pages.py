"""Runs the commands and the Python of a document, and compares what they print with what the document shows.

A block of `bash` or `python` is run; a block of `text` right after it is what it prints. `python tests/pages.py
docs/tutorial.md` runs a page as it stands and writes what its blocks print into it. A test runs it shortened.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from places import PROJECT

FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>bash|python)\n(?P<code>.*?)^(?P=indent)```\n"
    r"(?:\n(?P=indent)```text\n(?P<shown>.*?)^(?P=indent)```\n)?",
    re.DOTALL | re.MULTILINE,
)
SPEED = re.compile(r"[\d,.]+( examples/s)|(?<= in )[\d,]+ s, [\d,]+(?= a second)")
SHORT_BOOK, SHORT_CORPUS = 150, 10
"""Lines of a shortened book, and questions of a shortened corpus."""


@dataclass(frozen=True)
class Block:
    """Code of a page, and what the page says that it prints, if it says so."""

    language: str
    code: str
    shown: str | None
    span: tuple[int, int]
    """Where `shown` stands in the page."""
    indent: str


def blocks(page: str) -> list[Block]:
    """The blocks of a page that are run."""
    return [
        Block(
            match["language"],
            textwrap.dedent(match["code"]),
            None if match["shown"] is None else textwrap.dedent(match["shown"]),
            match.span("shown"),
            match["indent"],
        )
        for match in FENCE.finditer(page)
    ]


def commands(code: str) -> Iterator[str]:
    """The commands of a block: a line each, or several with a backslash."""
    for line in code.replace("\\\n", " ").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


@dataclass
class Folder:
    """A folder in which the commands of a page run: it has the files they read, and takes those they write."""

    path: Path
    project: bool = True
    """Whether it has the project's files; else only those that come with gareader can be read."""
    quick: bool = False
    """Whether training and corpora are shortened: numbers differ then, and the first line must be there."""
    made: set[str] = field(default_factory=set)
    """Files and folders that shortened commands made."""
    names: dict[str, Any] = field(default_factory=dict)
    """The variables of the page's Python."""
    python_shortened: bool = False

    def __post_init__(self) -> None:
        if self.project:
            (self.path / "tests").mkdir()
            for name in ("configs", "examples", "tests/samples"):
                (self.path / name).symlink_to(PROJECT / name)

    def printed(self, block: Block) -> str:
        """Run a block and return what it prints."""
        if block.language == "bash":
            return "".join(self.run(line) for line in commands(block.code))
        with chdir(self.path), redirect_stdout(StringIO()) as out:
            exec(compile(block.code, "page", "exec"), self.names)  # noqa: S102
        return out.getvalue()

    def run(self, line: str) -> str:
        """Run one command in the folder: gareader in this process, anything else in a shell."""
        with chdir(self.path):
            return self._run(line)

    def _run(self, line: str) -> str:
        words = shlex.split(line, comments=True)
        if words[0] != "gareader" or {"|", ">", "&&"} & {*words}:
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            done = subprocess.run(
                ["bash", "-ceu", line], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            for book in self.path.glob("*.txt") if self.quick else ():
                lines = book.read_text(encoding="utf-8").splitlines(keepends=True)
                book.write_text("".join(lines[:SHORT_BOOK]), encoding="utf-8")
            return done.stdout
        if self.quick and words[1] == "train":
            for setting in ("max_epochs=1", "fraction=0.1", "validation_examples=4", "validate_every=500"):
                words += ["--set", f"train.{setting}"]
        printed = _main(words)
        if self.quick and {"train", "build"} & {*words[1:3]}:
            out = words[words.index("--out") + 1]
            self.made.add(out)
            if words[1] == "build":
                _shorten(Path(out) / "train.txt")
        elif self.shortened(line):
            self.made |= {word for word in words if word.endswith(".jsonl")}
        return printed

    def shortened(self, code: str) -> bool:
        """Whether code uses what a shortened command made."""
        return any(re.search(rf"(?<![\w/]){re.escape(name)}\b", code) for name in self.made)

    def check(self, block: Block) -> None:
        """Run a block; what it prints is what the page shows."""
        printed = self.printed(block)
        if block.language == "python" and self.shortened(block.code):
            self.python_shortened = True  # its variables live on in the next block
        if block.shown is None:
            return
        if self.shortened(block.code) or (block.language == "python" and self.python_shortened):
            assert _words(block.shown)[0] in _words(printed), block.code
        else:
            assert SPEED.sub("…", printed.strip()) == SPEED.sub("…", block.shown.strip()), block.code


def _main(words: list[str]) -> str:
    from gareader.cli import main

    before, sys.argv = sys.argv, words
    try:
        with redirect_stdout(StringIO()) as out:
            main()
    except SystemExit as ended:
        if ended.code:
            raise AssertionError(f"{shlex.join(words)}: exit code {ended.code}") from ended
    finally:
        sys.argv = before
    return out.getvalue()


def _shorten(corpus: Path) -> None:
    questions = corpus.read_text(encoding="utf-8").split("\n\n")
    corpus.write_text("\n\n".join(questions[:SHORT_CORPUS]) + "\n\n", encoding="utf-8")


def _words(printed: str) -> list[str]:
    """The lines without their numbers."""
    bare = re.sub(r"[-−]?\d+(?:[.,]\d+)*(?:e-?\d+)?", "#", printed.strip())
    return [" ".join(line.split()) for line in bare.splitlines()]


def rewrite(path: Path) -> None:
    """Run a page as it stands and write what its blocks print into it."""
    page = path.read_text(encoding="utf-8")
    parts, end = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = Folder(Path(name))
        for block in blocks(page):
            printed = folder.printed(block)
            if block.shown is not None:
                lines = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
                parts += [page[end : block.span[0]], textwrap.indent(lines, block.indent) + "\n"]
                end = block.span[1]
    path.write_text("".join([*parts, page[end:]]), encoding="utf-8")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        rewrite(Path(argument).resolve())
