"""Files: plain, gzip or xz read alike, told apart by their content; and locks."""

import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import GzipFile
from io import BufferedReader
from lzma import LZMAError, LZMAFile
from pathlib import Path

from filelock import FileLock, Timeout

from gareader.errors import CorpusError, TrainingError

Content = BufferedReader | GzipFile | LZMAFile

STDIN = Path("/dev/stdin")
"""Standard input, read through its descriptor: opened by this name, not every one can be, and one begins anew."""

_OTHER_KINDS = {
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"BZh": "compressed with bzip2; unpack it first (plain, .gz and .xz files are read directly)",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it first (plain, .gz and .xz files are read directly)",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8, for example with: iconv -f UTF-16 -t UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8, for example with: iconv -f UTF-16 -t UTF-8",
}
_TAR_MARK = slice(257, 262)  # "ustar" stands there in the first block of every tar archive
DAMAGE = (EOFError, zlib.error, LZMAError, OSError)
"""What reading a damaged file may raise."""


@contextmanager
def opened(path: Path, error: type[CorpusError] = CorpusError) -> Iterator[Content]:
    """The file's content, uncompressed and without a byte order mark; what cannot be opened is an `error`."""
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
    """The `error` for what reading raised."""
    way_out = "get the file again, or unpack what is left of it and read that"
    return error(f"damaged or cut off here ({problem}); {way_out}", path)


def check_no_pipe(path: Path) -> None:
    """Complain about a pipe, where a file is read more than once."""
    if path.is_fifo():
        raise CorpusError("this is a pipe, and a corpus is read more than once; write it to a file first", path)


@contextmanager
def held(lock: Path, busy: str) -> Iterator[None]:
    """Meanwhile no other process holds this lock; `busy` is said if one does.

    The system gives a lock back when its process ends, however it ends.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(lock, timeout=0):
            try:
                yield
            finally:
                lock.unlink(missing_ok=True)  # whoever has opened it meanwhile sees that it is gone
    except Timeout:
        raise TrainingError(f"{lock.parent}: {busy}") from None
