"""Training steps and answers, beside the same reader on `torch.nn.GRU` and the machine's peak."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from gareader.benchmark.contenders import (
    GRUS,
    NATIVE,
    NN_GRU,
    Size,
    answering,
    batch,
    reader,
    training,
)
from gareader.benchmark.measure import Times, Work, busy_core, matrix_product, side_by_side

PEAK = "matrix product"


@dataclass(frozen=True)
class Comparison:
    """What was measured side by side, quiet or beside a busy neighbour."""

    work: str
    """train, infer, answer, or another name for what was done."""
    busy: bool
    """Whether another process kept one core busy."""
    times: dict[str, Times]
    operations: float
    """Of the dense products in the work, as the equations have them."""
    peak: float
    """Operations a second of a large matrix product at its fastest in the same run."""

    @property
    def speedup_over_nn_gru(self) -> float:
        """How many times faster than the same reader on torch.nn.GRU."""
        return self.times[NN_GRU].median / self.times[NATIVE].median

    @property
    def share_of_peak(self) -> float:
        """Operations a second, as a share of the peak."""
        return self.operations / self.times[NATIVE].median / self.peak


def compare(
    work: str, works: Mapping[str, Work], operations: float, repeats: int, *, busy: bool, product: int = 2048
) -> Comparison:
    """Measure once quietly, or once with a core kept busy."""
    all_works = {**works, PEAK: matrix_product(product)}
    if busy:
        with busy_core():
            times = side_by_side(all_works, repeats)
    else:
        times = side_by_side(all_works, repeats)
    peak = 2 * product**3 / min(times.pop(PEAK).seconds)
    return Comparison(work, busy, times, operations, peak)


def train(size: Size) -> tuple[dict[str, Work], float]:
    """A training step of each contender, and its operations."""
    questions = batch(size)
    return {name: partial(training(reader(name, size)), questions) for name in GRUS}, size.training_operations


def infer(size: Size) -> tuple[dict[str, Work], float]:
    """A batch of questions answered by each contender, and the operations of that."""
    questions = batch(size)
    return {name: partial(answering(reader(name, size)), questions) for name in GRUS}, size.forward_operations


def answer(size: Size) -> tuple[dict[str, Work], float]:
    """One question alone."""
    return infer(replace(size, batch=1))


WORKS: dict[str, Callable[[Size], tuple[dict[str, Work], float]]] = {
    "train": train,
    "infer": infer,
    "answer": answer,
}
