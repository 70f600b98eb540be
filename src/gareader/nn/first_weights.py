"""First weights where a paper draws them otherwise than the layers do themselves."""

import torch
from torch import Tensor, nn


def orthogonal_(weight: Tensor, generator: torch.Generator | None = None) -> None:
    """Draw a GRU's matrices (…, inputs, 3 hidden) anew, each gate's of each direction orthogonal."""
    for direction in weight.detach().reshape(-1, *weight.shape[-2:]):
        for gate in direction.chunk(3, dim=-1):
            nn.init.orthogonal_(gate, generator=generator)


def uniform_(weight: Tensor, bound: float, generator: torch.Generator | None = None) -> None:
    """Draw weights anew, uniformly between −bound and bound."""
    weight.detach().uniform_(-bound, bound, generator=generator)
