"""Where the time goes, operation by operation."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch.profiler import ProfilerActivity, profile

from gareader.benchmark.measure import Work, cores


@dataclass(frozen=True)
class Part:
    """One operation of torch, or a pass of the kernel."""

    operation: str
    seconds: float
    """Each time, all calls together, without what they call in turn."""
    calls: float
    """Each time."""


def profiled(work: Work, repeats: int) -> list[Part]:
    """The parts of some work on all cores, the longest first; it is run once before."""
    before = torch.get_num_threads()
    torch.set_num_threads(cores())
    try:
        work()
        with silence(), profile(activities=[ProfilerActivity.CPU]) as result:
            for _ in range(repeats):
                work()
    finally:
        torch.set_num_threads(before)
    events = sorted(result.key_averages(), key=lambda event: -event.self_cpu_time_total)
    return [Part(event.key, event.self_cpu_time_total / 1e6 / repeats, event.count / repeats) for event in events]


@contextmanager
def silence() -> Iterator[None]:
    """Nothing goes to stderr: torch's profiler tells there, from C++, that it starts and stops."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
