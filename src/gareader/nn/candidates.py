"""Candidates as vectors, and where a text mentions them.

B examples, C candidates, W words of a candidate, T tokens of a text, E token embedding.
"""

import torch
from torch import Tensor

from gareader.batching import Batch


def candidate_vectors(batch: Batch, tokens: Tensor) -> Tensor:
    """The mean of the vectors of each candidate's words: (types, E) → (B, C, E)."""
    share = batch.candidates_mask / batch.candidates_mask.sum(dim=2, keepdim=True).clamp(min=1)  # (B, C, W)
    return torch.einsum("bcw,bcwe->bce", share.to(tokens.dtype), tokens[batch.candidates])


def mentions(batch: Batch, words: Tensor, mask: Tensor) -> Tensor:
    """Which real words of a text are words, or the mark, of each candidate: (B, T), (B, T) → (B, C, T)."""
    same = words[:, None, :, None] == batch.candidates[:, :, None, :]  # (B, C, T, W)
    return (same & batch.candidates_mask.unsqueeze(2)).any(dim=3) & mask.unsqueeze(1)
