"""One training step by several processes, measured here; and what a model of it says of many machines."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
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
    questions: int
    """By all processes together."""
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
    """One and two processes with one and two threads, in turn, and smaller parts."""
    if min(document, updates, repeats) < 1:
        raise GareaderError("bench scale needs at least one word of a document, one update and one repeat")
    works = [(threads, QUESTIONS) for threads in sorted({1, cores()})]
    smaller = [(cores(), part) for part in PARTS[1:]]
    rounds = [
        [*measured(1, [*works, *smaller], document, updates), *measured(2, works, document, updates)]
        for _ in range(repeats)
    ]
    every = [
        replace(
            some[0],
            seconds=[second for each in some for second in each.seconds],
            waiting=median(each.waiting for each in some),
        )
        for some in zip(*rounds, strict=True)
    ]
    setups = [setup for setup in every if setup.questions == QUESTIONS]
    parts = {setup.questions: setup.median for setup in every if (setup.processes, setup.threads) == (1, cores())}
    weights = sum(weight.numel() for weight in reader(NATIVE, Size()).parameters() if weight.requires_grad)
    return ScalingBenchmark(setups, parts, weights)


def exchange_seconds(machines: int, weights: int, gigabits: float) -> float:
    """Of the gradients' way round a ring: each machine sends 2 (n − 1) / n of them, in 2 (n − 1) messages."""
    share = 2 * (machines - 1) / machines
    return share * 4 * weights * 8 / (gigabits * 1e9) + 2 * (machines - 1) * LATENCY


def measured(processes: int, works: Sequence[tuple[int, int]], document: int, updates: int) -> list[Setup]:
    """Steps by processes of their own, for each number of threads and of questions."""
    together = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    work = ["-m", "gareader.benchmark.scaling", *map(str, (document, updates, *chain(*works)))]
    command = [sys.executable, *(together if processes > 1 else []), *work]
    environment = {**os.environ, "OMP_NUM_THREADS": str(cores())}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)  # noqa: S603
    if done.returncode:
        raise GareaderError(f"the processes that were to be measured ended with an error: {done.stderr[-1000:]}")
    lines = done.stdout.splitlines()
    return [Setup(processes, *work, **json.loads(line)) for work, line in zip(works, lines, strict=True)]


def main(document: int, updates: int, *works: int) -> None:
    """What each of the processes does; the first one tells."""
    with joined() as group:
        model = reader(NATIVE, Size()).train()
        engine = Engine(READERS["gated-attention"], model, TrainConfig(), group)
        weights = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
        optimiser = engine.config.optimiser_of(weights)
        for threads, questions in zip(works[::2], works[1::2], strict=True):
            torch.set_num_threads(threads)
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
