"""Initial weights that differ from those of the layers."""

import torch
from torch import Tensor, nn


def orthogonal_(weight: Tensor, generator: torch.Generator | None = None) -> None:
    """Redraw a GRU's matrices (…, inputs, 3 hidden); the matrix of each gate and direction is orthogonal."""
    for direction in weight.detach().reshape(-1, *weight.shape[-2:]):
        for gate in direction.chunk(3, dim=-1):
            nn.init.orthogonal_(gate, generator=generator)


def normal(*shape: int, std: float, generator: torch.Generator | None = None) -> nn.Parameter:
    """New weights from a normal distribution of mean 0."""
    return nn.Parameter(torch.empty(*shape).normal_(0, std, generator=generator))
