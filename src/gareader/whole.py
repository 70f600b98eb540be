"""Folders written whole or not at all: what is there under a name is complete, whatever happened to its writer."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which takes the place of `path` only when it is complete and on the disk."""
    new = path.with_name(f".{path.name}.new")
    shutil.rmtree(new, ignore_errors=True)  # of a process that was killed while it wrote
    new.mkdir(parents=True)
    try:
        yield new
        mode = new.stat().st_mode & 0o666
        for file in new.rglob("*"):
            if file.is_file():
                file.chmod(mode)  # safetensors lets only the owner read
                with file.open("rb") as stream:
                    os.fsync(stream.fileno())
        _replace(new, path)
    finally:
        shutil.rmtree(new, ignore_errors=True)


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
