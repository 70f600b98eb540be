"""Training steps, answers and single layers, beside the same reader on `torch.nn.GRU` and the machine's peak."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import nn

from gareader.benchmark.contenders import (
    GRUS,
    NATIVE,
    NN_GRU,
    PYTORCH,
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
    """gru, train, infer or answer."""
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


def gru(size: Size) -> tuple[dict[str, Work], float]:
    """One Bi-GRU of the second hop, forward and backward."""
    H = size.hidden
    sequence = torch.randn(size.batch, size.document, 2 * H, requires_grad=True)
    mask = torch.ones(size.batch, size.document, dtype=torch.bool)
    gradient = torch.randn(size.batch, size.document, 2 * H)

    def step(layer: nn.Module) -> Work:
        return lambda: layer(sequence, mask).backward(gradient)

    return {name: step(kind(2 * H, H)) for name, kind in GRUS.items()}, 36 * size.batch * size.document * H * 3 * H


WORKS: dict[str, Callable[[Size], tuple[dict[str, Work], float]]] = {
    "gru": gru,
    "train": train,
    "infer": infer,
    "answer": answer,
}


@dataclass(frozen=True)
class Growth:
    """Seconds of gareader native and of torch.nn.GRU while one thing grows; threads are given, not chosen."""

    work: str
    grows: str
    values: list[int]
    threads: int
    seconds: dict[str, list[float]]


GROWING = {
    "document": [100, 200, 430, 1000, 2000, 3000],
    "batch": [1, 4, 16, 32, 64, 128],
    "hidden": [64, 128, 192, 256, 384],
}


def growth(work: str, grows: str, values: list[int], threads: int, repeats: int) -> Growth:
    """Let the document, the batch or the hidden size grow the rest being as usual; growing documents come in eights."""
    taken: dict[str, list[float]] = {NATIVE: [], NN_GRU: []}
    for value in values:
        size = replace(Size(batch=8) if grows == "document" else Size(), **{grows: value})
        works = WORKS[work](size)[0]
        works.pop(PYTORCH)
        times = side_by_side(works, repeats, dict.fromkeys(works, threads))
        for name in taken:
            taken[name].append(times[name].median)
    return Growth(work, grows, values, threads, taken)
