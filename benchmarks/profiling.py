"""Where the time of a training step goes, operation by operation.

Example: `python -m benchmarks.profiling --batch 2 --document 20 --steps 1`
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.script import AtLeastOne, Batch, Document, Hidden, Json, start
from gareader.benchmark import contenders
from gareader.benchmark.measure import Work, cores


@dataclass(frozen=True)
class Part:
    """One operation of torch, or a pass of the kernel."""

    operation: str
    seconds: float
    """Each time, all calls together, without what they call in turn."""
    calls: float
    """Each time."""


def main(
    *, batch: Batch = 32, document: Document = 430, hidden: Hidden = 128, steps: AtLeastOne = 5, as_json: Json = False
) -> None:
    """Where the time of a training step goes, operation by operation.

    Parameters
    ----------
    steps
        How many are averaged.
    """
    size = contenders.Size(batch=batch, document=document, hidden=hidden)
    step = contenders.training(contenders.reader(contenders.NATIVE, size))
    parts = profiled(partial(step, contenders.batch(size)), steps)
    if as_json:
        for part in parts:
            print(json.dumps(asdict(part)))
        return
    whole = sum(part.seconds for part in parts)
    for part in parts[:12]:
        print(
            f"{part.operation:<32.32} {1e3 * part.seconds:8.1f} ms {part.seconds / whole:6.1%} {part.calls:8.0f} calls"
        )
    print(f"{'all':<32} {1e3 * whole:8.1f} ms")


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


if __name__ == "__main__":
    start(main)
