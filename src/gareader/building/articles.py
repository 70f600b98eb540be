"""Articles to build questions from: one JSON object a line, streamed, every bad line told with its place."""

import datetime
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from gareader.building.sentences import Words, sentences
from gareader.corpora.files import Report, pieces, utf8
from gareader.corpora.jsonl import json_kind
from gareader.errors import CorpusError, did_you_mean

Kind = Literal["news", "pairs"]
"""What the articles are for: `news` needs highlights, `pairs` needs dates."""

SHAPES: dict[Kind, str] = {
    "news": '{"id": ..., "article": ..., "highlights": [...]}',
    "pairs": '{"id": ..., "date": "YYYY-MM-DD", "article": ...}',
}
LONGEST = 10 << 20
"""Characters in one line; more is no article."""

_TEXTS = ("article", "text")
_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1b\x7f\ufdd0-\ufdef\ufffe\uffff]")  # not allowed in XML, or kept for inner use
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class RawArticle:
    """An article as its line has it, checked."""

    id: str
    text: str
    highlights: tuple[str, ...] = ()
    date: datetime.date | None = None


@dataclass(frozen=True, slots=True)
class Article:
    """An article in words."""

    id: str
    sentences: tuple[Words, ...]
    highlights: tuple[Words, ...] = ()
    """Short sentences that sum it up."""
    date: datetime.date | None = None

    @property
    def words(self) -> Words:
        """All its words in a row."""
        return tuple(word for sentence in self.sentences for word in sentence)


def in_words(raw: RawArticle) -> Article:
    """The article tokenised: most of the work of reading, and a function of its own so that processes may share it."""
    highlights = tuple(tuple(word for words in sentences(text) for word in words) for text in raw.highlights)
    return Article(raw.id, sentences(raw.text), highlights, raw.date)


def read_raw(path: Path, kind: Kind, report: Report, seen: set[str] | None = None) -> Iterator[RawArticle]:
    """The articles of a file one by one; a bad one is reported, and reading goes on at the next.

    Memory grows with the ids, which `seen` holds over several files.
    """
    seen = set() if seen is None else seen
    for number, row in _rows(path, report):
        if not row.strip():
            continue
        try:
            article = _Line(path, number, row).article(kind)
            if article.id in seen:
                raise CorpusError(f"a second article with the id {article.id!r}; give each its own", path, number)
        except CorpusError as bad:
            report(bad)
        else:
            seen.add(article.id)
            yield article


def _rows(path: Path, report: Report) -> Iterator[tuple[int, str]]:
    """Every line with its number; of one that is too long no more is held than the limit."""
    rest: list[str] = []
    size, number = 0, 1
    try:
        for piece in pieces(path):
            for place, part in enumerate(piece.split("\n")):
                if place:  # a line has ended before this part
                    yield from _whole(rest, size, path, number, report)
                    rest, size, number = [], 0, number + 1
                size += len(part)
                if size <= LONGEST:
                    rest.append(part)
    except CorpusError as damage:
        report(damage if number == 1 and not size else CorpusError(damage.problem, path, number))
        return
    yield from _whole(rest, size, path, number, report)


def _whole(rest: list[str], size: int, path: Path, number: int, report: Report) -> Iterator[tuple[int, str]]:
    if size > LONGEST:
        problem = f"a line of {size:,} characters, more than {LONGEST >> 20} MiB; write one article on each line"
        report(CorpusError(problem, path, number))
    else:
        yield number, "".join(rest)


class _Line:
    """One object and its place, for messages."""

    def __init__(self, path: Path, number: int, row: str) -> None:
        self.path, self.number = path, number
        try:
            self.object: Any = json.loads(utf8(row, path, number), parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise self.bad(f"broken JSON: {error}; write each article as one whole object on one line") from None

    def bad(self, problem: str) -> CorpusError:
        """The error for this line."""
        return CorpusError(problem, self.path, self.number)

    def article(self, kind: Kind) -> RawArticle:
        """The article it spells."""
        if not isinstance(self.object, dict):
            raise self.bad(f"{json_kind(self.object)} where an object is due: {SHAPES[kind]}")
        self.check_keys(kind)
        key = next(key for key in _TEXTS if key in self.object)
        text = self.text(key, self.object[key])
        if not text.strip():
            raise self.bad(f"the key {key!r} holds no words; give the article's text, or leave the line out")
        if kind == "news":
            return RawArticle(self.id(), text, highlights=self.highlights())
        return RawArticle(self.id(), text, date=self.date())

    def check_keys(self, kind: Kind) -> None:
        """No key missing or misspelt; other keys are the user's own and are passed over."""
        needed = ("id", "article", "highlights" if kind == "news" else "date")
        absent = [key for key in needed if key not in self.object and not (key == "article" and "text" in self.object)]
        known = {*needed, "date", "text"}
        for key in self.object:
            if key not in known and get_close_matches(key, absent, n=1, cutoff=0.75):
                raise self.bad(f"unknown key {key!r}; {did_you_mean(key, known)}")
        for key in absent:
            raise self.bad(f"the key {key!r} is missing; an article is {SHAPES[kind]}")

    def text(self, key: str, value: object) -> str:
        """A text of whole characters, those that no file can hold taken for spaces."""
        if not isinstance(value, str):
            raise self.bad(f"the key {key!r} holds {json_kind(value)}; give a text")
        return _NO_TEXT.sub(" ", utf8(value, self.path, self.number))

    def id(self) -> str:
        """Its id, which goes into file names' digests and XML: one line."""
        given = self.object["id"]
        if isinstance(given, bool) or not isinstance(given, str | int):
            raise self.bad(f"the key 'id' holds {json_kind(given)}; give a text or a number")
        text = utf8(str(given), self.path, self.number)
        if not text or text != text.strip() or not text.isprintable():
            shown = json.dumps(text)
            raise self.bad(f"the key 'id' holds {shown}; give a line of text without white space around it")
        return text

    def highlights(self) -> tuple[str, ...]:
        """The highlights that hold words: a list of texts, or a text of lines."""
        given = self.object["highlights"]
        rows = given.splitlines() if isinstance(given, str) else given
        if not isinstance(rows, list):
            raise self.bad(f"the key 'highlights' holds {json_kind(given)}; give a list of texts")
        held = tuple(text for row in rows if (text := self.text("highlights", row)).strip())
        if not held:
            raise self.bad("no highlights; questions are made of them: give at least one, or leave the line out")
        return held

    def date(self) -> datetime.date:
        """Its day."""
        given = self.object["date"]
        try:
            if isinstance(given, str) and _DATE.fullmatch(given):
                return datetime.date.fromisoformat(given)
        except ValueError:
            pass
        raise self.bad(f"the key 'date' holds {json.dumps(given)}; give a day as YYYY-MM-DD")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
