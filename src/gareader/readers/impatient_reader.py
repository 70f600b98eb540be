"""The Impatient Reader.

Karl Moritz Hermann, Tomáš Kočiský, Edward Grefenstette, Lasse Espeholt, Will Kay, Mustafa Suleyman, Phil Blunsom:
Teaching Machines to Read and Comprehend. NIPS 2015.

B examples, D document tokens, Q query tokens, C candidates, E token embedding, H LSTM units a direction, M units of m.

Departures, and choices that the paper leaves open:

- The softmax of the answer, in the loss too, is over the candidates in the document, not over all words.
- A candidate of several words has the mean score of its words. With anonymity, W has rows for the marks alone, else for
  all words of the vocabulary; other words share a row that training does not change (see `AnswerWords`).
- The query stands between @begin and @end; the reader attends to the document for these two tokens as well.
- The LSTMs have neither peepholes nor an output layer of their own: y(t) is their state.
- m has 100 units, and g as many as r and u have: the paper gives neither width.
- Dropout applies to the states of both LSTMs.
- Initial weights and r(0) are normal with deviation 0.1, word vectors with deviation 1, biases zero: the paper does not
  say. W_rr has deviation 1/√2H: with 0.1 the gradients explode (to norms of 10¹³) over the dozens of tokens of a query.
- The paper's corpora hide entities behind marks, permuted for each question: `data.anonymity = "permuted"`.

`hop_attention` has one hop, s(i, t), which sums to one over document tokens t for each query token i.
`document_attention` is that of the last query token, @end.
"""

from functools import partial

import torch
from torch import Tensor, nn

from gareader.nn.answer_words import AnswerWords
from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.lstm import BiLSTM
from gareader.nn.masked import masked_softmax
from gareader.nn.projection import normal
from gareader.nn.sequences import at_position, final_states
from gareader.nn.tensors import Batch
from gareader.readers.reader import Basis, ReaderOutput
from gareader.readers.settings import ImpatientConfig


class ImpatientReader(nn.Module):
    """Attends to the document again for every query token, then predicts a word."""

    def __init__(self, config: ImpatientConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        self.config = config
        self.embed = TokenEmbedding(words, update_words=config.update_words)
        token, states, units = words.shape[1], 2 * config.hidden, config.attention_hidden  # E, 2H, M
        weight = partial(normal, std=config.init_std, generator=generator)
        self.document_lstm = BiLSTM(token, config.hidden, generator=generator, scale=config.init_std)
        self.query_lstm = BiLSTM(token, config.hidden, generator=generator, scale=config.init_std)
        self.d_m, self.r_m, self.q_m = (weight(states, units) for _ in range(3))  # W_dm, W_rm, W_qm
        self.m_s = weight(units, 1)  # w_ms
        self.r_0 = weight(states)  # r(0)
        self.r_r = normal(states, states, std=states**-0.5, generator=generator)  # W_rr
        self.r_g, self.q_g = (weight(states, states) for _ in range(2))  # W_rg, W_qg
        self.answer = AnswerWords(len(words), states, basis.answers, generator=generator, scale=config.init_std)  # W
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch, *, attention: bool = False) -> ReaderOutput:
        """Log-probabilities of the candidates; with `attention`, also s(i, t)."""
        tokens = self.embed(batch.types)  # (types, E)
        document = self.dropout(self.document_lstm(tokens[batch.document], batch.document_mask))  # (B, D, 2H)  y_d(t)
        query = self.dropout(self.query_lstm(tokens[batch.query], batch.query_mask))  # (B, Q, 2H)  y_q(i)
        r, s = self.attend(document, query, batch.document_mask, batch.query_mask)  # r(|q|) (B, 2H); s(i, t) (B, D, Q)
        u = final_states(query, batch.query_mask)  # (B, 2H)  →y_q(|q|) ‖ ←y_q(1)
        g = torch.tanh(r @ self.r_g + u @ self.q_g)  # (B, 2H)  g(d, q)
        log_probabilities = self.answer(g, batch)  # (B, C)  log p(a|d,q)
        if not attention:
            return ReaderOutput(log_probabilities)
        last = at_position(s.transpose(1, 2), batch.query_mask.sum(dim=1) - 1)  # (B, D)  s(|q|, t)
        return ReaderOutput(log_probabilities, (s,), last)

    def attend(
        self, document: Tensor, query: Tensor, document_mask: Tensor, query_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """r(|q|) (B, 2H) and s(i, t) (B, D, Q); a masked query token keeps r, and its s is zero."""
        document_terms = document @ self.d_m  # (B, D, M)  W_dm y_d(t)
        query_terms = query @ self.q_m  # (B, Q, M)  W_qm y_q(i)
        r = self.r_0.expand(len(document), -1)  # (B, 2H)  r(0)
        attentions = []
        for query_term, real in zip(query_terms.unbind(dim=1), query_mask.unsqueeze(-1).unbind(dim=1), strict=True):
            m = torch.tanh(document_terms + (r @ self.r_m + query_term).unsqueeze(1))  # (B, D, M)  m(i, t)
            s = masked_softmax((m @ self.m_s).squeeze(-1), document_mask & real)  # (B, D)  s(i, t)
            r_i = torch.einsum("bd,bdh->bh", s, document) + torch.tanh(r @ self.r_r)  # (B, 2H)  r(i)
            r = torch.where(real, r_i, r)
            attentions.append(s)
        return r, torch.stack(attentions, dim=-1)
