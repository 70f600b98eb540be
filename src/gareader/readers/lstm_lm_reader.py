"""The LSTM language model of document and query.

Felix Hill, Antoine Bordes, Sumit Chopra, Jason Weston: The Goldilocks Principle: Reading Children's Books with Explicit
Memory Representations. ICLR 2016 ("LSTMs (context + query)").

B examples, D document tokens, Q query tokens, C candidates, S words of the query with a candidate filled in, T tokens
of any text, U distinct words of a question, E token embedding, H LSTM units. The probability of a candidate c is
p(q_1 … q_{ℓ−1}, c, q_{ℓ+1} … q_|q| | d), the product over the words of the query with c, all its words, in the blank.
It is renormalised over the candidates in the document. There is no attention.

The loss is that of a language model: −log p of every word of the document but the first, and of the query with the
right answer filled in, the mean over all of these words. In training the queries with the other candidates are read for
the accuracy alone, without a gradient.

Departures, and choices that the paper leaves open:
- The softmax is over the distinct words of the question (of its document, query and candidates), not over the whole
  vocabulary, in training and in answering. Over the vocabulary an update would take a hundred times the work; over the
  words of the batch an answer would depend on the other questions in the batch.
- Words outside the vocabulary share one row of the softmax, which training does not change: all words of the training
  and validation questions are in the vocabulary. Rows of words that only validation questions have stay random.
- The model is trained on documents and filled-in queries, each from a state of zeros, not on running books.
- One layer; initial weights are uniform in ±1/√H, word vectors normal with deviation 1, biases zero except the forget
  gate's, which is 1. There is one bias per gate.
- There is no dropout unless it is set; it applies to input and output of the LSTM.
- The marks @begin and @end of the query are words like others; @begin separates the query from the document.
"""

from contextlib import nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.lstm_loop import LSTMLoop, State
from gareader.nn.masked import masked_log_softmax
from gareader.nn.rows import row_table, rows
from gareader.nn.sequences import at_position
from gareader.nn.tensors import Batch
from gareader.readers.reader import Basis, ReaderOutput
from gareader.readers.settings import LSTMLanguageModelConfig


@dataclass(frozen=True, kw_only=True)
class LanguageOutput(ReaderOutput):
    """Output with the inputs of the language model's loss."""

    log_document: Tensor
    """(B,): log p of the document's words after the first."""
    log_query: Tensor
    """(B, C): log p of the query with each candidate filled in, after the document."""


