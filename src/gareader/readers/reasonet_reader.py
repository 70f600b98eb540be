"""ReasoNet.

Yelong Shen, Po-Sen Huang, Jianfeng Gao, Weizhu Chen:
ReasoNet: Learning to Stop Reading in Machine Comprehension. KDD 2017 (2016).

B examples, D document tokens, Q query tokens, C candidates, E token embedding, H GRU units per direction, P width of
the attentions, T steps at most (T_max).

The paper trains with a contrastive reward r over all episodes (t, a): stop at step t with probability stop_t, answer a.
With b = Σ π r, its gradient Σ π ∇log π (r/b − 1) is ∇b/b − ∇Σπ = ∇log b, because Σ π = 1: maximum likelihood of the
mixture. So the loss is −log Σ_t stop_t P_t(answer), each P_t with the softmax over all words of the document
(`mass_loss`). Predictions are the expected distribution, renormalised over the candidates. `document_attention` is the
expected attention; there is no attention from document to query, because each step attends to both separately.

Departures: The answer scores words by a projected cosine, as in the authors' program. Gate and answer of step t have
s_t as input, as in the paper; the authors' program updates the state first. The GRUs' reset gate acts before the
product. Entities' vectors are trained. The query stands between @begin and @end. A word without a pretrained vector has
a random one, N(0, 1), by its spelling.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.gru import BiGRU, GRUStep, orthogonal_
from gareader.nn.masked import masked_logsumexp, masked_softmax
from gareader.nn.pointer_sum import pointer_sum
from gareader.nn.projection import Projection
from gareader.nn.sequences import final_states
from gareader.nn.tensors import Batch
from gareader.readers.reader import Basis, PointerOutput
from gareader.readers.settings import ReasoNetConfig

BOUND = 0.01
"""Initial weights, except recurrent ones, are uniform between −BOUND and BOUND."""


class ReasoNetReader(nn.Module):
    """Attends to query and document in steps; a gate decides at each step whether to stop and answer."""

    def __init__(self, config: ReasoNetConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        self.config = config
        self.embed = TokenEmbedding(words, update_words=config.update_words)
        self.dropout = Dropout(config.dropout)
        self.gru = BiGRU(words.shape[1], config.hidden, generator=generator)
        self.controller = GRUStep(4 * config.hidden, 2 * config.hidden, generator=generator)
        orthogonal_(self.gru.recurrent_weight, generator)
        for gru in (self.gru, self.controller):
            nn.init.uniform_(gru.input_weight, -BOUND, BOUND, generator)
        width = 2 * config.hidden
        self.on_query, self.on_document, self.answer = (
            Similarity(width, config.projection, config.sharpness, generator=generator) for _ in range(3)
        )
        self.gate = Projection(width, 1, bias=True, bound=BOUND, generator=generator)  # W_tg, b

    def forward(self, batch: Batch, *, attention: bool = False) -> PointerOutput:
        """Log-probabilities of the candidates; with `attention`, also the expected one on the document."""
        log_pointer = self.episodes(batch).logsumexp(dim=1)  # (B, D)  log Σ_t stop_t s_{t,i}
        log_mass = masked_logsumexp(log_pointer.unsqueeze(1), batch.occurrence)  # (B, C)  log Σ_t stop_t P_t(c)
        log_probabilities = pointer_sum(log_pointer, batch.occurrence)  # (B, C)  renormalised over the candidates
        pointer = log_pointer.masked_fill(~batch.document_mask, -torch.inf).exp() if attention else None  # (B, D)
        return PointerOutput(log_probabilities, document_attention=pointer, log_mass=log_mass)

    def episodes(self, batch: Batch) -> Tensor:
        """log π (B, T, D): the log-probability of stopping at step t and pointing at document token i."""
        tokens = self.embed(batch.types)  # (types, E)
        document = self.dropout(functional.embedding(batch.document, tokens))  # (B, D, E)
        query = self.dropout(functional.embedding(batch.query, tokens))  # (B, Q, E)
        document = self.gru(document, batch.document_mask)  # (B, D, 2H)  M^doc
        query = self.gru(query, batch.query_mask)  # (B, Q, 2H)  M^query

        document_keys, query_keys = self.on_document.keys(document), self.on_query.keys(query)  # (B, D, P), (B, Q, P)
        states = [final_states(query, batch.query_mask)]  # (B, 2H)  s_1
        for _ in range(self.config.steps - 1):
            state = states[-1].unsqueeze(1)  # (B, 1, 2H)  s_t
            a_q = masked_softmax(self.on_query(query_keys, state), batch.query_mask.unsqueeze(1))  # (B, 1, Q)
            a_d = masked_softmax(self.on_document(document_keys, state), batch.document_mask.unsqueeze(1))  # (B, 1, D)
            x = torch.cat([a_q @ query, a_d @ document], dim=-1).squeeze(1)  # (B, 4H)  x_t
            states.append(self.controller(x, states[-1]))  # (B, 2H)  s_{t+1}
        all_states = torch.stack(states, dim=1)  # (B, T, 2H)

        gates = self.gate(all_states[:, :-1]).squeeze(2)  # (B, T − 1)  logits of p_t; the last step always stops
        log_continue = functional.logsigmoid(-gates).cumsum(dim=1)  # (B, T − 1)  log Π_{j≤t} (1 − p_j)
        log_stop = functional.pad(log_continue, (1, 0)) + functional.pad(functional.logsigmoid(gates), (0, 1))  # (B, T)
        scores: Tensor = self.answer(self.answer.keys(document), all_states)  # (B, T, D)
        total = masked_logsumexp(scores, batch.document_mask.unsqueeze(1))  # (B, T)
        return scores + (log_stop - total).unsqueeze(2)


class Similarity(nn.Module):
    """γ cos(W_1 m_i, W_2 s), for every memory m_i and every state s."""

    def __init__(
        self, width: int, projection: int, sharpness: float, *, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        self.sharpness = sharpness
        self.memory, self.state = (
            Projection(width, projection, bound=BOUND, generator=generator) for _ in range(2)
        )  # W_1, W_2

    def keys(self, memory: Tensor) -> Tensor:
        """W_1 m_i, normalised to length 1, once for all steps: (B, N, 2H) → (B, N, P)."""
        return functional.normalize(self.memory(memory), dim=-1)

    def forward(self, keys: Tensor, states: Tensor) -> Tensor:
        """(B, N, P), (B, T, 2H) → (B, T, N)."""
        return self.sharpness * functional.normalize(self.state(states), dim=-1) @ keys.transpose(1, 2)
