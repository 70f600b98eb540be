"""The text of corpus files: UTF-8 by lines or pieces, and its words as Examples; errors have their place."""

from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BufferedReader, IncrementalNewlineDecoder
from itertools import chain
from pathlib import Path
from sys import maxsize
from typing import TypeVar

from gareader.core.errors import CorpusError, ExampleError
from gareader.core.files import LARGEST, opened
from gareader.data.examples import Example, Words
from gareader.data.text import SEPARATOR

Item = TypeVar("Item")
Question = TypeVar("Question")
Report = Callable[[CorpusError], None]
"""Takes the error of a bad example or line: raises it, or records it so that reading continues."""

_PIECE = 1 << 16
_BEGINNING = 1 << 20


@dataclass(frozen=True)
class Span:
    """A range of bytes of a file that can be read by itself."""

    start: int = 0
    end: int = maxsize
    """The position after its last byte."""
    line: int = 1
    """The number of its first line in the file."""


WHOLE = Span()


def raise_error(error: CorpusError) -> None:
    """Raise the error: the Report of a caller that takes no bad examples."""
    raise error


def spans(path: Path, beginning: bytes, size: int) -> Iterator[Span]:
    """Cut a file into spans of at least `size` bytes, after the line break in occurrences of `beginning`.

    A compressed file can only be read from its start: it is one span.
    """
    with opened(path) as content:
        if not isinstance(content, BufferedReader) or not content.seekable():
            yield WHOLE
            return
        start, line = content.tell(), 1
        while text := content.read(size):
            tail, place, searched = bytearray(), -1, 0
            while place < 0 and (more := content.read(_PIECE)):
                tail += more
                place = tail.find(beginning, searched)
                searched = max(0, len(tail) - len(beginning) + 1)
            if place >= 0:
                del tail[place + 1 :]
                content.seek(start + len(text) + len(tail))
            yield Span(start, start + len(text) + len(tail), line)
            start += len(text) + len(tail)
            line += _line_ends(text) + _line_ends(tail) - (text.endswith(b"\r") and tail.startswith(b"\n"))


def _line_ends(text: bytes | bytearray) -> int:
    import numpy as np  # counts three times as quickly as bytes.count

    feeds = int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))
    return feeds + (text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else 0)


def lines(path: Path, span: Span = WHOLE) -> Iterator[tuple[int, str]]:
    """Yield every line with its number, counted from one."""
    return enumerate(chain.from_iterable(line_lists(path, span)), span.line)


def line_lists(path: Path, span: Span = WHOLE) -> Iterator[list[str]]:
    """Yield lists of lines: a loop over a list takes a third of the time of a loop over a file."""
    rest: list[str] = []  # the pieces of a line without its end
    complete, size = span.line - 1, 0
    try:
        for piece in pieces(path, span):
            rest.append(piece)
            size += len(piece)
            if "\n" in piece:
                rows = "".join(rest).split("\n")
                rest = [rows.pop()]
                complete, size = complete + len(rows), len(rest[0])
                yield rows
            elif size > LARGEST:
                raise too_large("line", path, complete + 1)
    except CorpusError as damage:
        raise CorpusError(damage.problem, path, damage.line or complete) from None
    if last := "".join(rest):
        yield [last]


def pieces(path: Path, span: Span = WHOLE) -> Iterator[str]:
    """Yield the text in pieces of bounded size, with line feeds as newlines; `utf8` finds bytes that are not UTF-8."""
    decoder = IncrementalNewlineDecoder(getincrementaldecoder("utf-8")(errors="surrogateescape"), translate=True)
    with opened(path) as binary:
        if span.start:
            binary.seek(span.start)
        left = span.end - span.start
        # read1 returns the bytes before a damaged place; read would lose them
        while data := binary.read1(min(_PIECE, left)):
            left -= len(data)
            yield decoder.decode(data)
        yield decoder.decode(b"", final=True)


def beginning(path: Path) -> str:
    """Return the first characters, enough to recognise the format; raise CorpusError for an empty file."""
    text = ""
    try:
        for piece in pieces(path):
            text += piece
            if len(text) >= _BEGINNING:
                break
    except CorpusError:
        if not text.strip():
            raise  # otherwise reading will raise it, after the questions before the damage
    if not text.strip():
        raise CorpusError("the file is empty; is it the right one, or was its download cut off?", path)
    return text


def utf8(text: str, path: Path, line: int) -> str:
    """Return the text; raise CorpusError if part of it is not UTF-8."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            code = ord(text[error.start])
            unit = f"byte 0x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"half a character (\\u{code:04x})"
            problem = f"{unit} at column {error.start + 1} is not UTF-8; save the file as UTF-8 or mend the line"
            raise CorpusError(problem, path, line) from None
    return text


def too_large(what: str, path: Path, line: int | None = None) -> CorpusError:
    """The error for a line or a question that is larger than any real one."""
    return CorpusError(f"more than {LARGEST >> 20} MiB in one {what}; is it the right file?", path, line)


def printable_name(path: Path) -> str:
    """The file's name, with escapes for bytes that are not UTF-8."""
    return path.name.encode(errors="backslashreplace").decode()


def stem(path: Path) -> str:
    """The file's name without its ending and that of compression, for ids."""
    return Path(printable_name(path).removesuffix(".gz").removesuffix(".xz")).stem


def checked_example(
    path: Path,
    line: int,
    id: str,
    document: Words,
    query: Words,
    candidates: tuple[Words, ...],
    answer: Words | None,
    answer_line: int | None = None,
) -> Example:
    """Words from a file become an example here alone; its answer is the first equal candidate; errors name the line."""
    try:
        index = candidates.index(answer) if answer is not None else None
        return Example(id, document, query, candidates, index)
    except ValueError:
        choices = map(SEPARATOR.join, candidates)
        raise not_among(choices, SEPARATOR.join(answer or ()), path, answer_line or line) from None
    except ExampleError as error:
        raise CorpusError(str(error), path, line) from None


def not_among(candidates: Iterable[str], answer: str, path: Path, line: int) -> CorpusError:
    """The error for an answer that is no candidate; their words are separated."""
    answer, *shown = (text.replace(SEPARATOR, " ") for text in (answer, *candidates))
    problem = f"the answer {answer!r} is not among the candidates: {', '.join(shown)}"
    return CorpusError(f"{problem}; spelling and capitals count", path, line)


def good(items: Iterable[Item], parse: Callable[[Item], Question], report: Report) -> Iterator[Question]:
    """Yield the question of each item; report a bad one and continue with the next."""
    for item in items:
        try:
            question = parse(item)
        except CorpusError as bad:
            report(bad)
        else:
            yield question
