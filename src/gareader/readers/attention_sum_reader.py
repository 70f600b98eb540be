"""The Attention Sum Reader.

Rudolf Kadlec, Martin Schmid, Ondřej Bajgar, Jan Kleindienst:
Text Understanding with the Attention Sum Reader Network. ACL 2016.

B examples, D document tokens, Q query tokens, C candidates, E token embedding, H GRU units per direction.

The loss is −log P(answer) with the softmax over all words of the document, as in the paper (`mass_loss`); predictions
are renormalised over the candidates, which changes no arg-max.

Departures: The query stands between @begin and @end. Initial word vectors are normal, with the deviation of the paper's
uniform ±0.1, and a word outside the table has a random vector by its spelling, not that of UNK. The paper has no
dropout; if it is set, it applies to the word vectors, with one mask per distinct word of a batch. A gradient that is
not finite stops the training; the authors' program removes it. Batches of similar length come from pools of 64 batches,
not of 10. Two variants of the authors' program are missing: the query around the document, and the weighted attention.
"""

import torch
from torch import nn

from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.gru import orthogonal_grus
from gareader.nn.masked import masked_softmax
from gareader.nn.pointer_sum import pointer_mass, pointer_sum
from gareader.nn.sequences import final_states
from gareader.nn.tensors import Batch
from gareader.readers.reader import Basis, PointerOutput
from gareader.readers.settings import AttentionSumConfig


class AttentionSumReader(nn.Module):
    """Reads the document once and points at the words whose context matches the query."""

    def __init__(self, config: AttentionSumConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        self.config = config
        self.embed = TokenEmbedding(words, update_words=config.update_words, scale=config.word_scale)
        self.dropout = Dropout(config.dropout)
        # In the authors' program the reset gate acts before the product, as it does here.
        self.document_gru, self.query_gru = orthogonal_grus(words.shape[1], config.hidden, generator)

    def forward(self, batch: Batch, *, attention: bool = False) -> PointerOutput:
        """Log-probabilities of the candidates; with `attention`, also s."""
        tokens = self.dropout(self.embed(batch.types))  # (types, E)  e(w)
        states = self.document_gru(tokens, batch.document_mask, batch.document)  # (B, D, 2H)  f_i(d)
        query_states = self.query_gru(tokens, batch.query_mask, batch.query)  # (B, Q, 2H)
        query = final_states(query_states, batch.query_mask)  # (B, 2H)  g(q)
        scores = torch.einsum("bdh,bh->bd", states, query)  # (B, D)  f_i(d)·g(q)
        log_mass = pointer_mass(scores, batch.document_mask, batch.occurrence)  # (B, C)  log Σ_{i ∈ I(c,d)} s_i
        log_probabilities = pointer_sum(scores, batch.occurrence)  # (B, C)  renormalised over the candidates
        pointer = masked_softmax(scores, batch.document_mask) if attention else None  # (B, D)  s
        return PointerOutput(log_probabilities, document_attention=pointer, log_mass=log_mass)
