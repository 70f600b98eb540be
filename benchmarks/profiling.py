"""The time of each operation of a training step.

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
from gareader.benchmark.measure import Work
from gareader.core.distributed import cores


@dataclass(frozen=True)
class Operation:
    """One operation of torch, or a pass of a native kernel."""

    operation: str
    """Its name."""
    seconds: float
    """Time of all calls in one step, without the operations that they call."""
    calls: float
    """Number of calls in one step."""


def main(
    *, batch: Batch = 32, document: Document = 430, hidden: Hidden = 128, steps: AtLeastOne = 5, as_json: Json = False
) -> None:
    """The time of each operation of a training step.

    Parameters
    ----------
    steps
        How many steps are averaged.
    """
    size = contenders.Size(batch=batch, document=document, hidden=hidden)
    step = contenders.training_step(contenders.contender(contenders.NATIVE, size))
    operations = profiled(partial(step, contenders.random_batch(size)), steps)
    if as_json:
        for each in operations:
            print(json.dumps(asdict(each)))
        return
    total = sum(each.seconds for each in operations)
    for each in operations[:12]:
        share = each.seconds / total
        print(f"{each.operation:<32.32} {1e3 * each.seconds:8.1f} ms {share:6.1%} {each.calls:8.0f} calls")
    print(f"{'all':<32} {1e3 * total:8.1f} ms")


def profiled(work: Work, repeats: int) -> list[Operation]:
    """The operations of some work on all cores, the longest first, after a warm-up call."""
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
    return [Operation(event.key, event.self_cpu_time_total / 1e6 / repeats, event.count / repeats) for event in events]


@contextmanager
def silence() -> Iterator[None]:
    """Suppress stderr: torch's profiler logs there, from C++, that it starts and stops."""
    stderr, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(null)


if __name__ == "__main__":
    start(main)
