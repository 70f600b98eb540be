"""Files: plain, gzip or xz, recognised by their content."""

import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import GzipFile
from io import BufferedReader
from lzma import LZMAError, LZMAFile
from pathlib import Path

from gareader.core.errors import CorpusError

Content = BufferedReader | GzipFile | LZMAFile

STDIN = Path("/dev/stdin")
"""Standard input. It is read through its descriptor: to open this path fails for a socket and rewinds a file."""

_OTHER_KINDS = {
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"BZh": "compressed with bzip2; unpack it first (plain, .gz and .xz files are read directly)",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it first (plain, .gz and .xz files are read directly)",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8, for example with: iconv -f UTF-16 -t UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8, for example with: iconv -f UTF-16 -t UTF-8",
}
_TAR_MARK = slice(257, 262)  # "ustar" stands there in the first block of every tar archive
DAMAGE = (EOFError, zlib.error, LZMAError, OSError)
"""The exceptions of reading a damaged file."""


@contextmanager
def opened(path: Path, error: type[CorpusError] = CorpusError) -> Iterator[Content]:
    """Open a file, decompressed and without its byte order mark; raise `error` if that fails."""
    try:
        raw = open(0, "rb", closefd=False) if path == STDIN else path.open("rb")  # noqa: SIM115
    except FileNotFoundError:
        raise error("there is no such file or folder; check the path", path) from None
    except IsADirectoryError:
        raise error("this is a folder; name one of its files", path) from None
    except OSError as problem:
        raise error(f"cannot be opened ({problem.strerror}); check who may read it", path) from None
    with raw, _uncompressed(raw) as content:
        try:
            head = content.peek(512)
        except DAMAGE as problem:
            raise damaged(problem, path, error) from None
        for mark, kind in _OTHER_KINDS.items():
            if head.startswith(mark):
                raise error(f"this is {kind}", path)
        if head[_TAR_MARK] == b"ustar":
            raise error("this is a tar archive; unpack it first (tar xf) and name the folder it makes", path)
        if head.startswith(BOM_UTF8):
            content.read(len(BOM_UTF8))
        yield content


def _uncompressed(raw: BufferedReader) -> Content:
    magic = raw.peek(6)
    if magic.startswith(b"\x1f\x8b"):
        return GzipFile(fileobj=raw)
    if magic.startswith(b"\xfd7zXZ\x00"):
        return LZMAFile(raw)
    return raw


def damaged(problem: BaseException, path: Path, error: type[CorpusError] = CorpusError) -> CorpusError:
    """Return the `error` for an exception of reading."""
    way_out = "get the file again, or unpack what is left of it and read that"
    return error(f"damaged or cut off here ({problem}); {way_out}", path)


def check_no_pipe(path: Path) -> None:
    """Raise CorpusError for a pipe, which cannot be read twice."""
    if path.is_fifo():
        raise CorpusError("this is a pipe, and a corpus is read more than once; write it to a file first", path)
