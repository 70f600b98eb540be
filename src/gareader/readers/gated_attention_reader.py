"""The Gated-Attention Reader.

Bhuwan Dhingra, Hanxiao Liu, Zhilin Yang, William W. Cohen, Ruslan Salakhutdinov:
Gated-Attention Readers for Text Comprehension. ACL 2017.

B examples, D document tokens, Q query tokens, C candidates, E token embedding, H GRU units per direction, K hops.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.nn.embedding import CharacterEmbedding, TokenEmbedding
from gareader.nn.gated_attention import GatedAttention
from gareader.nn.gru import BiGRU
from gareader.nn.pointer_sum import pointer_sum
from gareader.nn.sequences import at_position, final_states
from gareader.nn.tensors import Batch
from gareader.readers.features import FEATURES, ROWS, chosen, in_query
from gareader.readers.reader import Basis, ReaderOutput
from gareader.readers.settings import GatedAttentionConfig

CLOZES: dict[str, Callable[[Tensor, Batch], Tensor]] = {
    "blank": lambda query_states, batch: at_position(query_states, batch.placeholder),
    "ends": lambda query_states, batch: final_states(query_states, batch.query_mask),
}
"""The query vector q_ℓ from the query's last states, by the names that `reader.cloze` takes."""


class GatedAttentionReader(nn.Module):
    """Reads the document K times, gated by attention to the query, then points at the answer."""

    def __init__(self, config: GatedAttentionConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        self.config = config
        self.is_gated = config.query_attention != "none"
        characters = (
            CharacterEmbedding(basis.characters, config.cell, generator=generator) if config.characters else None
        )
        self.embed = TokenEmbedding(words, characters, update_words=config.update_words)
        token = words.shape[1] + (characters.width if characters else 0)  # E
        gated = 4 * config.hidden if self.is_gated and config.gate == "concatenate" else 2 * config.hidden
        document_inputs = [token] + [gated] * (config.hops - 1)
        features = chosen(config)
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

        features = (
            [] if self.feature is None else [functional.embedding(in_query(batch).long(), self.feature)]
        )  # (B, D, 2)
        features += [
            functional.embedding(FEATURES[name](batch).long(), table) for name, table in self.more_features.items()
        ]
        if features:
            inputs, words = torch.cat([inputs if words is None else inputs[words], *features], dim=-1), None
        states = self.document_grus[-1](inputs, batch.document_mask, words)  # (B, D, 2H)  D^(K)
        query_states = self.query_grus[-1](query, batch.query_mask)  # (B, Q, 2H)  Q^(K)
        cloze = CLOZES[self.config.cloze](query_states, batch)  # (B, 2H)  q_ℓ
        scores = torch.einsum("bdh,bh->bd", states, cloze)  # (B, D)  eq. 7, before the softmax
        words_present = batch.words_present if self.config.pointer == "mean" else None  # (B, C)
        log_probabilities = pointer_sum(scores, batch.occurrence, words_present)  # (B, C)  log Pr(c|d,q), eq. 8
        if not attention:
            return ReaderOutput(log_probabilities)
        pointer = scores.masked_fill(~batch.document_mask, -torch.inf).softmax(dim=-1)  # (B, D)  s, eq. 7
        return ReaderOutput(log_probabilities, tuple(hop_attention), pointer)
