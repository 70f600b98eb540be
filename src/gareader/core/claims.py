"""Folders that belong to one run or sweep: their locks, and a file with the owner's settings; others are refused."""

import json
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gareader.core.errors import TrainingError
from gareader.core.files import read_small
from gareader.core.parsing import json_object
from gareader.core.whole import written_whole


@contextmanager
def locked(lock: Path, busy: str) -> Iterator[None]:
    """Hold a lock file; raise TrainingError with `busy` if another process holds it.

    The system releases the lock when its process ends, even if it is killed.
    """
    from filelock import FileLock, Timeout  # the small installation has no need of it

    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(lock, timeout=0):
            try:
                yield
            finally:
                lock.unlink(missing_ok=True)  # a process that has opened it meanwhile sees that it is deleted
    except Timeout:
        raise TrainingError(f"{lock.parent}: {busy}") from None


def is_locked(lock: Path) -> bool:
    """Whether a process holds the lock."""
    if not lock.exists():
        return False
    try:
        with locked(lock, ""):
            return False
    except TrainingError:
        return True


def write_claim(file: Path, record: object) -> None:
    """Write the owner's record to `file`, and make its folder if need be."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(file) as out:
        out.write(json.dumps(record, indent=2, ensure_ascii=False) + "\n")


def read_claim(file: Path, problem: str) -> dict[str, Any]:
    """Return the owner's record; raise TrainingError with `problem` if there is none."""
    try:
        return json_object(read_small(file))
    except (OSError, ValueError):
        raise TrainingError(problem) from None


def check_same(owner: str, changed: Collection[str], way_out: str) -> None:
    """Raise TrainingError if any setting differs from the owner's."""
    if changed:
        raise TrainingError(f"{owner} has other settings ({', '.join(changed)}); {way_out}")


@contextmanager
def clean_unless(begun: Callable[[], bool], paths: Callable[[], Collection[Path]]) -> Iterator[None]:
    """On an error before the work has begun, remove the new paths, so that they do not block the next attempt."""
    before = {path for path in paths() if path.exists()}
    try:
        yield
    except BaseException:
        if not begun():
            for path in {*paths()} - before:
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        raise
