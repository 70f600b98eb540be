"""The Attentive Reader.

Karl Moritz Hermann, Tomáš Kočiský, Edward Grefenstette, Lasse Espeholt, Will Kay, Mustafa Suleyman, Phil Blunsom:
Teaching Machines to Read and Comprehend. NIPS 2015.

B examples, D document tokens, Q query tokens, C candidates, E token embedding, H LSTM units a direction, M units of m.

Departures, and choices that the paper leaves open:

- The softmax of the answer, in the loss too, is over the candidates in the document, not over all words.
- A candidate of several words has the mean score of its words. With anonymity, W has rows for the marks alone, else for
  all words of the vocabulary; other words share a row that training does not change (see `AnswerWords`).
- The query stands between @begin and @end.
- The LSTMs have neither peepholes nor an output layer of their own: y(t) is their state.
- m has 100 units, and g as many as r and u have: the paper gives neither width.
- Dropout applies to the states of both LSTMs.
- Initial weights are normal with deviation 0.1, word vectors with deviation 1, biases zero: the paper does not say.
- The paper's corpora hide entities behind marks, permuted for each question: `data.anonymity = "permuted"`.

The reader attends to the document with the query as one vector, so there is document attention but no hop attention.
"""

from functools import partial

import torch
from torch import nn

from gareader.nn.answer_words import AnswerWords
from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.lstm import BiLSTM
from gareader.nn.masked import masked_softmax
from gareader.nn.projection import normal
from gareader.nn.sequences import final_states
from gareader.nn.tensors import Batch
from gareader.readers.reader import Basis, ReaderOutput
from gareader.readers.settings import AttentiveConfig


class AttentiveReader(nn.Module):
    """Attends to the document once, with the whole query as one vector, then predicts a word."""

    def __init__(self, config: AttentiveConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        self.config = config
        self.embed = TokenEmbedding(words, update_words=config.update_words)
        token, states, units = words.shape[1], 2 * config.hidden, config.attention_hidden  # E, 2H, M
        weight = partial(normal, std=config.init_std, generator=generator)
        self.document_lstm = BiLSTM(token, config.hidden, generator=generator, scale=config.init_std)
        self.query_lstm = BiLSTM(token, config.hidden, generator=generator, scale=config.init_std)
        self.y_m, self.u_m = weight(states, units), weight(states, units)  # W_ym, W_um
        self.m_s = weight(units, 1)  # w_ms
        self.r_g, self.u_g = weight(states, states), weight(states, states)  # W_rg, W_ug
        self.answer = AnswerWords(len(words), states, basis.answers, generator=generator, scale=config.init_std)  # W
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch, *, attention: bool = False) -> ReaderOutput:
        """Log-probabilities of the candidates; with `attention`, also s."""
        tokens = self.embed(batch.types)  # (types, E)
        document = self.dropout(self.document_lstm(tokens[batch.document], batch.document_mask))  # (B, D, 2H)  y_d(t)
        query = self.dropout(self.query_lstm(tokens[batch.query], batch.query_mask))  # (B, Q, 2H)  y_q(t)
        u = final_states(query, batch.query_mask)  # (B, 2H)  →y_q(|q|) ‖ ←y_q(1)
        m = torch.tanh(document @ self.y_m + (u @ self.u_m).unsqueeze(1))  # (B, D, M)  m(t)
        s = masked_softmax((m @ self.m_s).squeeze(-1), batch.document_mask)  # (B, D)  s(t)
        r = torch.einsum("bd,bdh->bh", s, document)  # (B, 2H)  r
        g = torch.tanh(r @ self.r_g + u @ self.u_g)  # (B, 2H)  g(d, q)
        log_probabilities = self.answer(g, batch)  # (B, C)  log p(a|d,q)
        return ReaderOutput(log_probabilities, document_attention=s if attention else None)
