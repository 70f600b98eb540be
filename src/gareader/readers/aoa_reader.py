"""The Attention-over-Attention Reader.

Yiming Cui, Zhipeng Chen, Si Wei, Shijin Wang, Ting Liu, Guoping Hu:
Attention-over-Attention Neural Networks for Reading Comprehension. ACL 2017.

B examples, D document tokens, Q query tokens, C candidates, E token embedding, H GRU units per direction.

The loss is −log P(answer) with s over all words of the document, as in the paper (`mass_loss`); predictions are
renormalised over the candidates, which changes no arg-max. `hop_attention` has one hop, β.

Departures: There is no N-best re-ranking. Document and query have a Bi-GRU each (programs differ; the paper shares the
word vectors). The query stands between @begin and @end. Initial word vectors are normal, with the deviation of the
paper's uniform ±0.05, and a word outside the table has a random vector by its spelling. All matrices of the GRUs, whose
reset gate acts before the product, are initially orthogonal: the paper does not say which. Dropout has a new mask for
every token.
"""

import torch
from torch import nn
from torch.nn import functional

from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.gru import orthogonal_grus
from gareader.nn.masked import masked_logsumexp
from gareader.nn.pointer_sum import pointer_sum
from gareader.nn.tensors import Batch
from gareader.readers.reader import Basis, PointerOutput
from gareader.readers.settings import AoAConfig


class AoAReader(nn.Module):
    """Each query word attends to the document, and the document weighs the query words."""

    def __init__(self, config: AoAConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        self.config = config
        self.embed = TokenEmbedding(words, update_words=config.update_words, scale=config.word_scale)
        self.dropout = Dropout(config.dropout)
        self.document_gru, self.query_gru = orthogonal_grus(
            words.shape[1], config.hidden, generator, input_weights=True
        )

    def forward(self, batch: Batch, *, attention: bool = False) -> PointerOutput:
        """Log-probabilities of the candidates; with `attention`, also β and s."""
        tokens = self.embed(batch.types)  # (types, E)
        document = self.dropout(functional.embedding(batch.document, tokens))  # (B, D, E)
        query = self.dropout(functional.embedding(batch.query, tokens))  # (B, Q, E)
        states = self.document_gru(document, batch.document_mask)  # (B, D, 2H)  h_doc
        query_states = self.query_gru(query, batch.query_mask)  # (B, Q, 2H)  h_query
        match = states @ query_states.transpose(1, 2)  # (B, D, Q)  M

        document_mask, query_mask = batch.document_mask.unsqueeze(1), batch.query_mask.unsqueeze(1)  # (B, 1, D or Q)
        total = masked_logsumexp(match.transpose(1, 2), document_mask)  # (B, Q)
        log_alpha = match - total.unsqueeze(1)  # (B, D, Q)  log α: softmax over the document for each query token
        log_beta = match - masked_logsumexp(match, query_mask).unsqueeze(2)  # (B, D, Q)  log β: softmax over the query
        length = batch.document_mask.sum(dim=1, keepdim=True).to(match)  # (B, 1)  |d|
        log_mean = masked_logsumexp(log_beta.transpose(1, 2), document_mask) - length.log()  # (B, Q)  log β̄
        log_pointer = masked_logsumexp(log_alpha + log_mean.unsqueeze(1), query_mask)  # (B, D)  log s, s = α β̄

        log_mass = masked_logsumexp(log_pointer.unsqueeze(1), batch.occurrence)  # (B, C)  log Σ_{i ∈ I(c,d)} s_i
        log_probabilities = pointer_sum(log_pointer, batch.occurrence)  # (B, C)  renormalised over the candidates
        if not attention:
            return PointerOutput(log_probabilities, log_mass=log_mass)
        real = batch.document_mask.unsqueeze(2) & query_mask  # (B, D, Q)
        beta = log_beta.masked_fill(~real, -torch.inf).exp()  # (B, D, Q)  β
        pointer = log_pointer.masked_fill(~batch.document_mask, -torch.inf).exp()  # (B, D)  s
        return PointerOutput(log_probabilities, (beta,), pointer, log_mass=log_mass)
