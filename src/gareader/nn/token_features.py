"""Features of document tokens beside their vectors: small whole numbers, each with an embedding of its own."""

from collections.abc import Callable

import torch
from torch import Tensor

from gareader.batching import Batch

ROWS = 8
"""Rows of a feature's embedding; a feature is less than this."""


def in_query(batch: Batch) -> Tensor:
    """1 for document words that are also in the query (qe-comm): (B, D)."""
    return _shared(batch, batch.query_mask)


def before_blank(batch: Batch) -> Tensor:
    """1 for document words that the query has before its blank: (B, D)."""
    return _shared(batch, batch.query_mask & (_places(batch) < batch.placeholder.unsqueeze(1)))


def after_blank(batch: Batch) -> Tensor:
    """1 for document words that the query has after its blank: (B, D)."""
    return _shared(batch, batch.query_mask & (_places(batch) > batch.placeholder.unsqueeze(1)))


def is_candidate(batch: Batch) -> Tensor:
    """1 for words of a candidate: (B, D)."""
    return batch.occurrence.any(dim=1).long()


def mentions(batch: Batch) -> Tensor:
    """⌊log₂(1 + n)⌋ for a word of a candidate that the document mentions n times, 0 for others: (B, D)."""
    counts = batch.occurrence.sum(dim=2, keepdim=True)  # (B, C, 1)
    count = (batch.occurrence * counts).amax(dim=1)  # (B, D)  of the candidate mentioned most, if a word is of several
    return (1 + count).float().log2().floor().long().clamp(max=ROWS - 1)


FEATURES: dict[str, Callable[[Batch], Tensor]] = {
    "before_feature": before_blank,
    "after_feature": after_blank,
    "candidate_feature": is_candidate,
    "mentions_feature": mentions,
}
"""By the names of the settings that turn them on; qe-comm, the paper's own, is `feature`."""


def _shared(batch: Batch, part: Tensor) -> Tensor:
    """1 for document words that this part of the query has, (B, Q): (B, D)."""
    same = batch.document.unsqueeze(2) == batch.query.unsqueeze(1)  # (B, D, Q)
    return (same & part.unsqueeze(1)).any(dim=2).long()


def _places(batch: Batch) -> Tensor:
    return torch.arange(batch.query.shape[1], device=batch.query.device)
