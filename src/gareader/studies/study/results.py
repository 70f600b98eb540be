"""Results of a study: one line of JSON for every finished trial; the later of two lines of a trial counts."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gareader.core.config import Settings, from_table
from gareader.core.errors import ConfigError, CorpusError
from gareader.core.files import open_regular
from gareader.core.parsing import json_object

RESULTS = "results.jsonl"
_NO_RESULT = (ConfigError, ValueError, TypeError, LookupError)


@dataclass(frozen=True)
class Result(Settings):
    key: str
    row: str
    corpus: str
    fraction: float
    seed: int
    splits: dict[str, dict[str, Any]]
    """The file and the report of validation and test; the key in JSON is `parts`."""
    settings: dict[str, Any] | None
    """All settings of the run; None for a baseline."""
    parameters: int = 0
    """Number of trained weights."""
    updates: int = 0
    """Updates of the best model."""
    examples: int = 0
    """Training questions read in all epochs together."""
    minutes: float = 0.0
    """Duration of training."""
    baseline: str | None = None
    """Name of the baseline; None for a reader."""

    def record(self) -> dict[str, Any]:
        return {"parts" if name == "splits" else name: value for name, value in asdict(self).items()}


def read_results(folder: Path) -> dict[str, Result]:
    """The results so far, by their keys; an incomplete last line, left by a crash, is ignored."""
    path = folder / RESULTS
    if not path.exists():
        return {}
    results = {}
    with open_regular(path) as file:
        lines = file.read().split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            result = _parsed(line)
        except _NO_RESULT as error:
            if number == len(lines):
                break  # no newline at its end: writing it was interrupted
            problem = f"no result of a study ({error}); remove the line, and the trial is done again"
            raise CorpusError(problem, path, number) from None
        results[result.key] = result
    return results


def append_result(folder: Path, result: Result) -> None:
    """Append a line and flush it to the disk; an incomplete last line, left by a crash, is cut off first."""
    from filelock import FileLock  # the small installation has no need of it

    path = folder / RESULTS
    with FileLock(folder / "results.lock"), path.open("ab+") as file:  # another worker may append too
        file.seek(0)
        text = file.read()
        complete = text.rfind(b"\n") + 1
        try:
            _parsed(text[complete:])
            file.write(b"\n")  # only the newline is missing
        except _NO_RESULT:
            file.truncate(complete)
        file.write(json.dumps(result.record(), ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _parsed(line: bytes) -> Result:
    record = {"splits" if name == "parts" else name: value for name, value in json_object(line).items()}
    result = from_table(Result, record, "result")
    for report in result.splits.values():
        low, high = report["interval"]
        if not all(isinstance(value, int | float) for value in (report["accuracy"], report["examples"], low, high)):
            raise TypeError("an accuracy, an interval or a number of examples is no number")
    return result
