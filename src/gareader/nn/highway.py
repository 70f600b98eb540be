"""The layer of highway networks (Srivastava, Greff, Schmidhuber 2015)."""

import torch
from torch import Tensor, nn


class Highway(nn.Module):
    """g ⊙ ReLU(W x + b) + (1 − g) ⊙ x, with g = σ(W' x + b')."""

    def __init__(self, width: int, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        draws = (nn.init.xavier_uniform_(torch.empty(width, width), generator=generator) for _ in range(2))
        self.weight = nn.Parameter(torch.cat([*draws], dim=1))  # (E, 2E): W beside W'
        self.bias = nn.Parameter(torch.zeros(2 * width))

    def forward(self, values: Tensor) -> Tensor:
        """(…, width), unchanged."""
        new, gate = (values @ self.weight + self.bias).chunk(2, dim=-1)
        return torch.lerp(values, torch.relu(new).to(values), torch.sigmoid(gate).to(values))
