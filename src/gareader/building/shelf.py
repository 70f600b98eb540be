"""Book files: one book as raw text, or tokenised books with a sentence per line and `_BOOK_TITLE_` before each."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path

from gareader.core.errors import CorpusError
from gareader.core.files import Content, check_no_pipe, opened
from gareader.data.corpora import read, recognise
from gareader.data.corpora.files import Report, raise_error, stem, utf8
from gareader.data.examples import Words, filled
from gareader.data.text import words
from gareader.data.treebank import book_sentences

TITLE = "_BOOK_TITLE_"
"""The beginning of a line with the title of the next book in a tokenised file."""

_LONGEST_BOOK = 50_000_000
_LONGEST_LINE = 1_000_000
_ENGLISH = frozenset("the and of to a in that he was it his her with as had for you she not but".split())
_ENGLISH_SHARE = 0.08
"""The least share of these words; in English they are about a quarter, in other languages nearly none."""
_MULTIBYTE = re.compile(rb"[\xc3\xe2][\x80-\xbf]")
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # not defined in cp1252


@dataclass(frozen=True)
class Book:
    """The text of a book, and its place."""

    title: str
    text: str
    tokenised: bool
    path: Path
    line: int | None = None
    """Its first line in a file of several books."""

    def sentences(self) -> list[Words]:
        """The sentences of the story as Treebank tokens; raise CorpusError if it is not in English."""
        if self.tokenised:
            sentences = [split for row in self.text.split("\n") if (split := words(row))]
        else:
            from gareader.building.gutenberg import body

            sentences = list(book_sentences(body(self.text)))
        tokens = sum(map(len, sentences))
        english = sum(word.lower() in _ENGLISH for sentence in sentences for word in sentence)
        if tokens and english < _ENGLISH_SHARE * tokens:
            raise self.bad("this does not look like English; the rules for sentences, names and times are English ones")
        return sentences

    def bad(self, problem: str) -> CorpusError:
        return CorpusError(f"{self.title}: {problem}" if self.tokenised else problem, self.path, self.line)


def books(paths: Sequence[Path], report: Report) -> Iterator[Book]:
    """Stream the books; report a bad file or book and continue with the next."""
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
    """Yield the words of each text of a file: documents with their queries of a question file, else its books."""
    try:
        kind = recognise(path)
    except CorpusError:
        for book in books([path], raise_error):
            yield [word for sentence in book.sentences() for word in sentence]
        return
    for example in read(path, format=kind):
        yield (*example.document, *filled(example))


def _in_file(path: Path, report: Report) -> Iterator[Book]:
    with opened(path) as content:
        if content.peek(len(TITLE)).startswith(TITLE.encode()):
            yield from _tokenised(path, content, report)
        else:
            yield Book(stem(path), _decoded(content.read(_LONGEST_BOOK + 1), path), False, path)


def _tokenised(path: Path, content: Content, report: Report) -> Iterator[Book]:
    title, begins, rows, size, good = "", 0, list[str](), 0, True
    for number in count(1):
        line = content.readline(_LONGEST_LINE + 1)
        if not line or line.startswith(TITLE.encode()):
            if title and good:
                yield Book(title, "\n".join(rows), True, path, begins)
            if not line:
                return
            text = line.decode(errors="backslashreplace").strip().removeprefix(TITLE).lstrip(" :")
            title = text.removesuffix(".txt.out") or f"book at line {number}"
            begins, rows, size, good = number, [], 0, True
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


def _decoded(data: bytes, path: Path) -> str:
    """Decode raw text: UTF-8, or cp1252 for older files without any UTF-8."""
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
