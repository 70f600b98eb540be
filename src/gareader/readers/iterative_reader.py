"""The Iterative Alternating Attention Reader.

Alessandro Sordoni, Philip Bachman, Adam Trischler, Yoshua Bengio:
Iterative Alternating Neural Attention for Machine Reading. 2016.

B examples, D document tokens, Q query tokens, C candidates, E token embedding, H GRU units per direction, S units of
the inference GRU, T glimpses.

The loss is −log P(answer) with the softmax over all words of the document, as in the paper (`mass_loss`); predictions
are renormalised over the candidates, which changes no arg-max. `document_attention` is that of the last glimpse; there
is no attention from document to query, because a glimpse attends to the query and then to the document.

Departures, and choices that the paper leaves open: A gate is one layer without a bias, as in the one program we know;
the paper may have two layers. Dropout applies to the tokens and to the inputs of attentions and gates. Initially the
recurrent weights are orthogonal, the GRUs' other weights N(0, 0.1²), and all others Glorot uniform. The GRUs' reset
gate acts before the product. Initial word vectors are normal, with the deviation of uniform ±0.05. The query stands
between @begin and @end. A word outside the table has a random vector by its spelling.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.gru import GRUStep, orthogonal_grus
from gareader.nn.masked import masked_softmax
from gareader.nn.pointer_sum import pointer_mass, pointer_sum
from gareader.nn.projection import Projection
from gareader.nn.tensors import Batch
from gareader.readers.reader import Basis, PointerOutput
from gareader.readers.settings import IterativeConfig


class IterativeReader(nn.Module):
    """Attends to the query, then to the document, T times in turn; the last attention points at the answer."""

    def __init__(self, config: IterativeConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        self.config = config
        self.embed = TokenEmbedding(words, update_words=config.update_words, scale=config.word_scale)
        self.dropout = Dropout(config.dropout)
        self.document_gru, self.query_gru = orthogonal_grus(words.shape[1], config.hidden, generator)
        state, width = config.inference_hidden, 2 * config.hidden  # S, 2H
        self.query_look = Projection(state, width, bias=True, generator=generator)  # A_q, a_q
        self.document_look = Projection(state + width, width, bias=True, generator=generator)  # A_d, a_d
        self.query_gate, self.document_gate = (
            Projection(state + 3 * width, width, generator=generator) for _ in range(2)
        )  # g, g'
        self.inference = GRUStep(2 * width, state, generator=generator)

    def forward(self, batch: Batch, *, attention: bool = False) -> PointerOutput:
        """Log-probabilities of the candidates; with `attention`, also that of the last glimpse."""
        tokens = self.embed(batch.types)  # (types, E)
        document = self.dropout(functional.embedding(batch.document, tokens))  # (B, D, E)
        query = self.dropout(functional.embedding(batch.query, tokens))  # (B, Q, E)
        document = self.document_gru(document, batch.document_mask)  # (B, D, 2H)  d̃
        query = self.query_gru(query, batch.query_mask)  # (B, Q, 2H)  q̃

        state = document.new_zeros(len(document), self.config.inference_hidden)  # (B, S)  s_0
        q, scores = self.glimpse(state, query, document, batch)  # (B, 2H)  q_1, (B, D)
        for _ in range(self.config.glimpses - 1):
            d = torch.einsum("bd,bdh->bh", masked_softmax(scores, batch.document_mask), document)  # (B, 2H)  d_t
            joint = self.dropout(torch.cat([state, q, d, q * d], dim=-1))  # (B, S + 6H)
            r_q, r_d = self.query_gate(joint).sigmoid(), self.document_gate(joint).sigmoid()  # (B, 2H) each
            state = self.inference(torch.cat([r_q * q, r_d * d], dim=-1), state)  # (B, S)  s_t
            q, scores = self.glimpse(state, query, document, batch)  # (B, 2H)  q_{t+1}, (B, D)

        log_mass = pointer_mass(scores, batch.document_mask, batch.occurrence)  # (B, C)  log Σ_{i ∈ I(c,d)} d_{i,T}
        log_probabilities = pointer_sum(scores, batch.occurrence)  # (B, C)  renormalised over the candidates
        pointer = masked_softmax(scores, batch.document_mask) if attention else None  # (B, D)  d_{i,T}
        return PointerOutput(log_probabilities, document_attention=pointer, log_mass=log_mass)

    def glimpse(self, state: Tensor, query: Tensor, document: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """q_t (B, 2H) and the scores of d_{i,t} (B, D), before the softmax, from s_{t−1}."""
        key = self.query_look(self.dropout(state))  # (B, 2H)  A_q s_{t−1} + a_q
        query_attention = masked_softmax(torch.einsum("bqh,bh->bq", query, key), batch.query_mask)  # (B, Q)  q_{i,t}
        q = torch.einsum("bq,bqh->bh", query_attention, query)  # (B, 2H)  q_t
        key = self.document_look(self.dropout(torch.cat([state, q], dim=-1)))  # (B, 2H)  A_d [s_{t−1} ‖ q_t] + a_d
        return q, torch.einsum("bdh,bh->bd", document, key)
