"""A built corpus on disk: a file for each part, and a card that says what is in it; whole or not at all."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from gareader.errors import BuildError
from gareader.examples import Example
from gareader.statistics import Tally
from gareader.whole import whole_folder

PARTS = ("train", "validation", "test")

_ROWS = {
    "examples": ("questions", "{:,}"),
    "vocabulary": ("words, as written", "{:,}"),
    "document_words_mean": ("words of a document, mean", "{:.1f}"),
    "document_words_max": ("… longest", "{:,}"),
    "query_words_mean": ("words of a query, mean", "{:.1f}"),
    "candidates_mean": ("candidates, mean", "{:.1f}"),
    "answer_in_document": ("answer in the document", "{:.1%}"),
    "answer_before_blank": ("answer also before the blank", "{:.1%}"),
    "answer_after_blank": ("answer also after the blank", "{:.1%}"),
    "distractors_in_query_mean": ("distractors in the query, mean", "{:.3f}"),
    "distractors_more_frequent_mean": ("distractors more frequent than the answer, mean", "{:.2f}"),
    "most_frequent_accuracy": ("most frequent candidate is right", "{:.1%}"),
    "most_frequent_not_in_query_accuracy": ("… that is not in the query", "{:.1%}"),
}


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which appears under its name only when the block is done."""
    if path.exists():
        raise BuildError(f"{path} exists already; name another folder with --out, or remove it")
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(whole_folder(path, sync=False))
        except OSError as error:
            raise BuildError(f"{path} cannot be made ({error.strerror}); name another folder with --out") from None
        yield folder


class Parts:
    """The files of the parts, or a folder of files for each; begun when their first question comes."""

    def __init__(self, folder: Path, ending: str, begin: str = "", end: str = "") -> None:
        self._folder, self._ending, self._begin, self._end = folder, ending, begin, end
        self._files: dict[str, IO[str]] = {}
        self.tallies: dict[str, Tally] = {}

    def write(self, part: str, text: str, counted: Tally | Example) -> None:
        """Add a question, or many that have been counted, to the file of a part."""
        if part not in self._files:
            path = self._folder / f"{part}{self._ending}"
            self._files[part] = path.open("w", encoding="utf-8", newline="\n")
            self._files[part].write(self._begin)
        self._files[part].write(text)
        self._count(part, counted)

    def write_file(self, part: str, name: str, text: str, example: Example) -> None:
        """Add a question, as a file of its own, to the folder of a part."""
        (self._folder / part).mkdir(exist_ok=True)
        (self._folder / part / name).write_text(text, encoding="utf-8", newline="\n")
        self._count(part, example)

    def _count(self, part: str, counted: Tally | Example) -> None:
        tally = self.tallies.setdefault(part, Tally())
        if isinstance(counted, Tally):
            tally.merge(counted)
        else:
            tally.add(counted)

    def __enter__(self) -> "Parts":
        return self

    def __exit__(self, *error: object) -> None:
        for file in self._files.values():
            file.write(self._end)
            file.close()


def write_card(folder: Path, name: str, facts: Mapping[str, Any], tallies: Mapping[str, Tally]) -> None:
    """card.json for programs and card.md for people: counts, lengths, baselines, settings."""
    parts = {part: asdict(tallies[part].statistics()) for part in PARTS if part in tallies}
    card = {"corpus": name, **facts, "parts": parts}
    text = json.dumps(card, indent=1, ensure_ascii=False)
    (folder / "card.json").write_text(text + "\n", encoding="utf-8")
    lines = [f"# {name}", "", f"| | {' | '.join(parts)} |", "|---|" + "---|" * len(parts)]
    for key, (label, style) in _ROWS.items():
        cells = ["–" if part[key] is None else style.format(part[key]) for part in parts.values()]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    for title, value in facts.items():
        lines += ["", f"## {title.capitalize()}", ""]
        rows = [f"{key}: {_told(each)}" for key, each in value.items()] if isinstance(value, Mapping) else value
        lines += [f"- {row}" for row in rows] or ["None."]
    (folder / "card.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _told(value: Any) -> str:
    """A setting, a count or a list for people."""
    if isinstance(value, list):
        return "; ".join(value)
    if value is None or isinstance(value, bool):
        return {None: "–", True: "yes", False: "no"}[value]
    return f"{value:,}" if isinstance(value, int) else str(value)
