"""A model's folder as one file: written with the same bytes for the same model, unpacked with a stranger's in mind."""

import gzip
import lzma
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from zlib import error as ZlibError  # noqa: N812

from gareader.core.errors import ModelError
from gareader.core.files import Content, open_regular, uncompressed
from gareader.trained.folder import NAME, READER_JSON, SUMMED
from gareader.trained.remote import too_large

CARD = "README.md"
"""The file of a model's card, where hubs look for it."""
CHECKSUM = ".sha256"
"""The ending of the file with the checksum of the file beside it."""
FILES = frozenset([READER_JSON, *SUMMED, CARD, READER_JSON + CHECKSUM])
"""All files that a model's folder may have."""
ENTRIES = 1000
"""The most files and folders of an archive."""
_TOP = "model"  # a name of its own would change the bytes
_DEPTH = 3  # model/member/file
_BLOCK = tarfile.BLOCKSIZE
_PIECE = 1 << 18
_NOTES = frozenset([tarfile.XHDTYPE, tarfile.XGLTYPE])
_NOTE_BYTES = 1 << 16


def files_inside(folder: Path) -> list[Path]:
    """All files of a folder and of the folders in it, in a fixed order."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def write(folder: Path, out: Path, name: str) -> None:
    """Write the files of a folder as an archive of that name: no time, owner or order of this machine is in it."""
    with ExitStack() as stack:
        raw = stack.enter_context(out.open("wb"))
        file: Any
        if name.endswith(".gz"):
            file = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
        else:
            file = stack.enter_context(lzma.LZMAFile(raw, "wb"))
        archive = stack.enter_context(tarfile.open(fileobj=file, mode="w|", format=tarfile.USTAR_FORMAT))
        for path in files_inside(folder):
            entry = tarfile.TarInfo(f"{_TOP}/{path.relative_to(folder).as_posix()}")
            entry.size, entry.mode = path.stat().st_size, 0o644
            with path.open("rb") as content:
                archive.addfile(entry, content)


def unpack(path: Path, out: Path, limit: int, source: object) -> Path:
    """Unpack a stranger's archive to an empty folder; return the folder of the model in it.

    Only regular files with the names of a model's files are written, at most `limit` bytes in all; anything else in the
    archive is an error. tarfile's own reader is not used: an archive can make it take any memory.
    """
    try:
        with open_regular(path) as raw, uncompressed(raw) as content:
            if isinstance(content, BufferedReader) and content is raw:
                raise refused(source, "this is no .tar.xz or .tar.gz file")
            for entry in _entries(content, source):
                _extract(entry, content, out, limit, source)
                limit -= entry.size
    except (EOFError, ZlibError, lzma.LZMAError, tarfile.HeaderError, UnicodeDecodeError) as error:
        raise refused(source, f"damaged or cut off ({error})") from None
    except OSError as error:
        raise refused(source, f"cannot be unpacked ({error.strerror or error})") from None
    if (out / READER_JSON).is_file():
        return out
    folders = list(out.iterdir())
    if len(folders) != 1 or not (folders[0] / READER_JSON).is_file():
        raise refused(source, f"it is not of one folder with a {READER_JSON}")
    return folders[0]


def refused(source: object, problem: str) -> ModelError:
    """The error for an archive that is none of a model."""
    return ModelError(f"{source}: {problem}; write archives of models with: gareader push MODEL ADDRESS")


def _entries(content: Content, source: object) -> Iterator[tarfile.TarInfo]:
    """The regular files of the archive; the reader of an entry leaves `content` behind its bytes."""
    for _ in range(ENTRIES):
        block = _exactly(content, _BLOCK)
        if not block.strip(b"\0"):
            return
        entry = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        if entry.size < 0:
            raise refused(source, f"{entry.name!r} has a size below zero")
        if entry.type in _NOTES and entry.size <= _NOTE_BYTES:  # of times, or a name that is none of ours
            _exactly(content, -entry.size // _BLOCK * -_BLOCK)
        elif entry.isdir() and not entry.size:
            _checked(entry.name, source)
        elif entry.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
            yield entry
            _exactly(content, -entry.size % _BLOCK)
        else:
            raise refused(source, f"{entry.name!r} is a link, a device or something else that is no file")
    raise refused(source, f"it has more than {ENTRIES} files and folders")


def _exactly(content: Content, size: int) -> bytes:
    data = content.read(size)
    if len(data) < size:
        raise EOFError("it ends in the middle of a file")
    return data


def _checked(name: str, source: object) -> tuple[str, ...]:
    """The parts of a path of plain names, none of which leads out of the folder."""
    parts = tuple(part for part in PurePosixPath(name).parts if part != ".")
    if len(parts) > _DEPTH or not all(NAME.fullmatch(part) for part in parts):
        raise refused(source, f"{name!r} is no place for a file of a model")
    return parts


def _extract(entry: tarfile.TarInfo, content: Content, out: Path, limit: int, source: object) -> None:
    parts = _checked(entry.name, source)
    if not parts or parts[-1] not in FILES:
        raise refused(source, f"{entry.name!r} is no file of a model")
    if entry.size > limit:
        raise too_large(source, "unpacked it has")
    path = out.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        file: BinaryIO = path.open("xb")
    except FileExistsError:
        raise refused(source, f"{entry.name!r} is there twice") from None
    with file:
        file.writelines(_exactly(content, min(_PIECE, entry.size - start)) for start in range(0, entry.size, _PIECE))
