"""Softmax, sums and means over what a mask says is real, in single precision at least."""

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


def masked_logsumexp(values: Tensor, mask: Tensor) -> Tensor:
    """log Σ exp over the last dimension where the mask is true; −inf, with gradient 0, where it nowhere is."""
    empty = ~mask.any(dim=-1, keepdim=True)
    # An empty row is summed over zeros and then overwritten: −inf − (−inf) inside logsumexp would be a NaN gradient.
    kept = exact(values).masked_fill(~mask, -torch.inf).masked_fill(empty, 0)
    return kept.logsumexp(dim=-1).masked_fill(empty.squeeze(-1), -torch.inf)


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """The mean over the last dimension where the mask is true; 0 where it nowhere is."""
    return (values * mask).sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)


def equal_shares(mask: Tensor, dim: int, dtype: torch.dtype) -> Tensor:
    """The weights of a mean over `dim` where the mask is true: they sum to 1, or to 0 where it nowhere is."""
    return mask.to(dtype) / mask.sum(dim=dim, keepdim=True).clamp(min=1)