class LSTMLanguageModelReader(nn.Module):
    """Reads the document, then the query with each candidate in the blank; the most probable text has the answer."""

    def __init__(self, config: LSTMLanguageModelConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        self.config = config
        self.embed = TokenEmbedding(words, update_words=config.update_words)
        self.dropout = Dropout(config.dropout)
        self.loop = LSTMLoop()
        E, H = words.shape[1], config.hidden
        initial = (
            torch.empty(shape).uniform_(-(H**-0.5), H**-0.5, generator=generator)
            for shape in ((E, 4 * H), (H, 4 * H), (len(words) + 1, H))
        )
        self.input_weight, self.recurrent_weight = (  # W and U of the gates in order f, i, g, o
            nn.Parameter(next(initial)) for _ in range(2)
        )
        self.output = row_table(next(initial))  # the rows of the softmax
        self.bias = nn.Parameter(torch.tensor([1.0, 0, 0, 0]).repeat_interleave(H))
        self.output_bias = nn.Parameter(torch.zeros(len(words) + 1))

    def forward(self, batch: Batch, *, attention: bool = False) -> LanguageOutput:  # noqa: ARG002
        """Log-probabilities of the candidates; there is no attention."""
        tokens = self.embed(batch.types)  # (types, E)
        softmax = QuestionSoftmax(batch, self.output, self.output_bias, self.dropout)
        states, (h, c) = self.read(tokens[batch.document], batch.document_mask)  # (B, D, H); (B, H) each
        log_p = softmax.log_p(states[:, :-1], batch.document[:, 1:])  # (B, D − 1)  log p(d_i | d_1 … d_{i−1})
        log_document = (log_p * batch.document_mask[:, 1:]).sum(dim=1)  # (B,)

        queries, mask = filled_queries(batch)  # (B, C, S)
        with nullcontext() if not self.training else torch.no_grad():
            log_query = self.log_query(tokens, softmax, queries, mask, (h, c))  # (B, C)  log p(q with c | d)
        if self.training:  # the loss has the right answer alone
            answer = batch.answer.clamp(min=0)  # (B,)  any candidate where the answer is unknown
            query, real = (at_position(each, answer).unsqueeze(1) for each in (queries, mask))  # (B, 1, S) each
            log_query = log_query.scatter(1, answer.unsqueeze(1), self.log_query(tokens, softmax, query, real, (h, c)))

        log_probabilities = masked_log_softmax(log_query, batch.occurrence.any(dim=2))  # (B, C)  log Pr(c|d,q)
        return LanguageOutput(log_probabilities, log_document=log_document, log_query=log_query)

    def log_query(
        self, tokens: Tensor, softmax: "QuestionSoftmax", queries: Tensor, mask: Tensor, state: State
    ) -> Tensor:
        """log p of each filled-in query (B, C, S) → (B, C), given the state after the document."""
        C, S = queries.shape[1:]
        h, c = (each.repeat_interleave(C, dim=0) for each in state)  # (B · C, H)
        states, _ = self.read(tokens[queries].flatten(0, 1), mask.flatten(0, 1), (h, c))  # (B · C, S, H)
        states = torch.cat([h.unsqueeze(1), states[:, :-1]], dim=1)  # (B · C, S, H)  before each word
        states = states.view(-1, C * S, states.shape[2])  # (B, C · S, H)
        log_p = softmax.log_p(states, queries.flatten(1))  # (B, C · S)  log p(q_i | d, q_<i)
        return (log_p.view_as(mask) * mask).sum(dim=2)

    def read(self, values: Tensor, mask: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """(N, T, E), (N, T) → the states after each word (N, T, H), and the last state and cell, (N, H) each."""
        steps = self.dropout(values).transpose(0, 1) @ self.input_weight + self.bias  # (T, N, 4H)
        states, cells = self.loop(steps, self.recurrent_weight, state=state)  # (T, N, H) each
        end = mask.sum(dim=1) - 1, torch.arange(len(mask), device=mask.device)
        return states.transpose(0, 1), (states[end], cells[end])


def filled_queries(batch: Batch) -> tuple[Tensor, Tensor]:
    """The query with each candidate in the blank, and its mask: (B, C, S) each."""
    lengths = batch.candidates_mask.sum(dim=2, keepdim=True)  # (B, C, 1)  words of the candidate
    blank = batch.placeholder[:, None, None]  # (B, 1, 1)  ℓ
    width = batch.query.shape[1] - 1 + batch.candidates.shape[2]  # S
    i = torch.arange(width, device=blank.device).expand(*lengths.shape[:2], -1)  # (B, C, S)
    after_blank = (i - lengths + 1).clamp(0, batch.query.shape[1] - 1)
    query_position = torch.where(i < blank, i.clamp(max=batch.query.shape[1] - 1), after_blank)  # (B, C, S)
    candidate_position = (i - blank).clamp(0, batch.candidates.shape[2] - 1)  # (B, C, S)
    query = batch.query.unsqueeze(1).expand(-1, lengths.shape[1], -1).gather(2, query_position)
    in_candidate = (i >= blank) & (i < blank + lengths)
    words = torch.where(in_candidate, batch.candidates.gather(2, candidate_position), query)
    return words, i < batch.query_mask.sum(dim=1)[:, None, None] - 1 + lengths


def language_loss(output: ReaderOutput, batch: Batch) -> Tensor:
    """−log p of a word, the mean over all words of documents and of queries with their answers."""
    if not isinstance(output, LanguageOutput):
        raise TypeError("the reader gave no log_document and log_query")
    log_query = at_position(output.log_query, batch.answer)  # (B,)
    return -(output.log_document.sum() + log_query.sum()) / language_words(batch)


def language_words(batch: Batch) -> int:
    """The number of words of a batch that the language model predicts."""
    answers = at_position(batch.candidates_mask.sum(dim=2), batch.answer).sum() - len(batch.answer)  # minus the blanks
    return int(batch.document_mask[:, 1:].sum() + batch.query_mask.sum() + answers)


class QuestionSoftmax:
    """The softmax over the distinct words of each question's document, query and candidates."""

    def __init__(self, batch: Batch, weight: Tensor, bias: Tensor, dropout: nn.Module) -> None:
        """`weight` (words + 1, H) and `bias` have a row for each word of the table, and a last one for all others."""
        row = functional.pad(batch.types.known, (0, len(batch.types.unknown)), value=len(weight) - 1)  # (types,)
        present = torch.zeros(len(batch.document), len(row), dtype=torch.bool, device=row.device)  # (B, types)
        blank = torch.arange(batch.query.shape[1], device=row.device) == batch.placeholder.unsqueeze(1)  # (B, Q)
        for words, mask in (
            (batch.document, batch.document_mask),
            (batch.query, batch.query_mask & ~blank),
            (batch.candidates.flatten(1), batch.candidates_mask.flatten(1)),
        ):
            present[mask.nonzero(as_tuple=True)[0], words[mask]] = True
        counts = present.sum(dim=1, keepdim=True)  # (B, 1)
        types = present.int().argsort(dim=1, descending=True, stable=True)[:, : int(counts.max())]  # (B, U)
        self.mask = (torch.arange(types.shape[1], device=types.device) < counts).unsqueeze(1)  # (B, 1, U)
        self.index = (present.cumsum(dim=1) - 1).clamp(min=0)  # (B, types): of a word among those of the question
        self.weight = functional.embedding(types, rows(weight, row)).transpose(1, 2)  # (B, H, U)
        self.bias = bias[row[types]].unsqueeze(1)  # (B, 1, U)
        self.dropout = dropout

    def log_p(self, states: Tensor, words: Tensor) -> Tensor:
        """log p of each word, given the state before it: (B, T, H), (B, T) → (B, T)."""
        logits = self.dropout(states) @ self.weight + self.bias  # (B, T, U)
        log_softmax: Tensor = logits.masked_fill(~self.mask, -torch.inf).log_softmax(dim=2)
        return log_softmax.gather(2, self.index.gather(1, words).unsqueeze(2)).squeeze(2)
