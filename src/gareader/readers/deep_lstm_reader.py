"""The Deep LSTM Reader.

Karl Moritz Hermann, Tomáš Kočiský, Edward Grefenstette, Lasse Espeholt, Will Kay, Mustafa Suleyman, Phil Blunsom:
Teaching Machines to Read and Comprehend. NIPS 2015.

B examples, T tokens of document, delimiter and query, C candidates, E token embedding, H units of a layer, K layers.

Departures, and choices that the paper leaves open:

- The softmax of the answer, in the loss too, is over the candidates in the document, not over all words.
- A candidate of several words has the mean score of its words. With anonymity, W has rows for the marks alone, else for
  all words of the vocabulary; other words share a row that training does not change (see `AnswerWords`).
- The query stands between @begin and @end.
- The peepholes W_kci, W_kcf and W_kco are diagonal, as in the LSTM that the paper builds on (Graves 2012).
- The input of the forget gate is x(t), not x'(t, k), as printed in the paper; x'(t, 1) is x(t); y'(t, k) has H units.
- The delimiter ||| is a learned vector; initial states are zero.
- Dropout applies to the states h(t, k) in y'(t, k), not in the recurrence.
- Initial weights are normal with deviation 0.1, word vectors and delimiter with deviation 1, biases zero: the paper
  does not say.
- The paper's corpora hide entities behind marks, permuted for each question: `data.anonymity = "permuted"`.

There is no attention.
"""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.nn.answer_words import AnswerWords
from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.lstm_loop import LSTMLoop
from gareader.nn.projection import normal
from gareader.nn.tensors import Batch
from gareader.readers.reader import Basis, ReaderOutput
from gareader.readers.settings import DeepLSTMConfig


class DeepLSTMReader(nn.Module):
    """Reads document and query as one text, then predicts a word from the last states."""

    def __init__(self, config: DeepLSTMConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        self.config = config
        self.embed = TokenEmbedding(words, update_words=config.update_words)
        token, hidden = words.shape[1], config.hidden  # E, H
        self.delimiter = nn.Parameter(torch.empty(1, token).normal_(generator=generator))  # |||
        below = [0] + [hidden] * (config.layers - 1)  # widths of y'(t, k−1)
        initial: dict[str, Any] = {"generator": generator, "scale": config.init_std}
        self.layers = nn.ModuleList(PeepholeLSTM(token, width, hidden, **initial) for width in below)
        self.answer = AnswerWords(len(words), config.layers * hidden, basis.answers, **initial)  # W
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch, *, attention: bool = False) -> ReaderOutput:  # noqa: ARG002  there is none
        """Log-probabilities of the candidates."""
        tokens = torch.cat([self.embed(batch.types), self.delimiter])  # (types + 1, E)
        text, last = self.one_text(batch, delimiter=len(tokens) - 1)  # (T, B) words; (B,) the last position
        below, outputs = None, []
        for layer in self.layers:
            states = self.dropout(layer(tokens, text, below))  # (T, B, H)  h(t, k)
            below = states @ layer.output_weight + layer.output_bias  # (T, B, H)  y'(t, k)
            outputs.append(below[last, torch.arange(len(last), device=last.device)])  # (B, H)  y'(|d| + |q|, k)
        g = torch.cat(outputs, dim=-1)  # (B, KH)  g(d, q) = y(|d| + |q|)
        return ReaderOutput(self.answer(g, batch))  # (B, C)  log p(a|d,q)

    def one_text(self, batch: Batch, delimiter: int) -> tuple[Tensor, Tensor]:
        """Document, delimiter and query without padding between them, (T, B), and the last position of each, (B,)."""
        bar = torch.full_like(batch.document[:, :1], delimiter)  # (B, 1)
        parts = [(batch.document, batch.document_mask), (bar, bar >= 0), (batch.query, batch.query_mask)]
        words, masks = zip(*(reversed(parts) if self.config.query_first else parts), strict=True)
        mask = torch.cat(masks, dim=1)  # (B, D + 1 + Q)
        order = mask.byte().argsort(dim=1, descending=True, stable=True)  # real words first, in their order
        last = mask.sum(dim=1) - 1  # (B,)
        return torch.cat(words, dim=1).gather(1, order)[:, : int(last.max()) + 1].T, last


class PeepholeLSTM(nn.Module):
    """One layer of the reader; gates are in the order f, i, c, o."""

    def __init__(
        self, inputs: int, below: int, hidden: int, *, generator: torch.Generator | None, scale: float
    ) -> None:
        """`inputs` is the width of x(t), `below` that of y'(t, k−1), 0 in the first layer."""
        super().__init__()
        weight = partial(normal, std=scale, generator=generator)
        self.input_weight = weight(inputs, 4 * hidden)  # the columns of W_kxf, W_kxi, W_kxc, W_kxo for x(t)
        self.below_weight = weight(below, 3 * hidden) if below else None  # those of W_kxi, W_kxc, W_kxo for y'
        self.recurrent_weight = weight(hidden, 4 * hidden)  # W_khf, W_khi, W_khc, W_kho
        self.peepholes = weight(3, hidden)  # W_kcf, W_kci, W_kco
        self.bias = nn.Parameter(torch.zeros(4 * hidden))
        self.loop = LSTMLoop()
        self.output_weight = weight(hidden, hidden)  # W_ky
        self.output_bias = nn.Parameter(torch.zeros(hidden))  # b_ky

    def forward(self, tokens: Tensor, text: Tensor, below: Tensor | None) -> Tensor:
        """Word vectors (types, E), words (T, B), y'(t, k−1) (T, B, H) → h(t, k) (T, B, H).

        Steps are not masked: padding follows the end of a text and changes no state before it.
        """
        hidden = self.peepholes.shape[1]
        steps = functional.embedding(text, tokens @ self.input_weight + self.bias)  # (T, B, 4H)
        if below is not None and self.below_weight is not None:
            steps = steps + functional.pad(below @ self.below_weight, (hidden, 0))  # zeros for the forget gate
        states: Tensor = self.loop(steps, self.recurrent_weight, self.peepholes)[0]
        return states
