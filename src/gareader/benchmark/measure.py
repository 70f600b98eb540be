"""How anything is measured: what is compared alternates in one run, and medians come with their spread."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import torch

Work = Callable[[], object]


@dataclass(frozen=True)
class Times:
    """How long one piece of work took, again and again, with its best number of threads."""

    threads: int
    seconds: list[float]

    @property
    def median(self) -> float:
        """The middle one."""
        return median(self.seconds)


def seconds(work: Work) -> float:
    """How long it takes once."""
    start = perf_counter()
    work()
    return perf_counter() - start


def side_by_side(works: Mapping[str, Work], repeats: int, threads: Mapping[str, int] | None = None) -> dict[str, Times]:
    """Each piece of work `repeats` times, in turn; each with its best number of threads, unless that is given."""
    before = torch.get_num_threads()
    try:
        chosen = threads or {name: best_threads(work) for name, work in works.items()}
        taken: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(repeats):
            for name, work in works.items():
                torch.set_num_threads(chosen[name])
                taken[name].append(seconds(work))
    finally:
        torch.set_num_threads(before)
    return {name: Times(chosen[name], taken[name]) for name in works}


def best_threads(work: Work) -> int:
    """One thread or all cores: whichever is quicker, after a run to warm up."""
    best, shortest = 1, float("inf")
    for threads in sorted({1, cores()}):
        torch.set_num_threads(threads)
        if seconds(work) > 3 * shortest:  # threads that wait for each other beside a busy core: no need to see more
            continue
        taken = min(seconds(work) for _ in range(2))
        if taken < shortest:
            best, shortest = threads, taken
    return best


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def matrix_product(size: int = 2048) -> Work:
    """A large matrix product, 2 size³ operations: what the machine's best library gets out of it."""
    left, right, out = torch.rand(size, size), torch.rand(size, size), torch.empty(size, size)
    return lambda: torch.mm(left, right, out=out)


@contextmanager
def busy_core() -> Iterator[None]:
    """Meanwhile, another process keeps one core busy."""
    neighbour = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        neighbour.kill()
        neighbour.wait()


TELL_PEAK = """
import resource, sys
from pathlib import Path
status = Path("/proc/self/status")
if status.exists():
    print(int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024)
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10))
"""
"""In MB. Linux hands the peak that getrusage tells on from a parent to its child, but not the one in status."""


def peak_memory(program: str) -> float:
    """In MB, of a Python process that runs this and nothing else."""
    command = [sys.executable, "-c", program + TELL_PEAK]
    result = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return float(result.stdout.split()[-1])
