"""Vectors of candidates, and their mentions in a text.

B examples, D document tokens, C candidates, S sentences, W words of a candidate, T tokens of a text, E token embedding.
"""

import torch
from torch import Tensor

from gareader.nn.masked import equal_shares
from gareader.nn.sentences import sentence_numbers
from gareader.nn.tensors import Batch


def candidate_vectors(batch: Batch, tokens: Tensor) -> Tensor:
    """The mean of the vectors of each candidate's words: (types, E) → (B, C, E)."""
    share = equal_shares(batch.candidates_mask, 2, tokens.dtype)  # (B, C, W)
    return torch.einsum("bcw,bcwe->bce", share, tokens[batch.candidates])


def mentions(batch: Batch, words: Tensor, mask: Tensor) -> Tensor:
    """True where a real word of a text is a word, or the mark, of a candidate: (B, T), (B, T) → (B, C, T)."""
    same = words[:, None, :, None] == batch.candidates[:, :, None, :]  # (B, C, T, W)
    return (same & batch.candidates_mask.unsqueeze(2)).any(dim=3) & mask.unsqueeze(1)


def on_mentions(batch: Batch, weights: Tensor) -> Tensor:
    """Divide each sentence's weight equally among the candidate's mentions in it: (B, C, S) → (B, C, D)."""
    mask = mentions(batch, batch.document, batch.document_mask)  # (B, C, D)
    numbers = sentence_numbers(batch).clamp(min=0).unsqueeze(1).expand_as(mask)  # (B, C, D)
    counts = torch.zeros_like(weights).scatter_add(2, numbers, mask.to(weights))  # (B, C, S)
    return (weights / counts.clamp(min=1)).gather(2, numbers) * mask
