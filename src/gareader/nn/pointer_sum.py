"""Pointer sum: from a score of every document token to a probability of every candidate, in log space."""

from torch import Tensor

from gareader.nn.masked import masked_logsumexp


def pointer_sum(scores: Tensor, occurrence: Tensor, words_present: Tensor | None = None) -> Tensor:
    """log Pr(c|d,q), with Pr(c|d,q) ∝ Σ_{i ∈ I(c,d)} s_i: (B, D), (B, C, D) → (B, C).

    With `words_present` (B, C), each sum is divided by it: the mean over the candidate's words.
    The softmax over the document cancels in the renormalisation over the candidates, so the scores are logits.
    A candidate that does not occur has −inf; if none occurs, all have −inf. All gradients stay finite.
    """
    mass = masked_logsumexp(scores.unsqueeze(1), occurrence)  # (B, C)
    mass = mass if words_present is None else mass - words_present.to(mass.dtype).log()
    total = masked_logsumexp(mass, occurrence.any(dim=-1))  # (B,)
    return mass - total.masked_fill(total.isneginf(), 0).unsqueeze(1)


def pointer_mass(scores: Tensor, document_mask: Tensor, occurrence: Tensor) -> Tensor:
    """log Σ_{i ∈ I(c,d)} s_i, with s the softmax over the whole document: (B, D), (B, D), (B, C, D) → (B, C)."""
    attention = scores - masked_logsumexp(scores, document_mask).unsqueeze(1)  # (B, D)  log s
    return masked_logsumexp(attention.unsqueeze(1), occurrence)
