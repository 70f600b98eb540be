"""One GRU that takes a step at a time, for readers that think in steps."""

import torch
from torch import Tensor, nn

from gareader.nn.first_weights import orthogonal_
from gareader.nn.gru import paper_cell


class GRUStep(nn.Module):
    """h' = GRU(x, h), with the reset gate before the product; recurrent matrices begin orthogonal."""

    def __init__(self, inputs: int, hidden: int, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.input_weight = nn.Parameter(torch.empty(inputs, 3 * hidden).normal_(0, 0.1, generator=generator))
        self.recurrent_weight = nn.Parameter(torch.empty(hidden, 3 * hidden))
        orthogonal_(self.recurrent_weight, generator)
        self.bias = nn.Parameter(torch.zeros(3 * hidden))

    def forward(self, inputs: Tensor, state: Tensor) -> Tensor:
        """(B, inputs), (B, hidden) → (B, hidden)."""
        return paper_cell(inputs @ self.input_weight + self.bias, state, self.recurrent_weight)
