"""One training step by several processes, measured here; and what a model of it says of many machines."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import torch

from gareader.benchmark.contenders import NATIVE, Size, batch, reader
from gareader.benchmark.measure import cores
from gareader.distributed import joined
from gareader.engine import Engine
from gareader.errors import GareaderError
from gareader.readers import READERS
from gareader.recipe import TrainConfig

QUESTIONS = 32
"""Of a step, by all processes together."""
PARTS = (32, 16, 8, 4, 2, 1)
"""Questions of one machine's part, as there are more machines."""
GIGABITS = (1, 10)
LATENCY = 50e-6
"""Seconds that a message takes beside its bytes."""


@dataclass(frozen=True)
class Setup:
    """So many processes with so many threads each."""

    processes: int
    threads: int
    seconds: list[float]
    """Of a step, again and again."""
    waiting: float
    """Share of the time in which a process waits for the others."""

    @property
    def median(self) -> float:
        """The middle one."""
        return median(self.seconds)


@dataclass(frozen=True)
class ScalingBenchmark:
    """What was measured, all in one run."""

    setups: list[Setup]
    part_seconds: dict[int, float]
    """Of a step with a part of the questions, by one process with all cores."""
    weights: int


def bench_scaling(document: int, updates: int, repeats: int) -> ScalingBenchmark:
    """One and two processes with one and two threads, in turn; then smaller parts."""
    if min(document, updates, repeats) < 1:
        raise GareaderError("bench scale needs at least one word of a document, one update and one repeat")
    kinds = [(processes, threads) for processes in (1, 2) for threads in sorted({1, cores()})]
    found: dict[tuple[int, int], list[Setup]] = {kind: [] for kind in kinds}
    for _ in range(repeats):
        for processes, threads in kinds:
            found[processes, threads] += measured(processes, threads, document, updates, [QUESTIONS])
    setups = [
        Setup(*kind, [s for each in some for s in each.seconds], median(each.waiting for each in some))
        for kind, some in found.items()
    ]
    parts = {
        part: each.median for part, each in zip(PARTS, measured(1, cores(), document, updates, PARTS), strict=True)
    }
    weights = sum(weight.numel() for weight in reader(NATIVE, Size()).parameters() if weight.requires_grad)
    return ScalingBenchmark(setups, parts, weights)


def exchange_seconds(machines: int, weights: int, gigabits: float) -> float:
    """Of the gradients' way round a ring: each machine sends 2 (n − 1) / n of them, in 2 (n − 1) messages."""
    share = 2 * (machines - 1) / machines
    return share * 4 * weights * 8 / (gigabits * 1e9) + 2 * (machines - 1) * LATENCY


def measured(processes: int, threads: int, document: int, updates: int, questions: Sequence[int]) -> list[Setup]:
    """Steps by processes of their own, for each number of questions."""
    together = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    work = ["-m", "gareader.benchmark.scaling", *map(str, (threads, document, updates, *questions))]
    command = [sys.executable, *(together if processes > 1 else []), *work]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)  # noqa: S603
    if done.returncode:
        raise GareaderError(f"the processes that were to be measured ended with an error: {done.stderr[-1000:]}")
    return [Setup(processes, threads, **json.loads(line)) for line in done.stdout.splitlines()]


def main(threads: int, document: int, updates: int, *sizes: int) -> None:
    """What each of the processes does; the first one tells."""
    torch.set_num_threads(threads)
    with joined() as group:
        model = reader(NATIVE, Size()).train()
        engine = Engine(READERS["gated-attention"], model, TrainConfig(), group)
        weights = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
        optimiser = engine.config.optimiser_of(weights)
        for questions in sizes:
            mine = batch(Size(batch=max(1, questions // group.size), document=document))
            seconds, waiting = [], []
            for step in range(updates + 1):
                began = perf_counter()
                optimiser.zero_grad()
                seen = engine.gradients([mine], questions, step)
                engine.config.clipped(weights)
                optimiser.step()
                seconds.append(perf_counter() - began)
                waiting.append(seen.waiting)
            if group.first:  # the first step warms up
                sys.stdout.write(json.dumps({"seconds": seconds[1:], "waiting": median(waiting[1:])}) + "\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
