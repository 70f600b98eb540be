"""Pointer-sum: from a score for every document token to a probability for every candidate, in log space."""

import torch
from torch import Tensor

from gareader.nn.attention import exact


def pointer_sum(scores: Tensor, occurrence: Tensor) -> Tensor:
    """log Pr(c|d,q), with Pr(c|d,q) ∝ Σ_{i ∈ I(c,d)} s_i: (B, D), (B, C, D) → (B, C).

    The softmax of the document cancels in the renormalisation over the candidates, so the scores come in as they are.
    A candidate without an occurrence has −inf; where none has one, all are −inf. Neither harms a gradient.
    """
    mass = masked_logsumexp(scores.unsqueeze(1), occurrence)  # (B, C)
    total = masked_logsumexp(mass, occurrence.any(dim=-1))  # (B,)
    return mass - total.masked_fill(total.isneginf(), 0).unsqueeze(1)


def pointer_mass(scores: Tensor, document_mask: Tensor, occurrence: Tensor) -> Tensor:
    """log Σ_{i ∈ I(c,d)} s_i, with s the softmax over the whole document: (B, D), (B, D), (B, C, D) → (B, C)."""
    attention = scores - masked_logsumexp(scores, document_mask).unsqueeze(1)  # (B, D)  log s
    return masked_logsumexp(attention.unsqueeze(1), occurrence)


def masked_logsumexp(values: Tensor, mask: Tensor) -> Tensor:
    """log Σ exp over the last dimension where the mask is true; −inf, with gradient 0, where it nowhere is."""
    empty = ~mask.any(dim=-1, keepdim=True)
    # An empty row is summed over zeros and then overwritten: −inf − (−inf) inside logsumexp would be a NaN gradient.
    kept = exact(values).masked_fill(~mask, -torch.inf).masked_fill(empty, 0)
    return kept.logsumexp(dim=-1).masked_fill(empty.squeeze(-1), -torch.inf)
