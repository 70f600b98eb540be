"""The Gated-Attention Reader.

Bhuwan Dhingra, Hanxiao Liu, Zhilin Yang, William W. Cohen, Ruslan Salakhutdinov:
Gated-Attention Readers for Text Comprehension. ACL 2017.

B examples, D document tokens, Q query tokens, C candidates, E token embedding, H GRU units per direction, K hops.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.core.config import Count, Settings, Share
from gareader.nn.batching import Batch
from gareader.nn.embedding import CharacterEmbedding, TokenEmbedding
from gareader.nn.gated_attention import Gate, GatedAttention, QueryAttention
from gareader.nn.gru import BiGRU, CellName
from gareader.nn.pointer_sum import pointer_sum
from gareader.nn.sequences import at_position, final_states
from gareader.nn.token_features import FEATURES, ROWS, in_query
from gareader.readers.output import ReaderOutput
from gareader.readers.reader import Basis

CLOZES: dict[str, Callable[[Tensor, Batch], Tensor]] = {
    "blank": lambda query_states, batch: at_position(query_states, batch.placeholder),
    "ends": lambda query_states, batch: final_states(query_states, batch.query_mask),
}
"""The query vector q_ℓ from the query's last states, by the names that `reader.cloze` takes."""


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
    update_words: bool = False
    """Whether training changes the word vectors L(w)."""


class GatedAttentionReader(nn.Module):
    """Reads the document K times, gated by attention to the query, then points at the answer."""

    def __init__(self, config: GatedAttentionConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        self.config = config
        self.is_gated = config.query_attention != "none"
        characters = (
            CharacterEmbedding(basis.characters, cell=config.cell, generator=generator) if config.characters else None
        )
        self.embed = TokenEmbedding(words, characters, update_words=config.update_words)
        token = words.shape[1] + (characters.width if characters else 0)  # E
        gated = 4 * config.hidden if self.is_gated and config.gate == "concatenate" else 2 * config.hidden
        document_inputs = [token] + [gated] * (config.hops - 1)
        features = [name for name in FEATURES if getattr(config, name)]
        document_inputs[-1] += 2 * (config.feature + len(features))
        query_inputs = [token] * (config.hops if self.is_gated else 1)
        self.document_grus, self.query_grus = (
            nn.ModuleList(BiGRU(width, config.hidden, config.cell, generator=generator) for width in widths)
            for widths in (document_inputs, query_inputs)
        )
        self.feature = nn.Parameter(torch.empty(2, 2).normal_(0, 0.01, generator=generator)) if config.feature else None
        self.more_features = nn.ParameterDict(
            {name: torch.empty(ROWS, 2).normal_(0, 0.01, generator=generator) for name in features}
        )
        self.gated_attention = GatedAttention(config.query_attention, config.gate, config.dropout)

    def forward(self, batch: Batch, *, attention: bool = False) -> ReaderOutput:
        """Log-probabilities of the candidates; with `attention`, also α of each hop and s."""
        tokens = self.embed(batch.types)  # (types, E)
        inputs: Tensor = tokens
        words: Tensor | None = batch.document  # (B, D): the GRU's input X^(0) is tokens[words], (B, D, E)
        query = tokens[batch.query]  # (B, Q, E)   Y

        hop_attention = []
        for k in range(self.config.hops - 1):
            states = self.document_grus[k](inputs, batch.document_mask, words)  # (B, D, 2H)  D^(k), eq. 2
            query_states = (
                self.query_grus[k](query, batch.query_mask) if self.is_gated else None
            )  # (B, Q, 2H)  Q^(k), eq. 3
            # (B, D, 2H or 4H)  X^(k), eqs. 4 to 6; (B, D, Q)  α
            inputs, alpha = self.gated_attention(states, query_states, batch.query_mask, attention=attention)
            words = None
            if attention and alpha is not None:
                hop_attention.append(alpha)

        features = [] if self.feature is None else [functional.embedding(in_query(batch), self.feature)]  # (B, D, 2)
        features += [functional.embedding(FEATURES[name](batch), table) for name, table in self.more_features.items()]
        if features:
            inputs, words = torch.cat([inputs if words is None else inputs[words], *features], dim=-1), None
        states = self.document_grus[-1](inputs, batch.document_mask, words)  # (B, D, 2H)  D^(K)
        query_states = self.query_grus[-1](query, batch.query_mask)  # (B, Q, 2H)  Q^(K)
        cloze = CLOZES[self.config.cloze](query_states, batch)  # (B, 2H)  q_ℓ
        scores = torch.einsum("bdh,bh->bd", states, cloze)  # (B, D)  eq. 7, before the softmax
        log_probabilities = pointer_sum(scores, batch.occurrence)  # (B, C)  log Pr(c|d,q), eq. 8
        if not attention:
            return ReaderOutput(log_probabilities)
        pointer = scores.masked_fill(~batch.document_mask, -torch.inf).softmax(dim=-1)  # (B, D)  s, eq. 7
        return ReaderOutput(log_probabilities, tuple(hop_attention), pointer)
