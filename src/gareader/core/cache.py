"""The cache folder of this user, and in it the files whose checksums are known to be right."""

import os
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import time

SETTLED = 60.0
"""Seconds after a change of a file during which nothing is remembered: another change might not move its times."""
REMEMBERED = 24 * 3600.0
"""Seconds after which a file is verified again: a failing disk changes bytes without a trace in the times."""
_MOST = 1000


def cache() -> Path:
    """The cache folder: $GAREADER_CACHE, or gareader in the user's cache folder."""
    if chosen := os.environ.get("GAREADER_CACHE"):
        return Path(chosen)
    own = {"darwin": "Library/Caches", "win32": "AppData/Local"}.get(sys.platform, ".cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / own, "gareader")


class Verified:
    """Whether a file, as it is now, has been verified before: by any process of this user, in the last day.

    The record is an empty file, whose name is a hash of the file's identity, size and times; a change of the file gives
    another name. Without a cache folder that can be written nothing is remembered, and nothing else happens.
    """

    def __init__(self, file: Path | int, checksum: str = "") -> None:
        """`file` is a path or an open descriptor, `checksum` the one it should have, unless that is in the file."""
        info = os.fstat(file) if isinstance(file, int) else file.stat()
        identity = info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns, checksum
        self._name = sha256(repr(identity).encode()).hexdigest()
        self._settled = time() - max(info.st_mtime, info.st_ctime) > SETTLED

    def __bool__(self) -> bool:
        with suppress(OSError, RuntimeError):  # no record, or no home folder
            return self._settled and 0 <= time() - (_folder() / self._name).stat().st_mtime < REMEMBERED
        return False

    def remember(self) -> None:
        """Record that the file had the right checksum."""
        if not self._settled:
            return
        with suppress(OSError, RuntimeError):
            folder = _folder()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            records = sorted((record.stat().st_mtime, record) for record in folder.iterdir())
            for number, (written, record) in enumerate(reversed(records), 1):
                if number >= _MOST or not 0 <= time() - written < REMEMBERED:
                    record.unlink(missing_ok=True)
            (folder / self._name).touch(mode=0o600)


def _folder() -> Path:
    return cache() / "verified"
