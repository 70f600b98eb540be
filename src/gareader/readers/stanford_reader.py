"""The Stanford Attentive Reader.

Danqi Chen, Jason Bolton, Christopher D. Manning:
A Thorough Examination of the CNN/Daily Mail Reading Comprehension Task. ACL 2016.

B examples, D document tokens, Q query tokens, C candidates, E token embedding, H GRU units per direction.

Departures from the paper and its published program, and choices that they leave open:

- The softmax of the answer, in the loss too, is over the candidates in the document. The program has a softmax over all
  labels and renormalises those of the document, which is the same if every entity is a candidate. The program clips
  probabilities away from 0 and 1; here they stay logarithms.
- With `data.anonymity = "ordered"`, entities are numbered by first occurrence, and the rows of W_a are those of the
  marks @entityN. Without anonymity, each candidate's own word is its label.
- A candidate of several words has the mean score of its words. With anonymity, W_a has rows for the marks alone, else
  for all words of the vocabulary; other words share a row that training does not change (see `AnswerWords`).
- The query stands between @begin and @end.
- All words of the corpus have vectors, not the first 50,000; the initial vector of a word without a pretrained one is
  normal, not uniform within ±0.01.
- Dropout applies to the input of each GRU, with one mask for both directions; the program has one for each direction.
- The GRU is the program's, with the reset gate after the product (`cell = "cudnn"`), and its initial weights are normal
  with deviation 0.1. W_s is initially uniform within ±0.01, W_a normal with the same deviation.

The reader attends to the document with the query as one vector, so there is document attention but no hop attention.
"""

import torch
from torch import nn

from gareader.nn.answer_words import AnswerWords
from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.gru import BiGRU
from gareader.nn.masked import masked_softmax
from gareader.nn.sequences import final_states
from gareader.nn.tensors import Batch
from gareader.readers.reader import Basis, ReaderOutput
from gareader.readers.settings import StanfordConfig


class StanfordReader(nn.Module):
    """Attends to the document once through a bilinear form, then predicts a word from the attended states alone."""

    def __init__(self, config: StanfordConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        self.config = config
        self.embed = TokenEmbedding(words, update_words=config.update_words)
        token, states, bound = words.shape[1], 2 * config.hidden, config.init_bound  # E, 2H
        self.document_gru = BiGRU(token, config.hidden, config.cell, generator=generator)
        self.query_gru = BiGRU(token, config.hidden, config.cell, generator=generator)
        self.match = nn.Parameter(torch.empty(states, states).uniform_(-bound, bound, generator=generator))  # W_s
        self.answer = AnswerWords(len(words), states, basis.answers, generator=generator, scale=bound / 3**0.5)  # W_a
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch, *, attention: bool = False) -> ReaderOutput:
        """Log-probabilities of the candidates; with `attention`, also α."""
        tokens = self.embed(batch.types)  # (types, E)
        document = self.document_gru(self.dropout(tokens[batch.document]), batch.document_mask)  # (B, D, 2H)  p̃_i
        query_states = self.query_gru(self.dropout(tokens[batch.query]), batch.query_mask)  # (B, Q, 2H)
        query = final_states(query_states, batch.query_mask)  # (B, 2H)  q = →h_{|q|} ‖ ←h_1
        scores = torch.einsum("bh,bdh->bd", query @ self.match, document)  # (B, D)  qᵀ W_s p̃_i
        alpha = masked_softmax(scores, batch.document_mask)  # (B, D)  α_i
        output = torch.einsum("bd,bdh->bh", alpha, document)  # (B, 2H)  o
        log_probabilities = self.answer(output, batch)  # (B, C)  log P(a|d,q), W_a o before the softmax
        return ReaderOutput(log_probabilities, document_attention=alpha if attention else None)
