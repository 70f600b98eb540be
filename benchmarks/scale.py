"""A training step by one process and by two, with one thread and with all; and an estimate for many machines.

Example: `python -m benchmarks.scale --document 20 --updates 1 --repeats 1`
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from statistics import median

from benchmarks.script import AtLeastOne, Document, Json, Repeats, start
from gareader.benchmark.contenders import NATIVE, Size, contender
from gareader.core.distributed import cores
from gareader.core.errors import GareaderError

QUESTIONS = 32
"""Questions of a step, all processes together."""
PER_MACHINE = (32, 16, 8, 4, 2, 1)
"""Questions of a step on one of 1, 2, 4, … machines."""
GIGABITS = (1, 10)
LATENCY = 50e-6
"""Seconds of latency of a message."""


@dataclass(frozen=True)
class Setup:
    """Times of training steps with a number of processes and of threads per process."""

    processes: int
    threads: int
    questions: int
    """Questions of a step, all processes together."""
    seconds: list[float]
    """Duration of each step."""
    waiting: float
    """Share of the time in which a process waits for the others."""

    @property
    def median(self) -> float:
        """The median duration."""
        return median(self.seconds)


@dataclass(frozen=True)
class ScalingBenchmark:
    """The measurements of one run."""

    setups: list[Setup]
    part_seconds: dict[int, float]
    """Duration of a step of one process with all cores, by the number of questions."""
    weights: int
    """Number of trained weights."""


def main(*, document: Document = 430, updates: AtLeastOne = 5, repeats: Repeats = 3, as_json: Json = False) -> None:
    """A training step by one process and by two, with one thread and with all; and an estimate for many machines.

    Parameters
    ----------
    updates
        Steps of each process in each round, after a warm-up step.
    """
    result = bench_scaling(document, updates, repeats)
    if as_json:
        print(json.dumps(asdict(result)))
    else:
        show_scaling(result)


def bench_scaling(document: int, updates: int, repeats: int) -> ScalingBenchmark:
    """Measure one and two processes with one thread and with all, in turn, and smaller batches."""
    works = [(threads, QUESTIONS) for threads in sorted({1, cores()})]
    smaller = [(cores(), questions) for questions in PER_MACHINE[1:]]
    rounds = [
        [*bench_steps(1, [*works, *smaller], document, updates), *bench_steps(2, works, document, updates)]
        for _ in range(repeats)
    ]
    every = [
        replace(
            same[0],
            seconds=[second for each in same for second in each.seconds],
            waiting=median(each.waiting for each in same),
        )
        for same in zip(*rounds, strict=True)
    ]
    setups = [setup for setup in every if setup.questions == QUESTIONS]
    parts = {setup.questions: setup.median for setup in every if (setup.processes, setup.threads) == (1, cores())}
    weights = sum(weight.numel() for weight in contender(NATIVE, Size()).parameters() if weight.requires_grad)
    return ScalingBenchmark(setups, parts, weights)


def exchange_seconds(machines: int, weights: int, gigabits: float) -> float:
    """Estimated seconds of a ring all-reduce: a machine sends 2 (n − 1) / n of the gradients in 2 (n − 1) messages."""
    share = 2 * (machines - 1) / machines
    return share * 4 * weights * 8 / (gigabits * 1e9) + 2 * (machines - 1) * LATENCY


def bench_steps(processes: int, works: Sequence[tuple[int, int]], document: int, updates: int) -> list[Setup]:
    """Measure steps in processes of their own, for each number of threads and of questions."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    script = ["-m", "benchmarks.scale_steps", *map(str, (document, updates, *chain(*works)))]
    command = [sys.executable, *(torchrun if processes > 1 else []), *script]
    environment = {**os.environ, "OMP_NUM_THREADS": str(cores())}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)  # noqa: S603
    if done.returncode:
        raise GareaderError(f"the processes that were to be measured ended with an error: {done.stderr[-1000:]}")
    lines = done.stdout.splitlines()
    return [Setup(processes, *work, **json.loads(line)) for work, line in zip(works, lines, strict=True)]


def show_scaling(result: ScalingBenchmark) -> None:
    """Print the measurements, then the table of the estimate."""
    alone = result.setups[0].median
    for setup in result.setups:
        low, high = min(setup.seconds), max(setup.seconds)
        print(
            f"{setup.processes} × {setup.threads} threads   {setup.median:6.3f} s a step ({low:.3f} to {high:.3f})   "
            f"{QUESTIONS / setup.median:6.1f} questions/s   {alone / setup.median:4.2f} ×   "
            f"waiting {setup.waiting:.1%}"
        )
    megabytes = 4 * result.weights / 1e6
    print(f"\nEstimate: {result.weights:,} weights, {megabytes:.1f} MB of gradients round a ring; questions a second")
    print(
        f"{'machines':>8}"
        + "".join(f"{f'{kind}, {g} Gbit/s':>26}" for g in GIGABITS for kind in ("batch 32", "32 each"))
    )
    whole = result.part_seconds[QUESTIONS]
    for machines in (1, 2, 4, 8, 16, 32, 64):
        cells = []
        for gigabits in GIGABITS:
            exchange = exchange_seconds(machines, result.weights, gigabits) if machines > 1 else 0.0
            part = result.part_seconds[max(1, QUESTIONS // machines)]
            cells += [QUESTIONS / (part + exchange), machines * QUESTIONS / (whole + exchange)]
        print(f"{machines:>8}" + "".join(f"{cell:>26,.0f}" for cell in cells))


if __name__ == "__main__":
    start(main)
