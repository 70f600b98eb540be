"""Books in files: raw text, a book each, or tokenised text, a sentence a line and `_BOOK_TITLE_` before each book."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path

from gareader.building.kinds import Words
from gareader.corpora import read, recognise
from gareader.corpora.files import Report, stem, utf8
from gareader.errors import CorpusError
from gareader.examples import PLACEHOLDER
from gareader.files import DAMAGE, Content, check_no_pipe, damaged, opened
from gareader.text import words

TITLE = "_BOOK_TITLE_"
"""How a line begins that names the next book of a tokenised file."""

_LONGEST_BOOK = 50_000_000
_LONGEST_LINE = 1_000_000
_ENGLISH = frozenset("the and of to a in that he was it his her with as had for you she not but".split())
_ENGLISH_SHARE = 0.08
"""Of English text these are about a quarter of all words; of other languages next to none."""
_MULTIBYTE = re.compile(rb"[\xc3\xe2][\x80-\xbf]")
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # no signs in Windows' Latin alphabet


@dataclass(frozen=True)
class Book:
    """A book as it lies in its file."""

    title: str
    text: str
    tokenised: bool
    path: Path
    line: int | None = None
    """Where it begins in a file of several."""

    def sentences(self) -> list[Words]:
        """Its sentences as Treebank tokens; an error if it is no English story."""
        if self.tokenised:
            found = [split for row in self.text.split("\n") if (split := words(row))]
        else:
            from gareader.building.gutenberg import body
            from gareader.building.treebank import sentences

            found = list(sentences(body(self.text)))
        tokens = sum(map(len, found))
        english = sum(word.lower() in _ENGLISH for sentence in found for word in sentence)
        if tokens and english < _ENGLISH_SHARE * tokens:
            raise self.bad("this does not look like English; the rules for sentences, names and times are English ones")
        return found

    def bad(self, problem: str) -> CorpusError:
        """The error for this book."""
        return CorpusError(f"{self.title}: {problem}" if self.tokenised else problem, self.path, self.line)


def books(paths: Sequence[Path], report: Report) -> Iterator[Book]:
    """The books one by one; a bad file or book is reported, and reading goes on at the next."""
    titles: set[str] = set()
    for path in paths:
        try:
            check_no_pipe(path)
            for book in _in_file(path, report):
                names = (f"{book.title} ({number})" for number in count(2))
                title = next(name for name in chain([book.title], names) if name not in titles)
                titles.add(title)
                yield replace(book, title=title)
        except CorpusError as bad:
            report(bad)


def texts(path: Path) -> Iterator[Sequence[str]]:
    """The words of a file's texts: of a question file its documents with their queries, otherwise of its books."""
    try:
        kind = recognise(path)
    except CorpusError:
        for book in books([path], _raise):
            yield [word for sentence in book.sentences() for word in sentence]
        return
    for example in read(path, format=kind):
        blank = example.query.index(PLACEHOLDER)
        answer = () if example.answer is None else example.candidates[example.answer]
        yield (*example.document, *example.query[:blank], *answer, *example.query[blank + 1 :])


def _raise(error: CorpusError) -> None:
    raise error


def _in_file(path: Path, report: Report) -> Iterator[Book]:
    with opened(path) as content:
        try:
            if content.peek(len(TITLE)).startswith(TITLE.encode()):
                yield from _tokenised(path, content, report)
            else:
                yield Book(stem(path), _decoded(content.read(_LONGEST_BOOK + 1), path), False, path)
        except DAMAGE as problem:
            raise damaged(problem, path) from None


def _tokenised(path: Path, content: Content, report: Report) -> Iterator[Book]:
    title, begins, rows, size, good = "", 0, list[str](), 0, True
    for number in count(1):
        line = content.readline(_LONGEST_LINE + 1)
        if not line or line.startswith(TITLE.encode()):
            if title and good:
                yield Book(title, "\n".join(rows), True, path, begins)
            if not line:
                return
            title, begins, rows, size, good = _title(line, number), number, [], 0, True
        elif good:
            size += len(line)
            try:
                if len(line) > _LONGEST_LINE:
                    raise CorpusError(
                        f"a line of more than {_LONGEST_LINE:,} bytes; write one sentence a line", path, number
                    )
                if size > _LONGEST_BOOK:
                    raise _too_long(path, begins)
                rows.append(utf8(line.decode(errors="surrogateescape").rstrip("\r\n"), path, number))
            except CorpusError as error:
                good, rows = False, []
                report(error)
        while len(line) > _LONGEST_LINE and not line.endswith(b"\n"):  # the rest of the line
            line = content.readline(_LONGEST_LINE + 1)


def _too_long(path: Path, line: int | None = None) -> CorpusError:
    return CorpusError(f"more than {_LONGEST_BOOK:,} bytes, longer than any book; give one book a file", path, line)


def _title(line: bytes, number: int) -> str:
    text = line.decode(errors="backslashreplace").strip()
    return text.removeprefix(TITLE).lstrip(" :").removesuffix(".txt.out") or f"book at line {number}"


def _decoded(data: bytes, path: Path) -> str:
    """Raw text: UTF-8, or the Latin alphabet of older files if nothing in it is UTF-8."""
    if len(data) > _LONGEST_BOOK:
        raise _too_long(path)
    if not data.strip():
        raise CorpusError("the file is empty; is it the right one, or was its download cut off?", path)
    if b"\0" in data:
        raise CorpusError("this is no text; give books as plain text, UTF-8", path)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        way_out = "save it as UTF-8, for example with: iconv -f LATIN1 -t UTF-8"
        if _MULTIBYTE.search(data):
            raise CorpusError(
                f"some of it is UTF-8, but not byte 0x{data[error.start]:02x}; {way_out}", path, line
            ) from None
        if _UNDEFINED.search(data):
            raise CorpusError(
                f"byte 0x{data[error.start]:02x} is neither UTF-8 nor Latin text; {way_out}", path, line
            ) from None
        return data.decode("cp1252")
