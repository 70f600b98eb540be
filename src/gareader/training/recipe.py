"""The recipe of a training run: its optimiser and gradient clipping."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from gareader.data.arrays import TABLE
from gareader.training.settings import Optimiser, TrainConfig

OPTIMISERS: dict[Optimiser, Callable[[TrainConfig, Any], torch.optim.Optimizer]] = {
    "adam": lambda recipe, groups: torch.optim.Adam(groups, lr=recipe.learning_rate, fused=True),
    "sgd": lambda recipe, groups: torch.optim.SGD(groups, lr=recipe.learning_rate, momentum=recipe.momentum),
    "rmsprop": lambda recipe, groups: torch.optim.RMSprop(
        groups, lr=recipe.learning_rate, alpha=recipe.rho, momentum=recipe.momentum
    ),
    "adadelta": lambda recipe, groups: torch.optim.Adadelta(groups, lr=recipe.learning_rate, rho=recipe.rho),
}
"""Optimisers by the names that `train.optimiser` takes."""


def new_optimiser(config: TrainConfig, weights: Mapping[str, nn.Parameter]) -> torch.optim.Optimizer:
    """A new optimiser of these weights."""
    groups: list[dict[str, Any]] = [
        {"params": [weight for name, weight in weights.items() if name != TABLE]},
        {"params": [weights[TABLE]] if TABLE in weights else [], "weight_decay": 2 * config.word_weight_decay},
    ]
    return OPTIMISERS[config.optimiser](config, [group for group in groups if group["params"]])


def clip_gradients(config: TrainConfig, weights: Mapping[str, nn.Parameter]) -> Tensor:
    """Clip the gradients by norm or by value, and return their norm before."""
    if config.clip_value is None:
        return nn.utils.clip_grad_norm_(weights.values(), config.clip_norm)
    norm = nn.utils.get_total_norm(weight.grad for weight in weights.values() if weight.grad is not None)
    nn.utils.clip_grad_value_(weights.values(), config.clip_value)
    return norm
