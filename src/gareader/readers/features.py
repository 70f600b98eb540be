"""Features of document tokens, each with its own embedding; the same code reads numpy arrays and tensors."""

from collections.abc import Callable
from typing import Any

from gareader.data.arrays import Batch
from gareader.readers.gated_attention_settings import GatedAttentionConfig

ROWS = 8
"""Rows of a feature's embedding; values are smaller than this."""


def in_query(batch: Batch[Any]) -> Any:
    """1 for document words that are also in the query (qe-comm): (B, D)."""
    return _in_part(batch, batch.query_mask)


def before_blank(batch: Batch[Any]) -> Any:
    """1 for document words that the query has before its blank: (B, D)."""
    return _in_part(batch, batch.query_mask & (_query_positions(batch) < batch.placeholder[:, None]))


def after_blank(batch: Batch[Any]) -> Any:
    """1 for document words that the query has after its blank: (B, D)."""
    return _in_part(batch, batch.query_mask & (_query_positions(batch) > batch.placeholder[:, None]))


def is_candidate(batch: Batch[Any]) -> Any:
    """1 for words of a candidate: (B, D)."""
    return batch.occurrence.any(1)


def mention_count(batch: Batch[Any]) -> Any:
    """⌊log₂(1 + n)⌋, at most 7, for a word of a candidate that the document mentions n times, else 0: (B, D).

    A word of several candidates has the largest of their values.
    """
    counts = batch.occurrence.sum(2)[:, :, None]  # (B, C, 1)
    return sum(((counts >= 2**power - 1) & batch.occurrence).any(1) * 1 for power in range(1, ROWS))


def distance_to_end(batch: Batch[Any]) -> Any:
    """⌊log₂(1 + n)⌋, at most 7, for a word with n words after it in the document: (B, D)."""
    mask = batch.document_mask
    after = mask.sum(1)[:, None] - mask.cumsum(1)  # (B, D)
    return sum((after >= 2**power - 1) * 1 for power in range(1, ROWS))


def in_quotation(batch: Batch[Any]) -> Any:
    """1 for words inside a quotation: (B, D)."""
    return batch.quoted


FEATURES: dict[str, Callable[[Batch[Any]], Any]] = {
    "before_feature": before_blank,
    "after_feature": after_blank,
    "candidate_feature": is_candidate,
    "mentions_feature": mention_count,
    "distance_feature": distance_to_end,
    "quotation_feature": in_quotation,
}
"""Features by the names of their settings; the setting of the paper's feature, qe-comm, is `feature`."""


def chosen(config: GatedAttentionConfig) -> list[str]:
    """The features beside qe-comm that the settings ask for, in the order of their columns."""
    return sorted(name for name in FEATURES if getattr(config, name))  # the order of torch's ParameterDict


def _in_part(batch: Batch[Any], part: Any) -> Any:
    """1 for document words in a part of the query, given by a mask (B, Q): (B, D)."""
    same = batch.document[:, :, None] == batch.query[:, None]  # (B, D, Q)
    return (same & part[:, None]).any(2)


def _query_positions(batch: Batch[Any]) -> Any:
    return batch.query_mask.cumsum(1) - 1
