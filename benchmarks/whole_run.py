"""The whole of `gareader train` (data, batches, metrics, checkpoints), beside the bare steps on the same batches.

Example: `python -m benchmarks.whole_run configs/tiny.toml --updates 2 --repeats 2`
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial, reduce
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated

from cyclopts import Parameter

from benchmarks.script import AtLeastOne, Json, Repeats, start
from gareader.benchmark.measure import seconds
from gareader.cli.bench import print_times
from gareader.core.config import load_table, override
from gareader.core.errors import GareaderError
from gareader.data.batching import length_batches
from gareader.kernels.library import instruction_sets
from gareader.nn.tensors import Batch, tensors
from gareader.training.experiment import Experiment
from gareader.training.run import Run, on_threads


@dataclass(frozen=True)
class RunBenchmark:
    """Durations of the same number of updates, repeated."""

    updates: int
    batch_size: int
    whole_seconds: list[float]
    """Durations of `gareader train` from file to checkpoint: batches, updates, metrics, checkpoints."""
    bare_seconds: list[float]
    """Durations of forward, backward, clipping and the optimiser's step on prepared batches."""
    validation_seconds: float
    """Duration of one validation."""
    validate_every: int
    share_of_bare_step: float
    """The speed of the whole run without its validations, as a share of that of the bare steps: the median of all."""
    share_with_validations: float
    """The same with its validations."""


def main(
    config: Path,
    *,
    updates: AtLeastOne = 50,
    repeats: Repeats = 5,
    assignments: Annotated[tuple[str, ...], Parameter(name="--set")] = (),
    as_json: Json = False,
) -> None:
    """The whole of `gareader train` (data, batches, metrics, checkpoints), beside the bare steps on the same batches.

    Parameters
    ----------
    config
        The settings of a run.
    updates
        How many updates in each measurement.
    assignments
        section.key=value, to change one setting, or section.key= for its default; may be given several times.
    """
    table = reduce(override, assignments, load_table(config))
    result = bench_run(Experiment.from_table(table), updates, repeats)
    if as_json:
        print(json.dumps(asdict(result)))
        return
    sets = ", ".join(instruction_sets()) or "no native kernel"
    print(f"{updates} updates of {result.batch_size} questions, {sets}")
    print_times("gareader train", result.whole_seconds)
    print_times("bare steps", result.bare_seconds)
    print(f"{'validation':<24} {result.validation_seconds:8.3f} s   every {result.validate_every:,} updates")
    print(f"{'speed':<24} {result.share_of_bare_step:8.2f}     of the bare step's, without validations")
    print(f"{'':<24} {result.share_with_validations:8.2f}     with validations")


def bench_run(experiment: Experiment, updates: int, repeats: int) -> RunBenchmark:
    """Measure, in turn, some updates of the run and the bare steps on the same batches."""
    with TemporaryDirectory() as folder:
        run = experiment.run(Path(folder, "run"))
        config = experiment.train
        order = length_batches(run.lengths, config.batch_size, seed=[config.seed, 0])
        if repeats * updates > len(order):
            raise GareaderError(f"{repeats} × {updates} updates are more than an epoch has, {len(order)}")
        step = bare_step(run)
        whole, bare = [], []
        for number in range(1, repeats + 1):
            whole.append(seconds(partial(run.train, partial(reached, run, number * updates))))
            round_ = order[(number - 1) * updates : number * updates]
            batches = [tensors(run.model.collator([run.training[int(i)] for i in members])) for members in round_]
            with on_threads(config.threads):
                bare.append(sum(seconds(partial(step, batch)) for batch in batches))
        validation = seconds(run.validate)
    rounds = [*zip(bare, whole, strict=True)]  # neighbours: the machine's speed changes from minute to minute
    every = config.validate_every
    share = median(step / update for step, update in rounds)
    with_validations = median(step / (update + validation * updates / every) for step, update in rounds)
    return RunBenchmark(updates, config.batch_size, whole, bare, validation, every, share, with_validations)


def bare_step(run: Run) -> Callable[[Batch], None]:
    """A function that makes one update and nothing else: forward, loss, backward, clipping and the optimiser's step."""
    optimiser = run.optimiser

    def step(batch: Batch) -> None:
        run.reader.train()
        optimiser.zero_grad()
        output = run.engine.output(batch, run.position.step, 0)  # in the run's precision
        run.engine.kind.loss(output, batch).backward()  # type: ignore[no-untyped-call]
        optimiser.clip()
        optimiser.step(run.config.learning_rate)

    return step


def reached(run: Run, step: int) -> bool:
    """Whether the run has made that many updates."""
    return run.position.step >= step


if __name__ == "__main__":
    start(main)
