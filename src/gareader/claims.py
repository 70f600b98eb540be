"""Folders that belong to one run or sweep: its settings stand there from the beginning, and with others it ends."""

import json
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gareader.errors import TrainingError
from gareader.whole import written_whole


def write_claim(file: Path, record: object) -> None:
    """Make the folder of the file its owner's."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(file) as out:
        out.write(json.dumps(record, indent=2, ensure_ascii=False) + "\n")


def read_claim(file: Path, otherwise: str) -> dict[str, Any]:
    """What the owner of a folder wrote down; `otherwise` is said where there is nothing of the kind."""
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        record = None
    if not isinstance(record, dict):
        raise TrainingError(otherwise)
    return record


def check_same(owner: str, changed: Collection[str], way_out: str) -> None:
    """Complain where settings are other than those that the owner of something has."""
    if changed:
        raise TrainingError(f"{owner} has other settings ({', '.join(changed)}); {way_out}")


@contextmanager
def clean_unless(begun: Callable[[], bool], paths: Callable[[], Collection[Path]]) -> Iterator[None]:
    """What could not begin must not stand in the way of the next try: on an error, paths that are new are removed."""
    before = {path for path in paths() if path.exists()}
    try:
        yield
    except BaseException:
        if not begun():
            for path in {*paths()} - before:
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        raise
