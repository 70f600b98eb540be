"""Time of training steps and answers, beside the same reader on `torch.nn.GRU` and the machine's peak."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import torch

from gareader.benchmark.contenders import (
    BF16,
    GRUS,
    NATIVE,
    NN_GRU,
    Size,
    contender,
    forward_pass,
    in_bf16,
    in_numpy,
    random_batch,
    training_step,
)
from gareader.benchmark.measure import Times, Work, busy_core, matrix_product, side_by_side
from gareader.kernels.library import Precision, has_bf16, library, multiply_and_add

PRODUCT, PRODUCT_SIZE = "matrix product", 2048
LOOP, LOOP_TASKS = "multiply-add loop", 200


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
    speeds: dict[str, float]
    """Operations per second of large matrix products and of loops of multiply-adds in registers, in the same run."""
    peak: float
    """The largest of them in float32."""
    bf16_peak: float | None
    """The largest of them in bf16; None where the processor has no instructions for it."""

    @property
    def speedup_over_nn_gru(self) -> float:
        """The speed relative to the same reader on torch.nn.GRU."""
        return self.times[NN_GRU].median / self.times[NATIVE].median

    @property
    def share_of_peak(self) -> float:
        return self.operations / self.times[NATIVE].median / self.peak

    @property
    def bf16_speedup(self) -> float | None:
        """The speed with products in bf16 relative to float32; None without the native kernel."""
        return self.times[NATIVE].median / self.times[BF16].median if BF16 in self.times else None

    @property
    def bf16_share_of_peak(self) -> float | None:
        """Operations per second with products in bf16 as a share of the bf16 peak, if there is one."""
        if self.bf16_peak is None or BF16 not in self.times:
            return None
        return self.operations / self.times[BF16].median / self.bf16_peak


def measure(work: str, works: Mapping[str, Work], operations: float, repeats: int, *, busy: bool) -> Measurement:
    """Time the contenders and the peaks side by side; with `busy`, beside a process that keeps a core busy."""
    peaks = peak_works("float32", torch.float32)
    bf16_peaks = peak_works("bf16", torch.bfloat16, "bf16 ") if has_bf16() else {}
    every = peaks | bf16_peaks
    with busy_core() if busy else nullcontext():
        times = side_by_side({**works, **{name: work for name, (work, _) in every.items()}}, repeats)
    speeds = {name: count / min(times.pop(name).seconds) for name, (_, count) in every.items()}
    peak = max(speeds[name] for name in peaks)
    return Measurement(
        work, busy, times, operations, speeds, peak, max((speeds[name] for name in bf16_peaks), default=None)
    )


def peak_works(precision: Precision, dtype: torch.dtype, prefix: str = "") -> dict[str, tuple[Work, float]]:
    """What shows the peak of the machine, with its number of operations: torch's product, and a loop of the library."""
    works: dict[str, tuple[Work, float]] = {
        prefix + PRODUCT: (matrix_product(PRODUCT_SIZE, dtype), 2 * PRODUCT_SIZE**3)
    }
    if library() is not None:
        works[prefix + LOOP] = (
            lambda: multiply_and_add(precision, LOOP_TASKS, torch.get_num_threads()),
            multiply_and_add(precision, LOOP_TASKS, 1),
        )
    return works


def with_bf16(works: dict[str, Work], work: Work) -> dict[str, Work]:
    """The works with that of the native kernel in bf16 after the native one, if there is a kernel."""
    if library() is None:
        return works
    return {NATIVE: works[NATIVE], BF16: work, **works}


def train(size: Size) -> tuple[dict[str, Work], float]:
    """A training step of each contender, and its number of operations."""
    batch = random_batch(size)

    def step(name: str) -> Work:
        return partial(training_step(contender(name, size)), batch)

    works = with_bf16({name: step(name) for name in GRUS}, in_bf16(step(NATIVE)))
    return works, 3 * size.forward_operations  # a backward pass has twice as many as a forward pass


def infer(size: Size) -> tuple[dict[str, Work], float]:
    """A forward pass of each contender, and its number of operations; the native one reads in numpy, as answers do."""
    batch = random_batch(size)
    works: dict[str, Work] = {name: partial(forward_pass(contender(name, size)), batch) for name in GRUS}
    arrays = batch.map(lambda tensor: tensor.numpy())
    works[NATIVE] = partial(in_numpy(contender(NATIVE, size)), arrays)
    return with_bf16(works, partial(in_numpy(contender(NATIVE, size), "bf16"), arrays)), size.forward_operations
