"""Time of training steps and answers, beside the same reader on `torch.nn.GRU` and the machine's peak."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

from gareader.benchmark.contenders import (
    GRUS,
    NATIVE,
    NN_GRU,
    Size,
    contender,
    forward_pass,
    in_numpy,
    random_batch,
    training_step,
)
from gareader.benchmark.measure import Times, Work, busy_core, matrix_product, side_by_side

PEAK, PRODUCT = "matrix product", 2048


@dataclass(frozen=True)
class Measurement:
    """Times of the contenders side by side, on quiet cores or beside a busy one."""

    work: str
    """train, infer, answer, or another name of the work."""
    busy: bool
    """Whether another process kept one core busy."""
    times: dict[str, Times]
    operations: float
    """Floating-point operations of the dense products in the work, counted from the equations."""
    peak: float
    """Operations per second of the fastest large matrix product in the same run."""

    @property
    def speedup_over_nn_gru(self) -> float:
        """The speed relative to the same reader on torch.nn.GRU."""
        return self.times[NN_GRU].median / self.times[NATIVE].median

    @property
    def share_of_peak(self) -> float:
        """Operations per second as a share of the peak."""
        return self.operations / self.times[NATIVE].median / self.peak


def measure(work: str, works: Mapping[str, Work], operations: float, repeats: int, *, busy: bool) -> Measurement:
    """Time the contenders and a matrix product side by side; with `busy`, beside a process that keeps a core busy."""
    all_works = {**works, PEAK: matrix_product(PRODUCT)}
    with busy_core() if busy else nullcontext():
        times = side_by_side(all_works, repeats)
    peak = 2 * PRODUCT**3 / min(times.pop(PEAK).seconds)
    return Measurement(work, busy, times, operations, peak)


def train(size: Size) -> tuple[dict[str, Work], float]:
    """A training step of each contender, and its number of operations."""
    batch = random_batch(size)
    return {name: partial(training_step(contender(name, size)), batch) for name in GRUS}, size.training_operations


def infer(size: Size) -> tuple[dict[str, Work], float]:
    """A forward pass of each contender, and its number of operations; the native one reads in numpy, as answers do."""
    batch = random_batch(size)
    works: dict[str, Work] = {name: partial(forward_pass(contender(name, size)), batch) for name in GRUS}
    works[NATIVE] = partial(in_numpy(contender(NATIVE, size)), batch.map(lambda tensor: tensor.numpy()))
    return works, size.forward_operations
