"""The format of CNN and Daily Mail: a folder of `.question` files, one question each."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from gareader.core.errors import CorpusError
from gareader.core.files import LARGEST
from gareader.data.corpora.files import Report, checked_example, good, lines, stem, too_large, utf8
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.text import words

SHAPE = (
    "a folder of .question files: id, document, query with @placeholder, answer, candidates, a blank line after each"
)

_ENDINGS = (".question", ".question.gz", ".question.xz")
_FIELDS = ("id", "document", "query", "answer")
_ENTITY = re.compile(r"\s*(@entity\d+):")
"""The candidate of a line `@entity5:Real Name`; any other line is a candidate with its colons."""


def looks_like(beginning: str) -> bool:
    """Whether the beginning of a file is in this format."""
    rows = beginning.split("\n", 5)
    return len(rows) > 4 and not rows[1].strip() and not rows[3].strip() and PLACEHOLDER in rows[4].split()


def read(path: Path, report: Report) -> Iterator[Example]:
    """Stream the questions in the order of their ids; report a bad one and continue with the next."""
    try:
        files = _question_files(path) if path.is_dir() else [(stem(path), path.name)]
    except OSError as problem:
        raise CorpusError(
            f"cannot be opened ({problem.strerror}); check who may read it", Path(problem.filename)
        ) from None
    folder = path if path.is_dir() else path.parent
    ids = [None, *(question for question, _ in files)]

    def parse(item: tuple[str | None, tuple[str, str]]) -> Example:
        previous, (question, name) = item
        if question == previous:
            raise CorpusError(f"a second file for the question {question}; remove one of them", folder / name)
        return _question(folder / name, question)

    return good(zip(ids, files, strict=False), parse, report)


def written(example: Example, source: str = "", names: Sequence[str] | None = None) -> str:
    """Return the text of the file `file_name`: source, document, query, answer, candidates with their names."""
    candidates = [" ".join(words) for words in example.candidates]
    answer = "" if example.answer is None else candidates[example.answer]
    rows = candidates if names is None else map(":".join, zip(candidates, names, strict=True))
    parts = [source, " ".join(example.document), " ".join(example.query), answer, "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def file_name(example: Example) -> str:
    return f"{example.id}{_ENDINGS[0]}"


def _question(path: Path, id: str) -> Example:
    rows, size = [], 0
    for number, row in lines(path):
        size += len(row) + 1
        if size > LARGEST:
            raise too_large("question", path)
        rows.append(utf8(row, path, number))
    for place, field in enumerate(_FIELDS):
        if len(rows) < 2 * place + 2:
            problem = f"the file ends before the line after its {field}; it should be {SHAPE.partition(': ')[2]}"
            raise CorpusError(problem, path, len(rows))
        if rows[2 * place + 1].strip():
            problem = f"this line should be blank: it follows the {field}, which is one line"
            raise CorpusError(problem, path, 2 * place + 2)
    _, document, query, answer = (words(row) for row in rows[: 2 * len(_FIELDS) : 2])
    candidates = tuple(
        (entity[1],) if (entity := _ENTITY.match(row)) else words(row)
        for row in rows[2 * len(_FIELDS) :]
        if row.strip()
    )
    line = 3 if not document else 5 if query.count(PLACEHOLDER) != 1 else len(rows)
    return checked_example(path, line, id, document, query, candidates, answer or None, answer_line=7)


def _question_files(folder: Path) -> list[tuple[str, str]]:
    """Return id and name of each question file in the folder, sorted; raise CorpusError for a folder of folders."""
    files, folders, others = [], [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.name.endswith(_ENDINGS):
                files.append((stem(Path(entry.name)), entry.name))
            elif entry.is_dir():
                folders.append(entry.name)
            else:
                others.append(entry.name)
    sets = sorted(name for name in folders if _holds_questions(folder / name))
    if sets:
        beside = f"{len(files)} .question files and also " if files else ""
        raise CorpusError(f"holds {beside}folders of questions: {', '.join(sets)}; name the one to read", folder)
    if not files:
        names = sorted(folders + others)
        held = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        raise CorpusError(f"holds no .question files, but {held or 'nothing at all'}; name the file to read", folder)
    return sorted(files)


def _holds_questions(folder: Path) -> bool:
    with os.scandir(folder) as entries:
        return any(entry.name.endswith(_ENDINGS) for entry in entries)
