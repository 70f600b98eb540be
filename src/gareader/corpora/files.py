"""The text of corpus files: UTF-8 by lines or pieces, and what is not UTF-8 with its place."""

from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedReader, IncrementalNewlineDecoder
from itertools import chain
from pathlib import Path
from sys import maxsize

from gareader.errors import CorpusError
from gareader.files import DAMAGE, damaged, opened

Report = Callable[[CorpusError], None]
"""What to do with something bad: raise it, or note it and go on."""

_PIECE = 1 << 16
_BEGINNING = 1 << 20


@dataclass(frozen=True)
class Span:
    """A stretch of a file that can be read by itself."""

    start: int = 0
    end: int = maxsize
    """The byte after its last."""
    line: int = 1
    """The number of its first line in the file."""


WHOLE = Span()


def spans(path: Path, beginning: bytes, size: int) -> Iterator[Span]:
    """The file in stretches of at least so many bytes, cut where a line break is followed as in `beginning`.

    A compressed file can only be read from its start: it is one stretch.
    """
    with opened(path) as content:
        if not isinstance(content, BufferedReader):
            yield WHOLE
            return
        start, line, rest = content.tell(), 1, bytearray()
        while text := rest + content.read(size):
            searched = size
            while (place := text.find(beginning, searched)) < 0 and (more := content.read(_PIECE)):
                searched = max(size, len(text) - len(beginning) + 1)
                text += more
            text, rest = (text, bytearray()) if place < 0 else (text[: place + 1], text[place + 1 :])
            yield Span(start, start + len(text), line)
            start += len(text)
            line += text.count(b"\n") + (text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else 0)


def lines(path: Path, span: Span = WHOLE) -> Iterator[tuple[int, str]]:
    """Every line with its number, counted from one."""
    return enumerate(chain.from_iterable(line_lists(path, span)), span.line)


def line_lists(path: Path, span: Span = WHOLE) -> Iterator[list[str]]:
    """The lines, many at a time: a loop over a list costs a third of a loop over a file."""
    rest: list[str] = []  # of a line whose end is still to come
    complete = span.line - 1
    try:
        for piece in pieces(path, span):
            rest.append(piece)
            if "\n" in piece:
                rows = "".join(rest).split("\n")
                rest = [rows.pop()]
                complete += len(rows)
                yield rows
    except CorpusError as damage:
        raise CorpusError(damage.problem, path, complete) from None
    if last := "".join(rest):
        yield [last]


def pieces(path: Path, span: Span = WHOLE) -> Iterator[str]:
    """The text in pieces of bounded size, newlines alike; bytes that are no UTF-8 are left for `utf8` to find."""
    decoder = IncrementalNewlineDecoder(getincrementaldecoder("utf-8")(errors="surrogateescape"), translate=True)
    with opened(path) as binary:
        try:
            if span.start:
                binary.seek(span.start)
            left = span.end - span.start
            # read1 hands over what there is, so that nothing before a damaged place is lost
            while data := binary.read1(min(_PIECE, left)):
                left -= len(data)
                yield decoder.decode(data)
        except DAMAGE as error:
            raise damaged(error, path) from None
        yield decoder.decode(b"", final=True)


def beginning(path: Path) -> str:
    """The first characters, enough to tell the format; a file without any is an error."""
    text = ""
    try:
        for piece in pieces(path):
            text += piece
            if len(text) >= _BEGINNING:
                break
    except CorpusError:
        if not text.strip():
            raise  # otherwise the format's reader will tell, after the questions before the damage
    if not text.strip():
        raise CorpusError("the file is empty; is it the right one, or was its download cut off?", path)
    return text


def utf8(text: str, path: Path, line: int) -> str:
    """The text, if it holds only whole characters."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            sign = ord(text[error.start])
            what = f"byte 0x{sign - 0xDC00:02x}" if 0xDC80 <= sign <= 0xDCFF else f"half a character (\\u{sign:04x})"
            problem = f"{what} at column {error.start + 1} is not UTF-8; save the file as UTF-8 or mend the line"
            raise CorpusError(problem, path, line) from None
    return text


def file_name(path: Path) -> str:
    """The file's name, always text that can be written."""
    return path.name.encode(errors="backslashreplace").decode()


def stem(path: Path) -> str:
    """The same without kind and compression, for ids."""
    return Path(file_name(path).removesuffix(".gz").removesuffix(".xz")).stem
