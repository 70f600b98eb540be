"""The whole of `gareader train`, beside its bare training step on the same batches."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from gareader.batching import Batch, length_batches
from gareader.benchmark.measure import seconds
from gareader.errors import GareaderError
from gareader.experiment import Experiment
from gareader.training import Run, on_threads


@dataclass(frozen=True)
class RunBenchmark:
    """Seconds for the same number of updates, again and again."""

    updates: int
    batch_size: int
    whole_seconds: list[float]
    """`gareader train` from file to state: batches read and made, updates, metrics, states saved."""
    bare_seconds: list[float]
    """Forward, backward, clipping and the optimiser's step on batches made beforehand."""
    validation_seconds: float
    """One validation."""
    validate_every: int
    share_of_bare_step: float
    """The whole run's speed, validations included, as a share of the bare step's."""


def bench_run(experiment: Experiment, updates: int, repeats: int) -> RunBenchmark:
    """Train for some updates, then do the bare steps on the same batches, and so on."""
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
            chosen = order[(number - 1) * updates : number * updates]
            batches = [run.checkpoint.collator([run.training[int(i)] for i in members]) for members in chosen]
            with on_threads(config.threads):
                bare.append(sum(seconds(partial(step, batch.to(run.engine.device))) for batch in batches))
        validation = seconds(run.validate)
    per_update = median(whole) / updates + validation / config.validate_every
    share = median(bare) / updates / per_update
    return RunBenchmark(updates, config.batch_size, whole, bare, validation, config.validate_every, share)


def bare_step(run: Run) -> Callable[[Batch], None]:
    """Forward, loss, backward, clipping and a step of an optimiser of its own, and nothing else."""
    optimiser = run.config.optimiser_of(run.weights)

    def step(batch: Batch) -> None:
        run.reader.train()
        optimiser.zero_grad()
        run.engine.kind.loss(run.reader(batch), batch).backward()  # type: ignore[no-untyped-call]
        run.config.clipped(run.weights)
        optimiser.step()

    return step


def reached(run: Run, step: int) -> bool:
    """Whether so many updates are done."""
    return run.position.step >= step
