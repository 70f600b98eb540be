"""Files: plain, gzip or xz, recognised by their content; what a stranger's file can cost is bounded."""

import errno
import os
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import GzipFile
from io import BufferedReader, RawIOBase
from lzma import LZMADecompressor, LZMAError
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any

from gareader.core.errors import CorpusError
from gareader.core.presets import located

Content = BufferedReader | GzipFile

LARGEST = 16 << 20
"""The most characters of a line or a question, and the most bytes of a text or a file of settings: 16 MiB."""
_XZ_MEMORY = 128 << 20  # xz -9 takes 65 MiB to unpack; a file may ask for 4 GiB
_PIECE = 1 << 16

STDIN = Path("/dev/stdin")
"""Standard input. It is read through its descriptor: to open this path fails for a socket and rewinds a file."""

_OTHER_KINDS = {
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"BZh": "compressed with bzip2; unpack it first (plain, .gz and .xz files are read directly)",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it first (plain, .gz and .xz files are read directly)",
    b"\xff\xfe\0\0": "UTF-32 text; save it as UTF-8, for example with: iconv -f UTF-32 -t UTF-8",
    b"\0\0\xfe\xff": "UTF-32 text; save it as UTF-8, for example with: iconv -f UTF-32 -t UTF-8",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8, for example with: iconv -f UTF-16 -t UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8, for example with: iconv -f UTF-16 -t UTF-8",
}
_TAR_MARK = slice(257, 262)  # "ustar" stands there in the first block of every tar archive
_DAMAGE = (EOFError, zlib.error, LZMAError, OSError)  # the exceptions of reading a damaged file


def open_regular(path: Path) -> BufferedReader:
    """Open a file; raise OSError for a pipe, a device or a socket, which may never end, unless it is open already."""
    path = located(path)
    mode = path.stat().st_mode
    if not (S_ISREG(mode) or S_ISDIR(mode) or path == STDIN or path.is_relative_to("/dev/fd")):
        raise OSError(errno.EINVAL, "this is a pipe or a device and no file; copy its content to one", str(path))
    return path.open("rb")


def read_small(path: Path) -> bytes:
    """Return the content of a file of settings or records; raise OSError if it is larger than LARGEST."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size or LARGEST  # that of a pipe is 0
        content = file.read(min(size, LARGEST) + 1)
    if len(content) > LARGEST:
        raise OSError(errno.EFBIG, f"more than {LARGEST >> 20} MiB; is it the right file?", str(path))
    return content


@contextmanager
def opened(path: Path, error: type[CorpusError] = CorpusError) -> Iterator[Content]:
    """Open a file, decompressed and without its byte order mark; raise `error` if that fails, or reading it does."""
    try:
        raw = open(0, "rb", closefd=False) if path == STDIN else open_regular(path)  # noqa: SIM115
    except FileNotFoundError:
        raise error("there is no such file or folder; check the path", path) from None
    except IsADirectoryError:
        raise error("this is a folder; name one of its files", path) from None
    except OSError as problem:
        way_out = "" if problem.errno == errno.EINVAL else "; check who may read it"
        raise error(f"cannot be opened ({problem.strerror}){way_out}", path) from None
    with raw:
        try:
            content = uncompressed(raw)
            head = content.peek(512)
            for mark, kind in _OTHER_KINDS.items():
                if head.startswith(mark):
                    raise error(f"this is {kind}", path)
            if head[_TAR_MARK] == b"ustar":
                raise error("this is a tar archive; unpack it first (tar xf) and name the folder it makes", path)
            if b"\0" in head[:2]:
                raise error("this is no text, or UTF-16 text without its mark; save it as UTF-8", path)
            if head.startswith(BOM_UTF8):
                content.read(len(BOM_UTF8))
            with content:
                yield content
        except _DAMAGE as problem:
            raise _damaged(problem, path, error) from None


def uncompressed(raw: BufferedReader) -> Content:
    """The content of a gzip or xz file, or of any other as it is."""
    magic = raw.peek(6)
    if magic.startswith(b"\x1f\x8b"):
        return GzipFile(fileobj=raw)
    if magic.startswith(b"\xfd7zXZ\x00"):
        return BufferedReader(_Xz(raw), _PIECE)
    return raw


class _Xz(RawIOBase):
    """The content of an xz file, as LZMAFile reads it, within a bound on memory, which LZMAFile does not have."""

    def __init__(self, raw: BufferedReader) -> None:
        self.raw = raw
        self.decoder = LZMADecompressor(memlimit=_XZ_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer; return the number of bytes, 0 at the end."""
        data = b""
        while not data:
            packed = b""
            if self.decoder.eof:
                packed = self.decoder.unused_data
                while not (packed := packed.lstrip(b"\0")):  # zeros may be between the streams of a file
                    if not (packed := self.raw.read(_PIECE)):
                        return 0
                self.decoder = LZMADecompressor(memlimit=_XZ_MEMORY)
            elif self.decoder.needs_input and not (packed := self.raw.read(_PIECE)):
                raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            data = self.decoder.decompress(packed, len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _damaged(problem: BaseException, path: Path, error: type[CorpusError]) -> CorpusError:
    if "Memory usage limit" in str(problem):
        limit = f"to unpack this takes more than {_XZ_MEMORY >> 20} MiB of memory"
        return error(f"{limit}; unpack it yourself, if you trust it: unxz", path)
    way_out = "get the file again, or unpack what is left of it and read that"
    return error(f"damaged or cut off here ({problem}); {way_out}", path)


def check_no_pipe(path: Path) -> None:
    """Raise CorpusError for a pipe, which cannot be read twice."""
    if path.is_fifo():
        raise CorpusError("this is a pipe, and a corpus is read more than once; write it to a file first", path)
