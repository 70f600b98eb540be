"""Articles to build questions from: one JSON object per line, streamed; errors name file and line."""

import datetime
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, chain, takewhile
from pathlib import Path
from typing import Literal

from gareader.core.errors import CorpusError
from gareader.core.parsing import json_kind
from gareader.data.corpora.files import Report, pieces, utf8
from gareader.data.corpora.jsonl import JsonLine
from gareader.data.examples import Words
from gareader.data.language.sentences import news_sentences

Purpose = Literal["news", "pairs"]
"""The use of the articles: `news` needs highlights, `pairs` needs dates."""

SHAPES: dict[Purpose, str] = {
    "news": '{"id": ..., "article": ..., "highlights": [...]}',
    "pairs": '{"id": ..., "date": "YYYY-MM-DD", "article": ...}',
}
LONGEST_LINE = 10 << 20
"""The largest number of characters of a line; a longer one is no article."""

_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1b\x7f\ufdd0-\ufdef\ufffe\uffff]")  # not allowed in XML, or reserved
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class RawArticle:
    """An article as its line has it, after the checks."""

    id: str
    text: str
    highlights: tuple[str, ...] = ()
    date: datetime.date | None = None


@dataclass(frozen=True, slots=True)
class Article:
    """A tokenised article."""

    id: str
    sentences: tuple[Words, ...]
    highlights: tuple[Words, ...] = ()
    """Short sentences that summarise it."""
    date: datetime.date | None = None

    @property
    def words(self) -> Words:
        return tuple(word for sentence in self.sentences for word in sentence)

    def beginning(self, most: int) -> "Article":
        """The article up to the last sentence that ends within `most` words; at least its first sentence."""
        ends = accumulate(map(len, self.sentences))
        kept = sum(1 for _ in takewhile(lambda end: end <= most, ends))
        return replace(self, sentences=self.sentences[: max(kept, 1)])


def tokenise_article(raw: RawArticle) -> Article:
    """Tokenise an article: most of the work of reading, and a separate function so that workers can share it."""
    highlights = tuple(tuple(word for words in news_sentences(text) for word in words) for text in raw.highlights)
    return Article(raw.id, news_sentences(raw.text), highlights, raw.date)


def read_raw(paths: Iterable[Path], purpose: Purpose, report: Report) -> Iterator[RawArticle]:
    """Stream the articles of files; report a bad article or file and continue with the next; memory holds all ids."""
    ids: set[str] = set()
    for path in paths:
        for number, row in _rows(path, report):
            if not row.strip():
                continue
            try:
                article = _ArticleLine(path, number, row, purpose).article()
                if article.id in ids:
                    raise CorpusError(f"a second article with the id {article.id!r}; give each its own", path, number)
            except CorpusError as bad:
                report(bad)
            else:
                ids.add(article.id)
                yield article


def _rows(path: Path, report: Report) -> Iterator[tuple[int, str]]:
    """Yield every line with its number; of a line that is too long no more than the limit is in memory."""
    rest: list[str] = []
    size, number = 0, 1
    try:
        for piece in chain(pieces(path), "\n"):  # the last line may lack its end
            for place, part in enumerate(piece.split("\n")):
                if place and size > LONGEST_LINE:
                    limit = f"more than {LONGEST_LINE >> 20} MiB"
                    problem = f"a line of {size:,} characters, {limit}; write one article on each line"
                    report(CorpusError(problem, path, number))
                elif place:
                    yield number, "".join(rest)
                if place:  # a line has ended before this part
                    rest, size, number = [], 0, number + 1
                size += len(part)
                if size <= LONGEST_LINE:
                    rest.append(part)
    except CorpusError as damage:
        report(damage if number == 1 and not size else CorpusError(damage.problem, path, number))


class _ArticleLine(JsonLine):
    kind = "an article"

    def __init__(self, path: Path, number: int, row: str, purpose: Purpose) -> None:
        self.purpose, self.shape = purpose, SHAPES[purpose]
        super().__init__(path, number, row, _refuse)

    def article(self) -> RawArticle:
        detail = "highlights" if self.purpose == "news" else "date"
        key = "text" if "text" in self.object and "article" not in self.object else "article"
        self.check_keys(("id", key, detail), (), {"id", "article", "text", "date", detail})
        text = self.text(key, self.object[key])
        if not text.strip():
            raise self.bad(f"the key {key!r} holds no words; give the article's text, or leave the line out")
        if self.purpose == "news":
            return RawArticle(self.id(), text, highlights=self.highlights())
        return RawArticle(self.id(), text, date=self.date())

    def text(self, key: str, value: object) -> str:
        """Return a text, with spaces for characters that XML does not allow."""
        if not isinstance(value, str):
            raise self.bad(f"the key {key!r} holds {json_kind(value)}; give a text")
        return _NO_TEXT.sub(" ", utf8(value, self.path, self.number))

    def id(self) -> str:
        """The id, which goes into digests and XML: one line of text."""
        given = self.object["id"]
        if isinstance(given, bool) or not isinstance(given, str | int):
            raise self.bad(f"the key 'id' holds {json_kind(given)}; give a text or a number")
        text = utf8(str(given), self.path, self.number)
        if not text or text != text.strip() or not text.isprintable():
            shown = json.dumps(text)
            raise self.bad(f"the key 'id' holds {shown}; give a line of text without white space around it")
        return text

    def highlights(self) -> tuple[str, ...]:
        """The highlights that are not blank: of a list of texts, or of a text of lines."""
        given = self.object["highlights"]
        rows = given.splitlines() if isinstance(given, str) else given
        if not isinstance(rows, list):
            raise self.bad(f"the key 'highlights' holds {json_kind(given)}; give a list of texts")
        highlights = tuple(text for row in rows if (text := self.text("highlights", row)).strip())
        if not highlights:
            raise self.bad("no highlights; questions are made of them: give at least one, or leave the line out")
        return highlights

    def date(self) -> datetime.date:
        given = self.object["date"]
        try:
            if isinstance(given, str) and _DATE.fullmatch(given):
                return datetime.date.fromisoformat(given)
        except ValueError:
            pass
        raise self.bad(f"the key 'date' holds {json.dumps(given)}; give a day as YYYY-MM-DD")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
