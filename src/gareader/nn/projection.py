"""Linear maps, and weights alone, whose initial values come from a given generator."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Projection(nn.Module):
    """W x, or W x + b; initially W is Glorot uniform, or uniform between −bound and bound, and b is zero."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        bias: bool = False,
        bound: float | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        bound = (6 / (inputs + outputs)) ** 0.5 if bound is None else bound
        self.weight = nn.Parameter(torch.empty(outputs, inputs).uniform_(-bound, bound, generator=generator))
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None

    def forward(self, vectors: Tensor) -> Tensor:
        """(…, inputs) → (…, outputs)."""
        return functional.linear(vectors, self.weight, self.bias)


def normal(*shape: int, std: float, generator: torch.Generator | None = None) -> nn.Parameter:
    """New weights from a normal distribution of mean 0."""
    return nn.Parameter(torch.empty(*shape).normal_(0, std, generator=generator))
