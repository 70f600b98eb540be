"""Timing: the works to compare alternate in one run, and medians come with their spread."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import torch

from gareader.core.distributed import cores
from gareader.kernels.library import use_threads

Work = Callable[[], object]


@dataclass(frozen=True)
class Times:
    """The durations of one piece of work, with its best number of threads."""

    threads: int
    seconds: list[float]

    @property
    def median(self) -> float:
        return median(self.seconds)


def seconds(work: Work) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def set_threads(number: int) -> None:
    """Set the threads of torch and of the kernel on numpy arrays."""
    torch.set_num_threads(number)
    use_threads(number)


def side_by_side(works: Mapping[str, Work], repeats: int, threads: Mapping[str, int] | None = None) -> dict[str, Times]:
    """Time each piece of work `repeats` times, in turn, with its best number of threads unless `threads` has one."""
    before = torch.get_num_threads()
    try:
        counts = threads or {name: best_threads(work) for name, work in works.items()}
        durations: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(repeats):
            for name, work in works.items():
                set_threads(counts[name])
                durations[name].append(seconds(work))
    finally:
        set_threads(before)
    return {name: Times(counts[name], durations[name]) for name in works}


def best_threads(work: Work) -> int:
    """One thread or as many as cores, whichever is faster after a warm-up call."""
    best, shortest = 1, float("inf")
    for threads in sorted({1, cores()}):
        set_threads(threads)
        if seconds(work) > 3 * shortest:  # the threads wait for a busy core: no need for more calls
            continue
        duration = min(seconds(work) for _ in range(2))
        if duration < shortest:
            best, shortest = threads, duration
    return best


def matrix_product(size: int, dtype: torch.dtype = torch.float32) -> Work:
    """A large matrix product of 2 size³ operations."""
    left, right = torch.rand(size, size).to(dtype), torch.rand(size, size).to(dtype)
    out = torch.empty(size, size, dtype=dtype)
    return lambda: torch.mm(left, right, out=out)


@contextmanager
def busy_core() -> Iterator[None]:
    neighbour = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        neighbour.kill()
        neighbour.wait()


PRINT_PEAK = """
import resource, sys
from pathlib import Path
status = Path("/proc/self/status")
if status.exists():
    print(int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024)
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10))
"""
"""Prints the peak memory in MB. On Linux a child inherits its parent's peak in getrusage, but not in status."""


def peak_memory(program: str) -> float:
    """The peak memory in MB of a Python process that runs this program and nothing else."""
    command = [sys.executable, "-c", program + PRINT_PEAK]
    result = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return float(result.stdout.split()[-1])
