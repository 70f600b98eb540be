"""Features of document tokens: small integers, each feature with its own embedding."""

from collections.abc import Callable

import torch
from torch import Tensor

from gareader.nn.batching import Batch

ROWS = 8
"""Rows of a feature's embedding; values are smaller than this."""


def in_query(batch: Batch) -> Tensor:
    """1 for document words that are also in the query (qe-comm): (B, D)."""
    return _in_part(batch, batch.query_mask)


def before_blank(batch: Batch) -> Tensor:
    """1 for document words that the query has before its blank: (B, D)."""
    return _in_part(batch, batch.query_mask & (_query_positions(batch) < batch.placeholder.unsqueeze(1)))


def after_blank(batch: Batch) -> Tensor:
    """1 for document words that the query has after its blank: (B, D)."""
    return _in_part(batch, batch.query_mask & (_query_positions(batch) > batch.placeholder.unsqueeze(1)))


def is_candidate(batch: Batch) -> Tensor:
    """1 for words of a candidate: (B, D)."""
    return batch.occurrence.any(dim=1).long()


def mention_count(batch: Batch) -> Tensor:
    """⌊log₂(1 + n)⌋ for a word of a candidate that the document mentions n times, 0 for others: (B, D)."""
    counts = batch.occurrence.sum(dim=2, keepdim=True)  # (B, C, 1)
    count = (batch.occurrence * counts).amax(dim=1)  # (B, D)  the largest, for a word of several candidates
    return (1 + count).float().log2().floor().long().clamp(max=ROWS - 1)


FEATURES: dict[str, Callable[[Batch], Tensor]] = {
    "before_feature": before_blank,
    "after_feature": after_blank,
    "candidate_feature": is_candidate,
    "mentions_feature": mention_count,
}
"""Features by the names of their settings; the setting of the paper's feature, qe-comm, is `feature`."""


def _in_part(batch: Batch, part: Tensor) -> Tensor:
    """1 for document words in a part of the query, given by a mask (B, Q): (B, D)."""
    same = batch.document.unsqueeze(2) == batch.query.unsqueeze(1)  # (B, D, Q)
    return (same & part.unsqueeze(1)).any(dim=2).long()


def _query_positions(batch: Batch) -> Tensor:
    return torch.arange(batch.query.shape[1], device=batch.query.device)
