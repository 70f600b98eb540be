"""The settings of the Gated-Attention Reader, without those of the others, for which answers need not wait."""

from dataclasses import dataclass
from typing import Literal

from gareader.core.config import Count, Settings, Share
from gareader.kernels.layers import CellName, Gate, QueryAttention

GATED_ATTENTION = "gated-attention"
"""The name of the reader."""


@dataclass(frozen=True)
class GatedAttentionConfig(Settings):
    """Settings of a Gated-Attention Reader; the defaults are the paper's best for the Children's Book Test."""

    hops: Count = 3
    """K, the number of layers; 1 has no gated attention and is the AS Reader, up to the query's vector (`cloze`)."""
    hidden: Count = 128
    """H, GRU units per direction."""
    dropout: Share = 0.4
    """Dropout rate of the gated-attention output."""
    gate: Gate = "multiply"
    """How the query gates a document token."""
    query_attention: QueryAttention = "token"
    """What gates: each token's attention to the query (token), one query vector (whole), or nothing (none)."""
    cloze: Literal["blank", "ends"] = "blank"
    """The position of the query's last states: the blank, or both ends as in the earlier reader GA-- (ends)."""
    pointer: Literal["sum", "mean"] = "sum"
    """What a candidate of several words gets: the attention on all of them, as in the paper, or their mean."""
    cell: CellName = "paper"
    """The GRU's equations: the paper's, with the reset gate before the product, or cudnn's, with it after."""
    characters: bool = True
    """Whether a character model C(w) stands beside the word vector L(w)."""
    feature: bool = True
    """Whether the last layer has a feature for document words that are in the query (qe-comm)."""
    before_feature: bool = False
    """Whether the last layer has a feature for document words that the query has before the blank."""
    after_feature: bool = False
    """Whether the last layer has a feature for document words that the query has after the blank."""
    candidate_feature: bool = False
    """Whether the last layer has a feature for document words that belong to a candidate."""
    mentions_feature: bool = False
    """Whether the last layer has a feature for the number of mentions of the word's candidate, as a logarithm."""
    distance_feature: bool = False
    """Whether the last layer has a feature for the number of words to the end of the document, as a logarithm."""
    quotation_feature: bool = False
    """Whether the last layer has a feature for document words inside a quotation."""
    update_words: bool = False
    """Whether training changes the word vectors L(w)."""
