"""Softmax over real tokens only, in single precision at least."""

import torch
from torch import Tensor


def exact(values: Tensor) -> Tensor:
    """In single precision at least, whatever the products before were computed in."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def masked_softmax(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Attention over `dim` where the mask is true; zeros, with gradient 0, where it nowhere is."""
    empty = ~mask.any(dim=dim, keepdim=True)
    kept = exact(scores).masked_fill(~mask, -torch.inf).masked_fill(empty, 0)
    return kept.softmax(dim=dim).masked_fill(empty | ~mask, 0)


def masked_log_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Logarithms of the last dimension's softmax where the mask is true; −inf, with gradient 0, elsewhere."""
    empty = ~mask.any(dim=-1, keepdim=True)
    kept = exact(scores).masked_fill(~mask, -torch.inf).masked_fill(empty, 0)
    return kept.log_softmax(dim=-1).masked_fill(~mask, -torch.inf)
