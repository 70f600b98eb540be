"""Files and folders written whole or not at all: what is there under a name is complete, whatever befell its writer."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4

from gareader.errors import GareaderError


def check_folder(path: Path) -> None:
    """Complain if there is no folder for the file; to be asked before long work."""
    if not path.parent.is_dir():
        raise GareaderError(f"{path}: there is no folder {path.parent}; type: mkdir -p {path.parent}")


@contextmanager
def whole_file(path: Path, *, sole: bool = False, sync: bool = True) -> Iterator[Path]:
    """A file to fill, which appears under its name only when it is complete; an error leaves what was there before.

    `sole`: no other process writes it, so what a killed one left is overwritten. Without `sync` a power cut may still
    leave it short, which is right for what can be made again.
    """
    check_folder(path)
    if path.exists() and not path.is_file():  # /dev/null, or a pipe
        yield path
        return
    new = _beside(path, sole)
    try:
        new.touch(exist_ok=sole)
        mode = new.stat().st_mode
        yield new
        _settle(new, mode, sync)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


@contextmanager
def written_whole(path: Path) -> Iterator[IO[str]]:
    """The same for text: a file that is open to write lines to."""
    with whole_file(path) as new, new.open("w", encoding="utf-8", newline="\n") as file:
        yield file


@contextmanager
def whole_folder(path: Path, *, sole: bool = False, sync: bool = True) -> Iterator[Path]:
    """A folder to fill, which appears under its name only when it is complete; an error leaves what was there before.

    Its place must be free, or an empty folder. `sole`: no other process writes it, so what is there is replaced, and
    what a killed process left is cleared away. `sync` as for a file.
    """
    new = _beside(path, sole)
    if sole:
        shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        yield new
        if sync:
            mode = new.stat().st_mode & 0o666
            for file in filter(Path.is_file, new.rglob("*")):
                _settle(file, mode, sync)
        if sole:
            _replace(new, path)
        else:
            new.rename(path)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _beside(path: Path, sole: bool) -> Path:
    return path.with_name(f".{path.name}.{'new' if sole else uuid4().hex}")


def _settle(file: Path, mode: int, sync: bool) -> None:
    """Who may read the file is as the umask says, where safetensors lets only the owner; and it is on the disk."""
    file.chmod(mode)
    if sync:
        with file.open("rb") as stream:
            os.fsync(stream.fileno())


def _replace(new: Path, folder: Path) -> None:
    """Put `new` in the place of `folder`; after a crash between the two renames `recover_folder` mends it."""
    old = _aside(folder)
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
    """Bring back what `whole_folder` had put aside, if it never came to the second rename."""
    old = _aside(folder)
    if old.exists() and not folder.exists():
        old.rename(folder)


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")
