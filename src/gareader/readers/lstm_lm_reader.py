"""The LSTM language model that reads the context and then the query.

Felix Hill, Antoine Bordes, Sumit Chopra, Jason Weston: The Goldilocks Principle: Reading Children's Books with Explicit
Memory Representations. ICLR 2016 ("LSTMs (context + query)").

B examples, D document tokens, Q query tokens, C candidates, S words of the query with a candidate filled in, T tokens
of any text, U distinct words of a question, E token embedding, H LSTM units. A candidate c has p(q_1 … q_{ℓ−1}, c,
q_{ℓ+1} … q_|q| | d), the product of the probabilities of the words of the filled-in query after the document; all words
of c are filled in. These are renormalised over the candidates that the document has. There is no attention.

The loss is that of a language model: −log p of every word of the document but the first, and of the query with the
right answer filled in, the mean over all of these words.

Departures, and choices where the paper leaves one:
- The softmax is over the distinct words of the question (of its document, query and candidates), not over the whole
  vocabulary, in training and in answering: a word is compared with those that the question has. Over the vocabulary an
  update would take a hundred times the work; over the words of the batch an answer would depend on its neighbours.
- Words outside the vocabulary share one row of the softmax, which training never moves: all words of the training and
  validation questions are inside. Those that only the validation questions have keep their first, random rows.
- The model is trained on documents and filled-in queries, each from a state of zeros, not on running books.
- One layer; first weights uniform in ±1/√H, word vectors normal with deviation 1, biases zero but for the forget
  gate's, which is 1. One bias per gate.
- No dropout unless it is set; it falls on what goes into the LSTM and on what comes out.
- The marks @begin and @end of the query are words like others: the first parts it from the document.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.batching import Batch
from gareader.config import Count, Settings, Share
from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.lstm_loop import LSTMLoop, State
from gareader.nn.masked import masked_log_softmax
from gareader.nn.sequences import at_position
from gareader.readers.output import ReaderOutput
from gareader.readers.reader import Basis


@dataclass(frozen=True)
class LSTMLanguageModelConfig(Settings):
    """Settings of an LSTM language model; the paper's for the Children's Book Test, with vectors of width 512."""

    hidden: Count = 512
    """H, LSTM units."""
    dropout: Share = 0.0
    """Share of what goes into the LSTM and comes out of it that is dropped in training."""
    update_words: bool = True
    """Whether training changes the word vectors."""


@dataclass(frozen=True, kw_only=True)
class LanguageOutput(ReaderOutput):
    """What the language model is trained on, beside the answer."""

    log_document: Tensor
    """(B,): log p of the document's words after the first."""
    log_query: Tensor
    """(B, C): log p of the query with each candidate filled in, after the document."""


