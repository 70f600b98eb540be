"""Results of a study: a line for every finished trial; where a trial has two, the later one counts."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gareader.errors import CorpusError

RESULTS = "results.jsonl"


@dataclass(frozen=True)
class Result:
    """What a trial found."""

    key: str
    row: str
    corpus: str
    fraction: float
    seed: int
    parts: dict[str, dict[str, Any]]
    """Of validation and test the file and the report on the reader."""
    settings: dict[str, Any] | None
    """All settings of the run; None for a baseline."""
    parameters: int = 0
    """Weights that training changed."""
    updates: int = 0
    """Of the reader that was kept."""
    examples: int = 0
    """Training questions read until the end, each as often as it was read."""
    minutes: float = 0.0
    """Of training."""
    baseline: str | None = None
    """None for a reader."""


def read_results(folder: Path) -> dict[str, Result]:
    """The results so far, by their keys; a line that a crash cut off at the end is passed over."""
    path = folder / RESULTS
    if not path.exists():
        return {}
    found = {}
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            result = _parsed(line)
        except (ValueError, TypeError) as error:
            if number == len(lines):
                break  # not yet ended by a newline: it was being written
            problem = f"no result of a study ({error}); remove the line, and the trial is done again"
            raise CorpusError(problem, path, number) from None
        found[result.key] = result
    return found


def append_result(folder: Path, result: Result) -> None:
    """Add a line, on the disk before anything else happens.

    What a crash left of an earlier one is cut off first, unless only its newline is missing.
    """
    path = folder / RESULTS
    with path.open("ab+") as file:
        file.seek(0)
        text = file.read()
        whole = text.rfind(b"\n") + 1
        try:
            _parsed(text[whole:])
            file.write(b"\n")
        except (ValueError, TypeError):
            file.truncate(whole)
        file.write(json.dumps(asdict(result), ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _parsed(line: bytes) -> Result:
    return Result(**json.loads(line))
