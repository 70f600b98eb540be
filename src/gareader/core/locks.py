"""Locks of folders, so that two processes do not write to one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gareader.core.errors import TrainingError


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
