"""Folders that belong to one run or sweep, whose settings a file there records; other settings are refused."""

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
