"""States of a sequence at its ends or at a position."""

import torch
from torch import Tensor


def final_states(states: Tensor, mask: Tensor) -> Tensor:
    """The forward state of the last real step ‖ the backward state of the first: (B, T, 2H), (B, T) → (B, 2H)."""
    forward, backward = states.chunk(2, dim=-1)
    return torch.cat([at_position(forward, mask.sum(dim=1) - 1), backward[:, 0]], dim=-1)


def at_position(states: Tensor, position: Tensor) -> Tensor:
    """The state of each sequence at its own position: (B, T, H), (B,) → (B, H)."""
    return states[torch.arange(len(states), device=states.device), position]
