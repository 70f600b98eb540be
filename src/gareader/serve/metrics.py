"""Counters of the service in memory that its processes share, as Prometheus reads them."""

import mmap
import os
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

STATUSES = (200, 204, 400, 401, 404, 405, 408, 413, 421, 422, 429, 431, 499, 500, 501, 503)
"""The statuses of responses; 499 are requests whose client has gone before the answer."""
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SIZES = (1, 2, 4, 8, 16, 32, 64)
KINDS = {
    "gareader_requests_total": ("counter", "Requests, by path and status; 499: the client has gone."),
    "gareader_answer_seconds": ("histogram", "Time from a request to /answer to its response."),
    "gareader_batch_questions": ("histogram", "Questions that were read together."),
    "gareader_questions_waiting": ("gauge", "Questions without an answer yet."),
    "gareader_connections": ("gauge", "Open connections."),
    "gareader_memory_bytes": ("gauge", "Resident memory of each worker; they share a part of it."),
}


class Metrics:
    """One row of numbers for each worker, which it alone writes; any worker reads all of them."""

    def __init__(self, paths: Iterable[str], workers: int) -> None:
        """To be made before the workers are."""
        self.worker = 0
        """The number of this process."""
        names = [_requests(path, status) for path, status in product(paths, STATUSES)]
        names += _histogram("gareader_answer_seconds", SECONDS) + _histogram("gareader_batch_questions", SIZES)
        names += ["gareader_questions_waiting", "gareader_connections", "pid"]
        self._places = {name: place for place, name in enumerate(names)}
        self._workers = workers
        self._numbers = memoryview(mmap.mmap(-1, 8 * workers * len(names))).cast("d")

    def add(self, name: str, amount: float = 1.0) -> None:
        self._numbers[self.worker * len(self._places) + self._places[name]] += amount

    def set(self, name: str, value: float) -> None:
        self._numbers[self.worker * len(self._places) + self._places[name]] = value

    def responded(self, path: str, status: int) -> None:
        self.add(_requests(path, status))

    def answered(self, seconds: float) -> None:
        self._observe("gareader_answer_seconds", SECONDS, seconds)

    def read_together(self, questions: int) -> None:
        self._observe("gareader_batch_questions", SIZES, questions)

    def _observe(self, name: str, bounds: Sequence[float], value: float) -> None:
        for bound in bounds:
            if value <= bound:
                self.add(f'{name}_bucket{{le="{bound}"}}')
        self.add(f'{name}_bucket{{le="+Inf"}}')
        self.add(f"{name}_sum", value)
        self.add(f"{name}_count")

    def text(self) -> str:
        """All numbers, added up over the workers, in Prometheus' format; requests that never came are left out."""
        width = len(self._places)
        rows = [self._numbers[start : start + width] for start in range(0, self._workers * width, width)]
        values = {name: sum(row[place] for row in rows) for name, place in self._places.items() if name != "pid"}
        for worker, row in enumerate(rows):
            if memory := _memory(int(row[self._places["pid"]])):
                values[f'gareader_memory_bytes{{worker="{worker}"}}'] = memory
        lines = []
        for kind, (form, about) in KINDS.items():
            lines += [f"# HELP {kind} {about}", f"# TYPE {kind} {form}"]
            lines += [
                f"{name} {value:.15g}"
                for name, value in values.items()
                if name.startswith(kind) and (value or not name.startswith("gareader_requests"))
            ]
        return "\n".join(lines) + "\n"


def _requests(path: str, status: int) -> str:
    return f'gareader_requests_total{{path="{path}",status="{status}"}}'


def _histogram(name: str, bounds: Sequence[float]) -> list[str]:
    return [f'{name}_bucket{{le="{bound}"}}' for bound in (*bounds, "+Inf")] + [f"{name}_sum", f"{name}_count"]


def _memory(pid: int) -> int | None:
    """The resident bytes of a process; None where the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None
