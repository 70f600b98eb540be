"""The recipe of a training run: its settings, the learning rate's course, the optimiser, clipping."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gareader.config import at_least_one, known, positive
from gareader.errors import ConfigError
from gareader.packing import TABLE

OPTIMISERS: dict[str, Callable[["TrainConfig", Any], torch.optim.Optimizer]] = {
    "adam": lambda recipe, groups: torch.optim.Adam(groups, lr=recipe.learning_rate, fused=True),
    "sgd": lambda recipe, groups: torch.optim.SGD(groups, lr=recipe.learning_rate, momentum=recipe.momentum),
    "rmsprop": lambda recipe, groups: torch.optim.RMSprop(
        groups, lr=recipe.learning_rate, alpha=recipe.smoothing, momentum=recipe.momentum
    ),
    "adadelta": lambda recipe, groups: torch.optim.Adadelta(groups, lr=recipe.learning_rate, rho=recipe.smoothing),
}
"""By the names that `train.optimiser` takes."""

DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("float32", "bf16")


@dataclass(frozen=True)
class TrainConfig:
    """How to train; the defaults are the paper's."""

    seed: int = 1
    """Decides the first weights, the order of the examples and what dropout drops."""
    batch_size: int = 32
    """Questions per update."""
    optimiser: str = "adam"
    """adam, sgd, rmsprop or adadelta."""
    learning_rate: float = 5e-4
    """In the first epochs."""
    slower: float = 0.5
    """What the learning rate is multiplied by at the start of every epoch after the first `steady` ones."""
    steady: int = 2
    """Epochs at the full learning rate."""
    momentum: float = 0.0
    """Of sgd and rmsprop."""
    smoothing: float = 0.95
    """Weight of the past in rmsprop's and adadelta's mean of squared gradients."""
    clip: float = 10.0
    """The largest norm of a gradient; a longer one is shortened to it."""
    clip_values: float | None = None
    """Instead of the norm, the largest size of a single component."""
    word_decay: float = 0.0
    """Weight of the word vectors' squares in the loss, where they are trained."""
    max_epochs: int = 10
    """At most."""
    patience: int = 1
    """Training stops after so many epochs without a new best validation accuracy."""
    max_minutes: float | None = None
    """A time budget: the learning rate falls to zero over its second half, or that of max_epochs if they end first."""
    decay: bool = False
    """Whether the learning rate falls to zero over the second half of all updates of max_epochs."""
    average: float | None = None
    """Weight of the past in a running average of the weights, such as 0.999: that reader is validated and kept."""
    start: str | None = None
    """A trained reader, by name or folder, whose weights are the first ones; random ones if not given."""
    fresh_names: float = 0.0
    """Share of the questions whose names get a new random vector each time: so it learns to do without knowing them."""
    fraction: float = 1.0
    """Share of the training questions to use, chosen by the seed."""
    validate_every: int = 500
    """Updates between two validations; there is also one at the end of every epoch."""
    validation_examples: int | None = None
    """Validate on this many questions, chosen by the seed; on all if not given."""
    log_every: int = 50
    """Updates between two lines of metrics."""
    accumulate: int = 1
    """Slices in which a process computes its part of a batch, one after the other: less memory, the same update."""
    device: str = "auto"
    """cpu, cuda, or auto: a GPU if there is one; of several processes on a machine each takes its own."""
    precision: str = "float32"
    """float32, or bf16 for the matrix products where the hardware has it; weights and their updates stay float32."""
    compile: bool = False
    """Whether torch.compile makes the reader faster; it takes a while to begin."""
    threads: int | None = None
    """Threads for tensors; all cores if not given. Small readers are faster with one."""

    def __post_init__(self) -> None:
        known(self, optimiser=OPTIMISERS, device=DEVICES, precision=PRECISIONS)
        at_least_one(
            self, "batch_size", "accumulate", "steady", "max_epochs", "patience", "validate_every", "log_every"
        )
        positive(
            self, "learning_rate", "slower", "clip", "clip_values", "max_minutes", "validation_examples", "threads"
        )
        for name in ("momentum", "word_decay"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} = {getattr(self, name)} is negative; use 0 or more")
        if not 0 <= self.seed < 2**32:
            raise ConfigError(f"seed = {self.seed} is out of range; use 0 or more and less than 2**32")
        for name in ("average", "smoothing"):
            if (share := getattr(self, name)) is not None and not 0 < share < 1:
                raise ConfigError(f"{name} = {share} is not a share; use more than 0 and less than 1")
        if not 0 <= self.fresh_names <= 1:
            raise ConfigError(f"fresh_names = {self.fresh_names} is not a share; use 0 or more, at most 1")
        if not 0 < self.fraction <= 1:
            raise ConfigError(f"fraction = {self.fraction} is not a share; use more than 0, at most 1")

    def rate(self, epoch: int, share: float) -> float:
        """The learning rate in this epoch, counted from 0, when so much of the run is done."""
        rate = self.learning_rate * self.slower ** max(0, epoch + 1 - self.steady)
        if self.decay or self.max_minutes is not None:
            rate = min(rate, 2 * self.learning_rate * (1 - share))
        return rate

    def optimiser_of(self, weights: Mapping[str, nn.Parameter]) -> torch.optim.Optimizer:
        """The optimiser of these weights."""
        groups: list[dict[str, Any]] = [
            {"params": [weight for name, weight in weights.items() if name != TABLE]},
            {"params": [weights[TABLE]] if TABLE in weights else [], "weight_decay": 2 * self.word_decay},
        ]
        return OPTIMISERS[self.optimiser](self, [group for group in groups if group["params"]])

    def clipped(self, weights: Mapping[str, nn.Parameter]) -> Tensor:
        """Shorten the gradients, and return the norm they had."""
        if self.clip_values is None:
            return nn.utils.clip_grad_norm_(weights.values(), self.clip)
        norm = nn.utils.get_total_norm(weight.grad for weight in weights.values() if weight.grad is not None)
        nn.utils.clip_grad_value_(weights.values(), self.clip_values)
        return norm
