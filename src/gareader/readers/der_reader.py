"""The DER Network.

Sosuke Kobayashi, Ran Tian, Naoaki Okazaki, Kentaro Inui:
Dynamic Entity Representation with Max-pooling Improves Machine Reading. NAACL 2016.

B examples, D document tokens, Q query tokens, C candidates, S sentences, T tokens of a sentence between its marks,
E word vector and entity state, H LSTM units per direction.

Entities are the candidates in the document; the initial state of an entity is the mean of its words' vectors. With
`data.anonymity = "permuted"` that is the vector of a mark drawn per question, as in the paper; without, the vector of
its name. A word that several candidates share is replaced by the mean of their states. The loss is −log Pr(answer) over
the entities.

The attention a is over the sentences of an entity and its initial state. `document_attention` divides Pr(e) · a_j
equally among the mentions of e in sentence j; the rest to 1 is on initial states, which have no position.

Departures, and differences from the authors' program:
- Sentences end at . ! ? even inside quotation marks, and stand between @begin and @end, as the query does. Sentences
  without an entity change no state. Every question reads its document anew.
- An entity's mentions in one sentence are averaged; the authors' program omits the first of several from the sum.
- Linear maps have the biases of the authors' program, except those that cancel in a softmax or are added to another
  bias. Their initial weights are uniform, with the deviation of the authors' normal ones.
- Initial word vectors are normal, with the deviation of the authors' uniform ones. The authors halve pretrained vectors
  (`word_scale = 0.5`); then marks and words without one have deviation 0.5, not 0.029.
- Dropout has one mask per distinct word of a batch, and does not apply to initial states.
- Documents with 99 entities or more are kept.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.nn.candidates import candidate_vectors, mentions, on_mentions
from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.lstm import BiLSTM
from gareader.nn.masked import equal_shares, masked_log_softmax, masked_softmax
from gareader.nn.projection import Projection
from gareader.nn.sentences import between_marks
from gareader.nn.sequences import at_position, final_states
from gareader.nn.tensors import Batch
from gareader.readers.reader import Basis, ReaderOutput
from gareader.readers.settings import DERConfig


class DERReader(nn.Module):
    """Updates a state of each entity sentence by sentence, then compares the entities with the query."""

    def __init__(self, config: DERConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        E, H = words.shape[1], config.hidden
        self.config = config
        self.embed = TokenEmbedding(words, update_words=config.update_words, scale=config.word_scale)
        self.dropout = Dropout(config.dropout)
        self.sentence_lstm, self.query_lstm = (
            BiLSTM(E, H, generator=generator, scale=(2 / (4 * H + E)) ** 0.5) for _ in range(2)
        )
        self.mention, self.asked_mention = (Projection(E, E, bias=True, generator=generator) for _ in range(2))
        self.context = Projection(4 * H, E, bias=True, generator=generator)  # W_hd
        self.asked = Projection(4 * H, H, bias=True, generator=generator)  # W_hu
        self.cue = Projection(4 * H, H, bias=True, generator=generator)  # W_hq
        self.memory = Projection(E, H, generator=generator)  # W_dm
        self.weight = Projection(H, 1, generator=generator)  # m
        self.answer = Projection(E, H, generator=generator)  # W_dv
        self.in_query = nn.Parameter(torch.empty(H).normal_(0, (2 / (H + 1)) ** 0.5, generator=generator))  # b_v2

    def forward(self, batch: Batch, *, attention: bool = False) -> ReaderOutput:
        """Log-probabilities of the candidates; with `attention`, also that on the mentions of their entities."""
        vectors = self.embed(batch.types)  # (types, E)
        tokens = self.dropout(vectors)  # (types, E)
        present = batch.occurrence.any(dim=2)  # (B, C)
        state, contexts, real = self.read(batch, vectors, tokens)  # (B, C, E)  s_e; (B, C, S+1, E)  d_e,j; (B, C, S+1)

        mentioned = mentions(batch, batch.query, batch.query_mask) & present.unsqueeze(2)  # (B, C, Q)
        query = with_entities(tokens[batch.query], self.asked_mention(state), mentioned)  # (B, Q, E)
        states = self.query_lstm(query, batch.query_mask)  # (B, Q, 2H)
        ends = final_states(states, batch.query_mask)  # (B, 2H)
        cloze = torch.cat([at_position(states, batch.placeholder), ends], dim=-1)  # (B, 4H)  h_q
        u, q = self.asked(cloze), self.cue(cloze)  # (B, H)  u = W_hu h_q, q = W_hq h_q

        scores = self.weight(torch.tanh(self.memory(contexts) + q[:, None, None]))  # (B, C, S+1, 1)  S_j
        alpha = masked_softmax(scores.squeeze(-1), real)  # (B, C, S+1)  a
        answers = self.answer(torch.einsum("bcj,bcje->bce", alpha, contexts))  # (B, C, H)  v_e = W_dv Σ_j a_j d_e,j
        answers = answers + mentioned.any(dim=2).unsqueeze(-1) * self.in_query  # (B, C, H)  v_e + b_v2 · [e is in q]
        logits = torch.einsum("bh,bch->bc", u, answers)  # (B, C)  u · v_e
        log_probabilities = masked_log_softmax(logits, present)  # (B, C)  log Pr(e|d,q)
        if not attention:
            return ReaderOutput(log_probabilities)
        mention_weights = on_mentions(batch, alpha[..., 1:])  # (B, C, D)
        pointer = torch.einsum("bc,bcd->bd", log_probabilities.exp(), mention_weights)  # (B, D)
        return ReaderOutput(log_probabilities, (), pointer)

    def read(self, batch: Batch, vectors: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The entities' last states (B, C, E), all their contexts (B, C, S+1, E), and the mask of the contexts."""
        state = candidate_vectors(batch, vectors)  # (B, C, E)  initial s_e
        contexts, contexts_mask = [state], [torch.ones_like(state[..., 0], dtype=torch.bool)]
        words, mask, document_words = between_marks(batch)  # (B, S, T) each
        sentences = functional.embedding(words, tokens)  # (B, S, T, E)
        # The states after a sentence are inputs of the next one.
        for i, sentence in enumerate(sentences.unbind(1)):  # (B, T, E)
            mentioned = mentions(batch, words[:, i], document_words[:, i])  # (B, C, T)
            present = mentioned.any(dim=2)  # (B, C)
            rows = present.any(dim=1).nonzero().flatten()  # (R,): the other questions have no entity in this sentence
            context = torch.zeros_like(state)  # (B, C, E)
            if len(rows):
                read = self.context_of(sentence[rows], mask[rows, i], mentioned[rows], state[rows])  # (R, C, E)
                context = context.index_copy(0, rows, read)  # (B, C, E)  d_e,σ
            state = torch.where(present.unsqueeze(-1), torch.maximum(state, context), state)  # s_e ← max(s_e, d_e,σ)
            contexts.append(context)
            contexts_mask.append(present)
        return state, torch.stack(contexts, dim=2), torch.stack(contexts_mask, dim=2)

    def context_of(self, sentence: Tensor, real: Tensor, mentioned: Tensor, state: Tensor) -> Tensor:
        """d_e,σ of the entities: (B, T, E), (B, T), (B, C, T), s_e (B, C, E) → (B, C, E)."""
        longest = int(real.sum(dim=1).max())  # T from here on, since most sentences are short
        sentence, real, mentioned = sentence[:, :longest], real[:, :longest], mentioned[:, :, :longest]
        inputs = with_entities(sentence, self.mention(state), mentioned)  # (B, T, E)  W_dx s_e for entities
        states = self.sentence_lstm(inputs, real)  # (B, T, 2H)
        mean = equal_shares(mentioned, 2, states.dtype)  # (B, C, T)
        at, ends = mean @ states, final_states(states, real).unsqueeze(1)  # (B, C, 2H), (B, 1, 2H)
        return torch.tanh(self.context(torch.cat([at, ends.expand_as(at)], dim=-1)))


def with_entities(tokens: Tensor, entities: Tensor, mentions: Tensor) -> Tensor:
    """Replace mentions by the states of their entities: (B, T, E), (B, C, E), (B, C, T) → (B, T, E)."""
    share = equal_shares(mentions, 1, tokens.dtype)  # (B, C, T)
    return torch.where(mentions.any(dim=1).unsqueeze(-1), share.transpose(1, 2) @ entities, tokens)
