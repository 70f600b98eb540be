"""A built corpus on disk, whole or not at all: a file or folder for each split, and a card with its facts."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from gareader.core.errors import BuildError
from gareader.core.whole import whole_folder
from gareader.data.examples import Example
from gareader.data.statistics import ANSWER_STATISTICS, CorpusCounts

SPLITS = ("train", "validation", "test")

_ROWS = {
    "examples": ("questions", "{:,}"),
    "vocabulary": ("words, as written", "{:,}"),
    "document_words_mean": ("words of a document, mean", "{:.1f}"),
    "document_words_max": ("… longest", "{:,}"),
    "query_words_mean": ("words of a query, mean", "{:.1f}"),
    "candidates_mean": ("candidates, mean", "{:.1f}"),
    **ANSWER_STATISTICS,
}


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill, and rename it to `path` at the end; raise BuildError if `path` exists."""
    if path.exists():
        raise BuildError(f"{path} exists already; name another folder with --out, or remove it")
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(whole_folder(path, sync=False))
        except OSError as error:
            raise BuildError(f"{path} cannot be made ({error.strerror}); name another folder with --out") from None
        yield folder


class SplitFiles:
    """A file or a folder of files for each split, made with its first question."""

    def __init__(self, folder: Path, ending: str, begin: str = "", end: str = "") -> None:
        self._folder, self._ending, self._begin, self._end = folder, ending, begin, end
        self._files: dict[str, IO[str]] = {}
        self.counts: dict[str, CorpusCounts] = {}

    def write(self, split: str, text: str, counted: CorpusCounts | Example) -> None:
        """Append a question to the file of a split, or many questions with their counts."""
        if split not in self._files:
            path = self._folder / f"{split}{self._ending}"
            self._files[split] = path.open("w", encoding="utf-8", newline="\n")
            self._files[split].write(self._begin)
        self._files[split].write(text)
        self._count(split, counted)

    def write_file(self, split: str, name: str, text: str, example: Example) -> None:
        """Write a question as a file of its own to the folder of a split."""
        (self._folder / split).mkdir(exist_ok=True)
        (self._folder / split / name).write_text(text, encoding="utf-8", newline="\n")
        self._count(split, example)

    def _count(self, split: str, counted: CorpusCounts | Example) -> None:
        counts = self.counts.setdefault(split, CorpusCounts())
        if isinstance(counted, CorpusCounts):
            counts.merge(counted)
        else:
            counts.add(counted)

    def __enter__(self) -> "SplitFiles":
        return self

    def __exit__(self, *error: object) -> None:
        for file in self._files.values():
            file.write(self._end)
            file.close()


def write_card(folder: Path, name: str, facts: Mapping[str, Any], counts: Mapping[str, CorpusCounts]) -> None:
    """Write card.json for programs and card.md for people: counts, lengths, baselines, settings."""
    statistics = {split: asdict(counts[split].statistics()) for split in SPLITS if split in counts}
    card = {"corpus": name, **facts, "parts": statistics}
    text = json.dumps(card, indent=1, ensure_ascii=False)
    (folder / "card.json").write_text(text + "\n", encoding="utf-8")
    lines = [f"# {name}", "", f"| | {' | '.join(statistics)} |", "|---|" + "---|" * len(statistics)]
    for key, (label, style) in _ROWS.items():
        cells = ["–" if values[key] is None else style.format(values[key], digits=1) for values in statistics.values()]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    for title, value in facts.items():
        lines += ["", f"## {title.capitalize()}", ""]
        rows = [f"{key}: {_in_words(each)}" for key, each in value.items()] if isinstance(value, Mapping) else value
        lines += [f"- {row}" for row in rows] or ["None."]
    (folder / "card.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _in_words(value: Any) -> str:
    """A setting, a count or a list as text for people."""
    if isinstance(value, list):
        return "; ".join(value)
    if value is None or isinstance(value, bool):
        return {None: "–", True: "yes", False: "no"}[value]
    return f"{value:,}" if isinstance(value, int) else str(value)
