"""The text of corpus files: UTF-8 by lines or pieces, and what is not UTF-8 with its place."""

from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from io import IncrementalNewlineDecoder
from itertools import chain
from pathlib import Path

from gareader.errors import CorpusError
from gareader.files import DAMAGE, damaged, opened

Report = Callable[[CorpusError], None]
"""What to do with something bad: raise it, or note it and go on."""

_PIECE = 1 << 16
_BEGINNING = 1 << 20


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Every line with its number, counted from one."""
    return enumerate(chain.from_iterable(line_lists(path)), 1)


def line_lists(path: Path) -> Iterator[list[str]]:
    """The lines, many at a time: a loop over a list costs a third of a loop over a file."""
    rest: list[str] = []  # of a line whose end is still to come
    complete = 0
    try:
        for piece in pieces(path):
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


def pieces(path: Path) -> Iterator[str]:
    """The text in pieces of bounded size, newlines alike; bytes that are no UTF-8 are left for `utf8` to find."""
    decoder = IncrementalNewlineDecoder(getincrementaldecoder("utf-8")(errors="surrogateescape"), translate=True)
    with opened(path) as binary:
        try:
            # read1 hands over what there is, so that nothing before a damaged place is lost
            while data := binary.read1(_PIECE):
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


def stem(path: Path) -> str:
    """The file's name without its kind and compression, for ids; always text that can be written."""
    name = path.name.removesuffix(".gz").removesuffix(".xz")
    return Path(name).stem.encode(errors="backslashreplace").decode()
