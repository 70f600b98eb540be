"""Pointer-sum: from a score for every document token to a probability for every candidate, in log space."""

from torch import Tensor

from gareader.nn.masked import masked_logsumexp


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
