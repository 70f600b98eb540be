"""A GRU cell with weights, for readers that compute their states step by step."""

import torch
from torch import Tensor, nn

from gareader.nn.gru import paper_cell
from gareader.nn.initial_weights import orthogonal_


class GRUStep(nn.Module):
    """h' = GRU(x, h) with the reset gate before the product; recurrent matrices are initially orthogonal."""

    def __init__(self, inputs: int, hidden: int, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.input_weight = nn.Parameter(torch.empty(inputs, 3 * hidden).normal_(0, 0.1, generator=generator))
        self.recurrent_weight = nn.Parameter(torch.empty(hidden, 3 * hidden))
        orthogonal_(self.recurrent_weight, generator)
        self.bias = nn.Parameter(torch.zeros(3 * hidden))

    def forward(self, inputs: Tensor, state: Tensor) -> Tensor:
        """(B, inputs), (B, hidden) → (B, hidden)."""
        return paper_cell(inputs @ self.input_weight + self.bias, state, self.recurrent_weight)
