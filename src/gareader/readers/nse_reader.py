"""The NSE reader: Neural Semantic Encoders with hypothesis testing.

Tsendsuren Munkhdalai, Hong Yu: Reasoning with Memory Augmented Neural Networks for Language Comprehension. ICLR 2017.

B examples, D document tokens, Q query tokens, C candidates, E token embedding, H LSTM units per direction, k = 2H the
width of a memory, T steps. The document memory M^d is constant; every step writes the query memory M^q.

The loss is −log of the attention on the answer, with the softmax over all words of the document, as in the paper; the
log-probabilities are renormalised over the candidates. `document_attention` is the attention from which the answer is
taken: that of the last step, or with adaptive control a mixture of all steps. A step attends to the query and then to
the document, so there is no `hop_attention`.

Departures, and choices that the paper leaves open:
- k = 436 is taken as both directions together, so H = 218.
- The initial states of the reading and writing LSTMs are zero, and the composing layer ends in a tanh.
- There is one bias per LSTM gate (docs/decisions/0002).
- The last step writes nothing, because no step reads it; with T = 1 there are no writing weights.
- A word without a pretrained vector has the random vector of docs/decisions/0005, not one from ±0.1.
- The query stands between its marks @begin and @end.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.data.arrays import TABLE
from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.lstm import BiLSTM
from gareader.nn.masked import masked_logsumexp, masked_softmax
from gareader.nn.pointer_sum import pointer_mass, pointer_sum
from gareader.nn.sequences import final_states
from gareader.nn.tensors import Batch
from gareader.readers.reader import Basis, PointerOutput
from gareader.readers.settings import NSEConfig


class NSEReader(nn.Module):
    """Reads the query memory, attends to the document, and writes the result to the query memory, T times."""

    def __init__(self, config: NSEConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        self.config = config
        self.embed = TokenEmbedding(words, update_words=config.update_words)
        self.dropout = Dropout(config.dropout)
        width = 2 * config.hidden  # k
        with torch.random.fork_rng(devices=[]):  # torch.nn draws from the global generator; all is redrawn below
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
        self.read.weight_hh.requires_grad = config.steps > 1  # the state before the first step is zero
        if config.steps > 1:
            self.write.weight_hh.requires_grad = config.steps > 2

    def forward(self, batch: Batch, *, attention: bool = False) -> PointerOutput:
        """Log-probabilities of the candidates; with `attention`, also that on the document."""
        tokens = self.embed(batch.types)  # (types, E)
        document = self.document_lstm(self.dropout(tokens[batch.document]), batch.document_mask)  # (B, D, k)  M^d
        memory = self.query_lstm(self.dropout(tokens[batch.query]), batch.query_mask)  # (B, Q, k)  M^q_0
        s_q = final_states(memory, batch.query_mask)  # (B, k)  s^q_0
        s_d = final_states(document, batch.document_mask)  # (B, k)  s^d_0
        read = write = None  # states of the LSTMs and their cells: (B, k) each
        log_pointers: list[Tensor] = []  # T of (B, D)  log of the attention of each step
        log_stops: list[Tensor] = []  # T − 1 of (B,)  log e_t
        log_continues = [document.new_zeros(len(document))]  # T of (B,)  log Π_{i<t} (1 − e_i)
        for t in range(1, self.config.steps + 1):
            read = self.read(torch.cat([s_q, s_d], dim=-1), read)  # (B, k)  r_t, and its cell
            match = torch.einsum("bk,bqk->bq", read[0], memory)  # (B, Q)  l^q
            s_q = torch.einsum("bq,bqk->bk", masked_softmax(match, batch.query_mask), memory)  # (B, k)  s^q_t
            scores = torch.einsum("bk,bdk->bd", s_q, document)  # (B, D)  l^d
            s_d = torch.einsum("bd,bdk->bk", masked_softmax(scores, batch.document_mask), document)  # (B, k)  s^d_t
            log_pointers.append(scores - masked_logsumexp(scores, batch.document_mask).unsqueeze(1))  # (B, D)
            if t == self.config.steps:
                break
            composition = torch.tanh(self.compose(torch.cat([s_q, s_d, read[0]], dim=-1)))  # (B, k)  c_t
            write = self.write(composition, write)  # (B, k)  w_t, and its cell
            z = torch.sigmoid(match).unsqueeze(-1)  # (B, Q, 1)
            new_memory = memory * z + s_d.unsqueeze(1) * (1 - z)  # (B, Q, k)  M^q_t
            if self.halt is None:
                g = torch.sigmoid(torch.einsum("bk,bqk->bq", write[0], memory)).unsqueeze(-1)  # (B, Q, 1)
                memory = new_memory * (1 - g) + memory * g  # (B, Q, k)  M^q_t, gated
            else:
                memory = new_memory
                stop = write[0] @ self.halt  # (B,)  oᵀ w_t
                log_stops.append(functional.logsigmoid(stop))
                log_continues.append(log_continues[-1] + functional.logsigmoid(-stop))
        log_pointer = log_pointers[-1]  # (B, D)  log of the attention that P_T sums
        if log_stops:
            log_p = [stop + before for stop, before in zip(log_stops, log_continues, strict=False)]  # (B,)  log p_t
            log_p.append(log_continues[-1])  # (B,)  log p_T: 1 − Σ_{i<T} p_i = Π_{i<T} (1 − e_i)
            log_pointer = torch.stack(
                [p.unsqueeze(1) + pointer for p, pointer in zip(log_p, log_pointers, strict=True)]
            ).logsumexp(dim=0)  # (B, D)  log Σ_t p_t s_t
        log_mass = pointer_mass(log_pointer, batch.document_mask, batch.occurrence)  # (B, C)  log P(a)
        log_probabilities = pointer_sum(log_pointer, batch.occurrence)  # (B, C)
        pointer = log_pointer.exp() * batch.document_mask if attention else None  # (B, D)
        return PointerOutput(log_probabilities, document_attention=pointer, log_mass=log_mass)
