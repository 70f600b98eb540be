"""Corpus files: plain, gzip or xz, told apart by their content; UTF-8 text by lines or pieces; damage with place."""

import zlib
from codecs import BOM_UTF8, getincrementaldecoder
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from gzip import GzipFile
from io import BufferedReader, IncrementalNewlineDecoder
from itertools import chain
from lzma import LZMAError, LZMAFile
from pathlib import Path

from gareader.errors import CorpusError

Report = Callable[[CorpusError], None]
"""What to do with something bad: raise it, or note it and go on."""

_Content = BufferedReader | GzipFile | LZMAFile

_OTHER_KINDS = {
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"BZh": "compressed with bzip2; unpack it first (plain, .gz and .xz files are read directly)",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it first (plain, .gz and .xz files are read directly)",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8, for example with: iconv -f UTF-16 -t UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8, for example with: iconv -f UTF-16 -t UTF-8",
}
_TAR_MARK = slice(257, 262)  # "ustar" stands there in the first block of every tar archive
_DAMAGE = (EOFError, zlib.error, LZMAError, OSError)
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
    with _opened(path) as binary:
        try:
            # read1 hands over what there is, so that nothing before a damaged place is lost
            while data := binary.read1(_PIECE):
                yield decoder.decode(data)
        except _DAMAGE as error:
            raise _damaged(error, path) from None
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


@contextmanager
def _opened(path: Path) -> Iterator[_Content]:
    """The file's content, uncompressed and without a byte order mark."""
    try:
        raw = path.open("rb")
    except FileNotFoundError:
        raise CorpusError("there is no such file or folder; check the path", path) from None
    except IsADirectoryError:
        raise CorpusError("this is a folder; name one of its files", path) from None
    except OSError as error:
        raise CorpusError(f"cannot be opened ({error.strerror}); check who may read it", path) from None
    with raw, _uncompressed(raw) as content:
        try:
            head = content.peek(512)
        except _DAMAGE as error:
            raise _damaged(error, path) from None
        for mark, kind in _OTHER_KINDS.items():
            if head.startswith(mark):
                raise CorpusError(f"this is {kind}", path)
        if head[_TAR_MARK] == b"ustar":
            raise CorpusError("this is a tar archive; unpack it first (tar xf) and name the folder it makes", path)
        if head.startswith(BOM_UTF8):
            content.read(len(BOM_UTF8))
        yield content


def _uncompressed(raw: BufferedReader) -> _Content:
    magic = raw.peek(6)
    if magic.startswith(b"\x1f\x8b"):
        return GzipFile(fileobj=raw)
    if magic.startswith(b"\xfd7zXZ\x00"):
        return LZMAFile(raw)
    return raw


def _damaged(error: BaseException, path: Path) -> CorpusError:
    problem = f"damaged or cut off here ({error}); get the file again, or unpack what is left of it and read that"
    return CorpusError(problem, path)
