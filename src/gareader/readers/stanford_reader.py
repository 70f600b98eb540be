"""The Stanford Attentive Reader.

Danqi Chen, Jason Bolton, Christopher D. Manning:
A Thorough Examination of the CNN/Daily Mail Reading Comprehension Task. ACL 2016.

B examples, D document tokens, Q query tokens, C candidates, E token embedding, H GRU units per direction.

Where it departs from the paper and its published program, or they leave a choice:

- The softmax of the answer, in the loss too, is over the candidates that the document has. The program takes all
  labels, then those of the document and renormalises, which is the same where every entity is a candidate; it keeps
  probabilities off 0 and 1, here they stay logarithms.
- Entities are numbered by first occurrence with `data.anonymity = "ordered"`, and the rows of W_a are those of
  the marks @entityN: without anonymity each candidate's own word is its label.
- A candidate of several words scores the mean of its words' rows. Behind marks, W_a has rows for these alone, else for
  all words of the vocabulary; other words share a row that training never moves (see `AnswerWords`).
- The query stands between @begin and @end.
- All words of the corpus have vectors, not the first 50,000; a word without a pretrained vector begins with a normal
  one, not with one within ±0.01.
- Dropout falls on the input of each GRU, one mask for both directions; the program draws one for each.
- The GRU is the program's, with the reset gate after the product (`cell = "cudnn"`), and its first weights are normal
  with deviation 0.1. W_s begins uniform within ±0.01, W_a normal with the deviation of that.

It attends to the document alone, with the query as one vector, so there is a document attention and no hop attention.
"""

from dataclasses import dataclass

import torch
from torch import nn

from gareader.batching import Batch
from gareader.config import Count, Positive, Settings, Share
from gareader.nn.answer_words import AnswerWords
from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.gru import BiGRU, CellName
from gareader.nn.masked import masked_softmax
from gareader.nn.sequences import final_states
from gareader.readers.output import ReaderOutput
from gareader.readers.reader import Basis


@dataclass(frozen=True)
class StanfordConfig(Settings):
    """Settings of a Stanford Attentive Reader; the defaults are the paper's for CNN."""

    hidden: Count = 128
    """H, GRU units per direction."""
    dropout: Share = 0.2
    """Share of the GRUs' input that is dropped in training."""
    init_bound: Positive = 0.01
    """The largest first weight of W_s; those of W_a have the same deviation."""
    cell: CellName = "cudnn"
    """The GRU's equations: with the reset gate after the product (cudnn) or before it (paper)."""
    update_words: bool = True
    """Whether training changes the word vectors."""


class StanfordReader(nn.Module):
    """Looks once at the document through a bilinear form, then names the answer from what it saw alone."""

    def __init__(self, config: StanfordConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        self.config = config
        self.embed = TokenEmbedding(words, None, update_words=config.update_words)
        token, states, bound = words.shape[1], 2 * config.hidden, config.init_bound  # E, 2H
        self.document_gru = BiGRU(token, config.hidden, config.cell, generator=generator)
        self.query_gru = BiGRU(token, config.hidden, config.cell, generator=generator)
        self.match = nn.Parameter(torch.empty(states, states).uniform_(-bound, bound, generator=generator))  # W_s
        self.answer = AnswerWords(len(words), states, basis.answers, generator=generator, scale=bound / 3**0.5)  # W_a
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch, *, attention: bool = False) -> ReaderOutput:
        """Log-probabilities of the candidates; with `attention`, also where it looked."""
        tokens = self.embed(batch.types)  # (types, E)
        document = self.document_gru(self.dropout(tokens[batch.document]), batch.document_mask)  # (B, D, 2H)  p̃_i
        asked = self.query_gru(self.dropout(tokens[batch.query]), batch.query_mask)  # (B, Q, 2H)
        query = final_states(asked, batch.query_mask)  # (B, 2H)  q = →h_{|q|} ‖ ←h_1
        scores = torch.einsum("bh,bdh->bd", query @ self.match, document)  # (B, D)  qᵀ W_s p̃_i
        alpha = masked_softmax(scores, batch.document_mask)  # (B, D)  α_i
        output = torch.einsum("bd,bdh->bh", alpha, document)  # (B, 2H)  o
        log_probabilities = self.answer(output, batch)  # (B, C)  log P(a|d,q), W_a o before the softmax
        return ReaderOutput(log_probabilities, document_attention=alpha if attention else None)
