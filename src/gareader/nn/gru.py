"""The bidirectional GRU with both definitions of the cell, in PyTorch, and a single step; `native` is faster."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from gareader.kernels.layers import CellName
from gareader.nn import native

Cell = Callable[[Tensor, Tensor, Tensor], Tensor]


def paper_cell(x: Tensor, h: Tensor, u: Tensor) -> Tensor:
    """One step of the paper's GRU: the reset gate acts before the product with U_h.

    `x` has the inputs W x + b of r, z and h̃ side by side, `u` their matrices U side by side.
    """
    x_gates, x_candidate = x.tensor_split([2 * h.shape[-1]], dim=-1)
    u_gates, u_candidate = u.tensor_split([2 * h.shape[-1]], dim=-1)
    r, z = torch.sigmoid(x_gates + h @ u_gates).chunk(2, dim=-1)
    candidate = torch.tanh(x_candidate + (r * h) @ u_candidate)
    return torch.lerp(h, candidate.to(h), z.to(h))  # (1 − z) ⊙ h + z ⊙ h̃


def cudnn_cell(x: Tensor, h: Tensor, u: Tensor) -> Tensor:
    """One step of the GRU of `torch.nn.GRU` and cuDNN: the reset gate acts after the product; z keeps the old state."""
    x_gates, x_candidate = x.tensor_split([2 * h.shape[-1]], dim=-1)
    u_gates, u_candidate = (h @ u).tensor_split([2 * h.shape[-1]], dim=-1)
    r, z = torch.sigmoid(x_gates + u_gates).chunk(2, dim=-1)
    candidate = torch.tanh(x_candidate + r * u_candidate)
    return torch.lerp(candidate.to(h), h, z.to(h))  # (1 − z) ⊙ h̃ + z ⊙ h


CELLS: dict[CellName, Cell] = {"paper": paper_cell, "cudnn": cudnn_cell}


def orthogonal_(weight: Tensor, generator: torch.Generator | None = None) -> None:
    """Redraw a GRU's matrices (…, inputs, 3 hidden); the matrix of each gate and direction is orthogonal."""
    for direction in weight.detach().reshape(-1, *weight.shape[-2:]):
        for gate in direction.chunk(3, dim=-1):
            nn.init.orthogonal_(gate, generator=generator)


class BiGRU(nn.Module):
    """BiGRU(X) = [h^f_1 ‖ h^b_T, …, h^f_T ‖ h^b_1]; weights of both directions are stacked, gates in order r, z, h̃."""

    def __init__(
        self, inputs: int, hidden: int, cell: CellName = "paper", *, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        self.cell = cell
        self.input_weight = nn.Parameter(torch.empty(2, inputs, 3 * hidden).normal_(0, 0.1, generator=generator))
        self.recurrent_weight = nn.Parameter(torch.empty(2, hidden, 3 * hidden).normal_(0, 0.1, generator=generator))
        self.bias = nn.Parameter(torch.zeros(2, 1, 1, 3 * hidden))

    def forward(self, sequence: Tensor, mask: Tensor, words: Tensor | None = None) -> Tensor:
        """(B, T, inputs), (B, T) → (B, T, 2 hidden); a masked step keeps the state, and its output is zero.

        With `words` (B, T), `sequence` (N, inputs) has the vectors of N distinct words, and the input is
        `sequence[words]`.
        """
        if native.usable(sequence, mask):
            weights = self.input_weight, self.recurrent_weight, self.bias
            return native.bigru(sequence, words, mask, weights, self.cell, precision=native.precision())
        return self.in_pytorch(sequence, mask, words)

    def in_pytorch(self, sequence: Tensor, mask: Tensor, words: Tensor | None) -> Tensor:
        """The forward pass in PyTorch, for any device and precision."""
        inputs = torch.einsum("...i,dig->d...g", sequence, self.input_weight)  # (2, B, T or N, 3H)
        steps = (inputs if words is None else inputs[:, words]) + self.bias  # (2, B, T, 3H)
        steps = torch.stack([steps[0], steps[1].flip(1)])  # the backward direction reads from the end
        masks = torch.stack([mask, mask.flip(1)]).unsqueeze(-1)  # (2, B, T, 1)
        state = steps.new_zeros(2, len(mask), self.recurrent_weight.shape[1])  # (2, B, H)
        states = []
        # unbind, not steps[:, :, t]: each index would have a gradient as large as all steps
        for step, real in zip(steps.unbind(dim=2), masks.unbind(dim=2), strict=True):
            state = torch.where(real, CELLS[self.cell](step, state, self.recurrent_weight), state)
            states.append(state)
        forward, backward = torch.stack(states, dim=2) * masks  # (B, T, H) each
        return torch.cat([forward, backward.flip(1)], dim=-1)


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


def orthogonal_grus(
    inputs: int, hidden: int, generator: torch.Generator | None, *, input_weights: bool = False
) -> tuple[BiGRU, BiGRU]:
    """Bi-GRUs of document and query with orthogonal recurrent matrices, and input matrices if asked for."""
    grus = BiGRU(inputs, hidden, generator=generator), BiGRU(inputs, hidden, generator=generator)
    for gru in grus:
        if input_weights:
            orthogonal_(gru.input_weight, generator)
        orthogonal_(gru.recurrent_weight, generator)
    return grus
