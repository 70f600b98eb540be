"""The recipe of a training run: its settings, the learning rate's course, the optimiser, clipping."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import torch
from torch import Tensor, nn

from gareader.config import Bounds, Count, NonNegative, Positive, Settings
from gareader.nn.embedding import TABLE

Optimiser = Literal["adam", "sgd", "rmsprop", "adadelta"]

OPTIMISERS: dict[Optimiser, Callable[["TrainConfig", Any], torch.optim.Optimizer]] = {
    "adam": lambda recipe, groups: torch.optim.Adam(groups, lr=recipe.learning_rate, fused=True),
    "sgd": lambda recipe, groups: torch.optim.SGD(groups, lr=recipe.learning_rate, momentum=recipe.momentum),
    "rmsprop": lambda recipe, groups: torch.optim.RMSprop(
        groups, lr=recipe.learning_rate, alpha=recipe.rho, momentum=recipe.momentum
    ),
    "adadelta": lambda recipe, groups: torch.optim.Adadelta(groups, lr=recipe.learning_rate, rho=recipe.rho),
}
"""By the names that `train.optimiser` takes."""


@dataclass(frozen=True)
class TrainConfig(Settings):
    """How to train; the defaults are the paper's."""

    seed: Annotated[int, Bounds(least=0, below=2**32)] = 1
    """Decides the first weights, the order of the examples and what dropout drops."""
    batch_size: Count = 32
    """Questions per update."""
    optimiser: Optimiser = "adam"
    """The rule of the updates."""
    learning_rate: Positive = 5e-4
    """In the first epochs."""
    learning_rate_decay: Positive = 0.5
    """What the learning rate is multiplied by at the start of every epoch after the first `constant_epochs`."""
    constant_epochs: Count = 2
    """Epochs at the full learning rate."""
    momentum: NonNegative = 0.0
    """Of sgd and rmsprop."""
    rho: Annotated[float, Bounds(above=0, below=1)] = 0.95
    """Decay of the mean of squared gradients in rmsprop and adadelta."""
    clip_norm: Positive = 10.0
    """The largest norm of a gradient; a longer one is scaled down to it."""
    clip_value: Positive | None = None
    """Instead of the norm, the largest size of a gradient's single component."""
    word_weight_decay: NonNegative = 0.0
    """L2 penalty on the word vectors, where they are trained: the weight of their squares in the loss."""
    max_epochs: Count = 10
    """At most."""
    patience: Count = 1
    """Training stops after so many epochs without a new best validation accuracy."""
    max_minutes: Positive | None = None
    """A time budget: the learning rate falls to zero over its second half, or that of max_epochs if they end first."""
    anneal: bool = False
    """Whether the learning rate falls linearly to zero over the second half of all updates of max_epochs."""
    ema: Annotated[float, Bounds(above=0, below=1)] | None = None
    """Decay of an exponential moving average of the weights, such as 0.999: that reader is validated and kept."""
    start: str | None = None
    """A trained reader, by name or folder, whose weights are the first ones; random ones if not given."""
    fresh_names: Annotated[float, Bounds(least=0, most=1)] = 0.0
    """Share of the questions whose names get a new random vector each time: so it learns to do without knowing them."""
    fraction: Annotated[float, Bounds(above=0, most=1)] = 1.0
    """Share of the training questions to use, chosen by the seed."""
    validate_every: Count = 500
    """Updates between two validations; there is also one at the end of every epoch."""
    validation_examples: Count | None = None
    """Validate on this many questions, chosen by the seed; on all if not given."""
    log_every: Count = 50
    """Updates between two lines of metrics."""
    micro_batches: Count = 1
    """Slices of a process's part of a batch, whose gradients are accumulated: less memory, the same update."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """cpu, cuda, or auto: a GPU if there is one; of several processes on a machine each takes its own."""
    precision: Literal["float32", "bf16"] = "float32"
    """float32, or bf16 for the matrix products where the hardware has it; weights and their updates stay float32."""
    compile: bool = False
    """Whether torch.compile makes the reader faster; it takes a while to begin."""
    threads: Count | None = None
    """Threads for tensors; all cores if not given. Small readers are faster with one."""

    def rate(self, epoch: int, share: float) -> float:
        """The learning rate in this epoch, counted from 0, when so much of the run is done."""
        rate = self.learning_rate * self.learning_rate_decay ** max(0, epoch + 1 - self.constant_epochs)
        if self.anneal or self.max_minutes is not None:
            rate = min(rate, 2 * self.learning_rate * (1 - share))
        return rate

    def optimiser_of(self, weights: Mapping[str, nn.Parameter]) -> torch.optim.Optimizer:
        """The optimiser of these weights."""
        groups: list[dict[str, Any]] = [
            {"params": [weight for name, weight in weights.items() if name != TABLE]},
            {"params": [weights[TABLE]] if TABLE in weights else [], "weight_decay": 2 * self.word_weight_decay},
        ]
        return OPTIMISERS[self.optimiser](self, [group for group in groups if group["params"]])

    def clipped(self, weights: Mapping[str, nn.Parameter]) -> Tensor:
        """Shorten the gradients, and return the norm they had."""
        if self.clip_value is None:
            return nn.utils.clip_grad_norm_(weights.values(), self.clip_norm)
        norm = nn.utils.get_total_norm(weight.grad for weight in weights.values() if weight.grad is not None)
        nn.utils.clip_grad_value_(weights.values(), self.clip_value)
        return norm
