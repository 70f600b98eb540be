"""Results of a study: a line for every finished trial, never written twice."""

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
    """Of validation and test the report on the reader."""
    settings: dict[str, Any] | None
    """All settings of the run; None for a baseline."""
    parameters: int = 0
    """Weights that training changed."""
    updates: int = 0
    """Of the reader that was kept."""
    minutes: float = 0.0
    """Of training."""


def read_results(folder: Path) -> dict[str, Result]:
    """The results so far, by their keys; a line that a crash cut off at the end is passed over."""
    path = folder / RESULTS
    if not path.exists():
        return {}
    found = {}
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            result = Result(**json.loads(line))
        except (ValueError, TypeError) as error:
            if number == len(lines):
                break  # not yet ended by a newline: it was being written
            problem = f"no result of a study ({error}); remove the line, and the trial is done again"
            raise CorpusError(problem, path, number) from None
        found[result.key] = result
    return found


def append_result(folder: Path, result: Result) -> None:
    """Add a line, on the disk before anything else happens; what a crash left of an earlier one is cut off first."""
    path = folder / RESULTS
    with path.open("ab+") as file:
        file.seek(0)
        whole = file.read().rfind(b"\n") + 1
        file.truncate(whole)
        file.write(json.dumps(asdict(result), ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
