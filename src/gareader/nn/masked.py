"""Softmax, logsumexp and mean where a mask is true, in float32 or higher precision."""

import torch
from torch import Tensor


def exact(values: Tensor) -> Tensor:
    """The values in float32 or higher precision, also under bf16 autocast."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def _masked(values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """The values with −inf where the mask is false, but 0 in empty rows; and whether a row is empty.

    Rows of −inf alone would give NaN; what comes of an empty row is overwritten.
    """
    empty = ~mask.any(dim=-1, keepdim=True)
    return exact(values).masked_fill(~mask, -torch.inf).masked_fill(empty, 0), empty


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the last dimension where the mask is true; 0, with gradient 0, elsewhere."""
    logits, _ = _masked(scores, mask)
    return logits.softmax(dim=-1).masked_fill(~mask, 0)


def masked_log_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Log-softmax over the last dimension where the mask is true; −inf, with gradient 0, elsewhere."""
    logits, _ = _masked(scores, mask)
    return logits.log_softmax(dim=-1).masked_fill(~mask, -torch.inf)


def masked_logsumexp(values: Tensor, mask: Tensor) -> Tensor:
    """log Σ exp over the last dimension where the mask is true; −inf, with gradient 0, for empty rows."""
    logits, empty = _masked(values, mask)
    return logits.logsumexp(dim=-1).masked_fill(empty.squeeze(-1), -torch.inf)


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """The mean over the last dimension where the mask is true; 0 for empty rows."""
    return (values * mask).sum(dim=-1) / mask.sum(dim=-1).clamp(min=1)


def equal_shares(mask: Tensor, dim: int, dtype: torch.dtype) -> Tensor:
    """The weights of a mean over `dim` where the mask is true: they sum to 1, or to 0 in empty rows."""
    return mask.to(dtype) / mask.sum(dim=dim, keepdim=True).clamp(min=1)
