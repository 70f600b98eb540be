"""The NSE reader: Neural Semantic Encoders that test hypotheses about the answer.

Tsendsuren Munkhdalai, Hong Yu: Reasoning with Memory Augmented Neural Networks for Language Comprehension. ICLR 2017.

B examples, D document tokens, Q query tokens, C candidates, E token embedding, H LSTM units per direction, k = 2H the
width of a memory, T steps. The document's memory M^d stays; the query's memory M^q is written anew in every step.

The loss is −log of the attention on the answer, with the softmax over all words of the document, as in the paper; the
log-probabilities are renormalised over the candidates. `document_attention` is the attention that the answer is taken
from, a mixture over the steps where the computation is adaptive; a step looks at query and document one after the
other, so there is no `hop_attention`.

Departures, and choices where the paper leaves one:
- k = 436 is taken as both directions together, so H = 218.
- The states of the reading and writing LSTMs begin at zero, and the composing layer ends in a tanh.
- One bias per LSTM gate (docs/decisions/0002).
- What the last step would write is not computed, since nothing reads it; with T = 1 there are no writing weights.
- A word without a pretrained vector has that of this project (docs/decisions/0005), not one from ±0.1.
- The query stands between its marks @begin and @end.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.batching import Batch
from gareader.config import Count, Settings, Share
from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TABLE, TokenEmbedding
from gareader.nn.lstm import BiLSTM
from gareader.nn.masked import masked_logsumexp, masked_softmax
from gareader.nn.pointer_sum import pointer_mass, pointer_sum
from gareader.nn.sequences import final_states
from gareader.readers.output import PointerOutput
from gareader.readers.reader import Basis


@dataclass(frozen=True)
class NSEConfig(Settings):
    """Settings of an NSE reader; the defaults are the paper's best for named entities of the Children's Book Test."""

    steps: Count = 12
    """T, how often the hypothesis is tested."""
    control: Literal["adaptive", "gating"] = "adaptive"
    """What the written state decides: when to stop (adaptive), or what of the query memory to keep (gating)."""
    hidden: Count = 218
    """H, LSTM units per direction; a memory has k = 2H."""
    dropout: Share = 0.2
    """Share of the token embeddings that is dropped in training."""
    update_words: bool = True
    """Whether training changes the word vectors."""


class NSEReader(nn.Module):
    """Asks the query memory, looks into the document, and writes what it found into the query memory, T times."""

    def __init__(self, config: NSEConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        self.config = config
        self.embed = TokenEmbedding(words, None, update_words=config.update_words)
        self.dropout = Dropout(config.dropout)
        width = 2 * config.hidden  # k
        with torch.random.fork_rng(devices=[]):  # torch.nn draws from the world's generator; all is drawn again below
            self.document_lstm, self.query_lstm = (BiLSTM(words.shape[1], config.hidden) for _ in range(2))
            self.read = nn.LSTMCell(2 * width, width)
            if config.steps > 1:
                self.compose, self.write = nn.Linear(3 * width, width), nn.LSTMCell(width, width)
                self.halt = nn.Parameter(torch.empty(width)) if config.control == "adaptive" else None  # o
        for name, weight in self.named_parameters():
            if "bias_hh" in name:
                weight.requires_grad_(False).zero_()
            elif name != TABLE:
                weight.data.uniform_(-0.1, 0.1, generator=generator)
        self.read.weight_hh.requires_grad = config.steps > 1  # a first step has no state to come from
        if config.steps > 1:
            self.write.weight_hh.requires_grad = config.steps > 2

    def forward(self, batch: Batch, *, attention: bool = False) -> PointerOutput:
        """Log-probabilities of the candidates; with `attention`, also what led to them."""
        tokens = self.embed(batch.types)  # (types, E)
        document = self.document_lstm(self.dropout(tokens[batch.document]), batch.document_mask)  # (B, D, k)  M^d
        memory = self.query_lstm(self.dropout(tokens[batch.query]), batch.query_mask)  # (B, Q, k)  M^q_0
        asked = final_states(memory, batch.query_mask)  # (B, k)  s^q_0
        found = final_states(document, batch.document_mask)  # (B, k)  s^d_0
        read = written = None  # states of the LSTMs and their cells: (B, k) each
        pointers: list[Tensor] = []  # T of (B, D)  log of the attention of each step
        stops: list[Tensor] = []  # T − 1 of (B,)  log e_t
        gone_on = [document.new_zeros(len(document))]  # T of (B,)  log Π_{i<t} (1 − e_i)
        for t in range(1, self.config.steps + 1):
            read = self.read(torch.cat([asked, found], dim=-1), read)  # (B, k)  r_t, and its cell
            match = torch.einsum("bk,bqk->bq", read[0], memory)  # (B, Q)  l^q
            asked = torch.einsum("bq,bqk->bk", masked_softmax(match, batch.query_mask), memory)  # (B, k)  s^q_t
            scores = torch.einsum("bk,bdk->bd", asked, document)  # (B, D)  l^d
            look = masked_softmax(scores, batch.document_mask)  # (B, D)
            found = torch.einsum("bd,bdk->bk", look, document)  # (B, k)  s^d_t
            pointers.append(scores - masked_logsumexp(scores, batch.document_mask).unsqueeze(1))
            if t == self.config.steps:
                break
            composed = torch.tanh(self.compose(torch.cat([asked, found, read[0]], dim=-1)))  # (B, k)  c_t
            written = self.write(composed, written)  # (B, k)  w_t, and its cell
            z = torch.sigmoid(match).unsqueeze(-1)  # (B, Q, 1)
            renewed = memory * z + found.unsqueeze(1) * (1 - z)  # (B, Q, k)  M^q_t
            if self.halt is None:
                g = torch.sigmoid(torch.einsum("bk,bqk->bq", written[0], memory)).unsqueeze(-1)  # (B, Q, 1)
                memory = renewed * (1 - g) + memory * g  # (B, Q, k)  M^q_t, gated
            else:
                memory = renewed
                end = written[0] @ self.halt  # (B,)  oᵀ w_t
                stops.append(functional.logsigmoid(end))
                gone_on.append(gone_on[-1] + functional.logsigmoid(-end))
        pointer = pointers[-1]  # (B, D)  log of the attention that P_T sums
        if stops:
            shares = [stop + before for stop, before in zip(stops, gone_on, strict=False)]  # T − 1 of (B,)  log p_t
            shares.append(gone_on[-1])  # (B,)  log p_T: 1 − Σ_{i<T} p_i = Π_{i<T} (1 − e_i)
            pointer = torch.stack(
                [share.unsqueeze(1) + each for share, each in zip(shares, pointers, strict=True)]
            ).logsumexp(dim=0)  # (B, D)  log Σ_t p_t s_t
        log_mass = pointer_mass(pointer, batch.document_mask, batch.occurrence)  # (B, C)  log P(a)
        log_probabilities = pointer_sum(pointer, batch.occurrence)  # (B, C)
        seen = pointer.exp() * batch.document_mask if attention else None  # (B, D)
        return PointerOutput(log_probabilities, document_attention=seen, log_mass=log_mass)