class LSTMLanguageModelReader(nn.Module):
    """Reads the document once, then the query with each candidate in the blank, and asks what surprises it least."""

    def __init__(self, config: LSTMLanguageModelConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        self.config = config
        self.embed = TokenEmbedding(words, None, update_words=config.update_words)
        self.dropout = Dropout(config.dropout)
        self.loop = LSTMLoop()
        E, H = words.shape[1], config.hidden
        self.input_weight, self.recurrent_weight, self.output = (
            nn.Parameter(torch.empty(shape).uniform_(-(H**-0.5), H**-0.5, generator=generator))
            for shape in ((E, 4 * H), (H, 4 * H), (len(words) + 1, H))
        )  # of the gates in order f, i, g, o; of the softmax
        self.bias = nn.Parameter(torch.tensor([1.0, 0, 0, 0]).repeat_interleave(H))
        self.output_bias = nn.Parameter(torch.zeros(len(words) + 1))

    def forward(self, batch: Batch, *, attention: bool = False) -> LanguageOutput:  # noqa: ARG002
        """Log-probabilities of the candidates; there is no attention to show."""
        tokens = self.embed(batch.types)  # (types, E)
        own = OwnWords(batch, self.output, self.output_bias, self.dropout)  # the softmax
        states, (h, c) = self.read(tokens[batch.document], batch.document_mask)  # (B, D, H); (B, H) each
        log_p = own.log_p(states[:, :-1], batch.document[:, 1:])  # (B, D − 1)  log p(d_i | d_1 … d_{i−1})
        log_document = (log_p * batch.document_mask[:, 1:]).sum(dim=1)  # (B,)

        filled, mask = filled_in(batch)  # (B, C, S)
        C, S = filled.shape[1:]
        after = h.repeat_interleave(C, dim=0), c.repeat_interleave(C, dim=0)  # (B · C, H) each: the document is read
        states, _ = self.read(tokens[filled].flatten(0, 1), mask.flatten(0, 1), after)  # (B · C, S, H)
        states = torch.cat([after[0].unsqueeze(1), states[:, :-1]], dim=1)  # (B · C, S, H)  before each word
        states = states.view(-1, C * S, states.shape[2])  # (B, C · S, H)
        log_p = own.log_p(states, filled.flatten(1))  # (B, C · S)  log p(q_i | d, q_<i)
        log_query = (log_p.view_as(mask) * mask).sum(dim=2)  # (B, C)  log p(q with c | d)

        log_probabilities = masked_log_softmax(log_query, batch.occurrence.any(dim=2))  # (B, C)  log Pr(c|d,q)
        return LanguageOutput(log_probabilities, log_document=log_document, log_query=log_query)

    def read(self, values: Tensor, mask: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """(N, T, E), (N, T) → the state after each word (N, T, H), and after the last with its cell: (N, H) each."""
        steps = self.dropout(values).transpose(0, 1) @ self.input_weight + self.bias  # (T, N, 4H)
        states, cells = self.loop(steps, self.recurrent_weight, state=state)  # (T, N, H) each
        end = mask.sum(dim=1) - 1, torch.arange(len(mask), device=mask.device)
        return states.transpose(0, 1), (states[end], cells[end])


def filled_in(batch: Batch) -> tuple[Tensor, Tensor]:
    """The query with each candidate in the place of the blank, and which of its words are real: (B, C, S) each."""
    lengths = batch.candidates_mask.sum(dim=2, keepdim=True)  # (B, C, 1)  words of the candidate
    blank = batch.placeholder[:, None, None]  # (B, 1, 1)  ℓ
    width = batch.query.shape[1] - 1 + batch.candidates.shape[2]  # S
    i = torch.arange(width, device=blank.device).expand(*lengths.shape[:2], -1)  # (B, C, S)
    behind = (i - lengths + 1).clamp(0, batch.query.shape[1] - 1)
    from_query = torch.where(i < blank, i.clamp(max=batch.query.shape[1] - 1), behind)
    from_candidate = (i - blank).clamp(0, batch.candidates.shape[2] - 1)
    query = batch.query.unsqueeze(1).expand(-1, lengths.shape[1], -1).gather(2, from_query)
    inside = (i >= blank) & (i < blank + lengths)
    words = torch.where(inside, batch.candidates.gather(2, from_candidate), query)
    return words, i < batch.query_mask.sum(dim=1)[:, None, None] - 1 + lengths


def language_loss(output: ReaderOutput, batch: Batch) -> Tensor:
    """−log p of a word of the document or of the query with its answer, the mean over these words in the batch."""
    if not isinstance(output, LanguageOutput):
        raise TypeError("the reader gave no log_document and log_query")
    log_query = at_position(output.log_query, batch.answer)  # (B,)
    return -(output.log_document.sum() + log_query.sum()) / language_words(batch)


def language_words(batch: Batch) -> int:
    """How many words the language model foretells in a batch."""
    filled = at_position(batch.candidates_mask.sum(dim=2), batch.answer).sum() - len(batch.answer)  # without the blanks
    return int(batch.document_mask[:, 1:].sum() + batch.query_mask.sum() + filled)


class OwnWords:
    """The softmax over the distinct words of each question's document, query and candidates."""

    def __init__(self, batch: Batch, weight: Tensor, bias: Tensor, dropout: nn.Module) -> None:
        """`weight` (words + 1, H) and `bias` have a row for each word of the table, and a last one for all others."""
        rows = functional.pad(batch.types.known, (0, len(batch.types.unknown)), value=len(weight) - 1)  # (types,)
        there = torch.zeros(len(batch.document), len(rows), dtype=torch.bool, device=rows.device)  # (B, types)
        blank = torch.arange(batch.query.shape[1], device=rows.device) == batch.placeholder.unsqueeze(1)  # (B, Q)
        for words, mask in (
            (batch.document, batch.document_mask),
            (batch.query, batch.query_mask & ~blank),
            (batch.candidates.flatten(1), batch.candidates_mask.flatten(1)),
        ):
            there[mask.nonzero(as_tuple=True)[0], words[mask]] = True
        counts = there.sum(dim=1, keepdim=True)  # (B, 1)
        own = there.int().argsort(dim=1, descending=True, stable=True)[:, : int(counts.max())]  # (B, U)
        self.mask = (torch.arange(own.shape[1], device=own.device) < counts).unsqueeze(1)  # (B, 1, U)
        self.place = (there.cumsum(dim=1) - 1).clamp(min=0)  # (B, types): where a word stands among its question's
        self.weight = functional.embedding(rows[own], weight).transpose(1, 2)  # (B, H, U)
        self.bias = bias[rows[own]].unsqueeze(1)  # (B, 1, U)
        self.dropout = dropout

    def log_p(self, states: Tensor, words: Tensor) -> Tensor:
        """log p of each word, given the state before it: (B, T, H), (B, T) → (B, T)."""
        logits = self.dropout(states) @ self.weight + self.bias  # (B, T, U)
        log_softmax: Tensor = logits.masked_fill(~self.mask, -torch.inf).log_softmax(dim=2)
        return log_softmax.gather(2, self.place.gather(1, words).unsqueeze(2)).squeeze(2)
