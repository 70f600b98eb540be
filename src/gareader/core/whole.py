"""Files and folders written whole or not at all: under its name, each is complete even if its writer was killed."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4

from gareader.core.errors import GareaderError


def check_folder(path: Path) -> None:
    """Raise GareaderError if the folder of the file is missing; call this before long work."""
    if not path.parent.is_dir():
        raise GareaderError(f"{path}: there is no folder {path.parent}; type: mkdir -p {path.parent}")


@contextmanager
def whole_file(path: Path, *, sole: bool = False, sync: bool = True) -> Iterator[Path]:
    """Yield a temporary file to fill, and rename it to `path` at the end; an error leaves the old file in place.

    `sole`: no other process writes this file, so the temporary file of a killed one is overwritten. Without `sync` a
    power cut may leave the file truncated, which is acceptable for data that can be made again.
    """
    check_folder(path)
    if path.exists() and not path.is_file():  # /dev/null, or a pipe
        yield path
        return
    new = _temporary(path, sole)
    try:
        new.touch(exist_ok=sole)
        mode = new.stat().st_mode
        yield new
        _finish(new, mode, sync)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


@contextmanager
def written_whole(path: Path) -> Iterator[IO[str]]:
    """Yield an open text file, which is renamed to `path` at the end."""
    with whole_file(path) as new, new.open("w", encoding="utf-8", newline="\n") as file:
        yield file


@contextmanager
def whole_folder(path: Path, *, sole: bool = False, sync: bool = True) -> Iterator[Path]:
    """Yield a temporary folder to fill, and rename it to `path` at the end; an error leaves the old folder in place.

    `path` must not exist, or be an empty folder. `sole`: no other process writes this folder, so an old one is
    replaced, and the temporary folder of a killed process is removed. `sync` as for a file.
    """
    new = _temporary(path, sole)
    if sole:
        shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        yield new
        if sync:
            mode = new.stat().st_mode & 0o666
            for file in filter(Path.is_file, new.rglob("*")):
                _finish(file, mode, sync)
        if sole:
            _replace(new, path)
        else:
            new.rename(path)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _temporary(path: Path, sole: bool) -> Path:
    return path.with_name(f".{path.name}.{'new' if sole else uuid4().hex}")


def _finish(file: Path, mode: int, sync: bool) -> None:
    """Give the file the umask's permissions, since safetensors gives the owner's alone; flush it to the disk."""
    file.chmod(mode)
    if sync:
        with file.open("rb") as stream:
            os.fsync(stream.fileno())


def _replace(new: Path, folder: Path) -> None:
    """Replace `folder` by `new`; `recover_folder` repairs a crash between the two renames."""
    old = _backup(folder)
    try:
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)
            folder.rename(old)
        new.rename(folder)
    except BaseException:
        recover_folder(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def recover_folder(folder: Path) -> None:
    """Restore the old folder if `whole_folder` crashed between its two renames."""
    old = _backup(folder)
    if old.exists() and not folder.exists():
        old.rename(folder)


def _backup(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")
