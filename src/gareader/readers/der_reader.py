"""The DER Network.

Sosuke Kobayashi, Ran Tian, Naoaki Okazaki, Kentaro Inui:
Dynamic Entity Representation with Max-pooling Improves Machine Reading. NAACL 2016.

B examples, D document tokens, Q query tokens, C candidates, S sentences, T tokens of a sentence between its marks,
E word vector and entity state, H LSTM units per direction.

Entities are the candidates that the document has; the first state of one is the mean of its words' vectors. With
`data.anonymity = "permuted"` that is the vector of a mark drawn per question, as in the paper; without, the vector of
its name. A word that several candidates share reads as the mean of their states. Sentences end at . ! ? even inside
quotation marks, and stand between @begin and @end as the query does; those without an entity leave no trace. Every
question reads its document anew. An entity's mentions in one sentence are averaged; the authors' program leaves the
first of several out of that sum. Linear maps have the biases of the authors' program except those that cancel in a
softmax or stand beside another, and begin uniform with the deviation of its normal ones. Word vectors begin normal with
the deviation of its uniform ones; with pretrained vectors, which it halves (`word_scale = 0.5`), marks and words that
have none begin with deviation 0.5, not 0.029. Dropout falls on one word of a batch the same wherever it stands, not on
first states. Documents with 99 entities or more are kept. The attention is to contexts of an entity, not to words: no
attention is shown. The loss is −log Pr(answer) over the entities.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.batching import Batch
from gareader.config import at_least_one, less_than_one, positive
from gareader.nn.attention import masked_log_softmax, masked_softmax
from gareader.nn.dropout import Dropout
from gareader.nn.gru import at_position, final_states
from gareader.nn.lstm import BiLSTM
from gareader.nn.projection import Projection
from gareader.nn.scaled_embedding import ScaledEmbedding
from gareader.nn.sentences import in_sentences, sentence_numbers
from gareader.readers.output import ReaderOutput


@dataclass(frozen=True)
class DERConfig:
    """Settings of a DER Network; the defaults are the authors'."""

    hidden: int = 300
    """H, LSTM units per direction, and the width of the query's cue and of an answer's vector."""
    dropout: float = 0.1
    """Share of the word vectors' numbers that is dropped in training."""
    word_scale: float = 0.029
    """What the given word vectors are multiplied by before training: random ones have variance 1, the paper's ±0.05."""
    update_words: bool = True
    """Whether training changes the word vectors."""

    def __post_init__(self) -> None:
        at_least_one(self, "hidden")
        less_than_one(self, "dropout")
        positive(self, "word_scale")


class DERReader(nn.Module):
    """Gathers what each sentence says about each entity, then looks for the entity that the query is about."""

    def __init__(
        self,
        config: DERConfig,
        words: Tensor,
        characters: int,  # noqa: ARG002
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        """`words` is the word table, `generator` draws the first weights; `characters` are not looked at."""
        super().__init__()
        E, H = words.shape[1], config.hidden
        self.config = config
        self.embed = ScaledEmbedding(words, config.word_scale, update_words=config.update_words)
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

    def forward(self, batch: Batch, *, attention: bool = False) -> ReaderOutput:  # noqa: ARG002
        """Log-probabilities of the candidates; there is no attention to words."""
        vectors = self.embed(batch.types)  # (types, E)
        tokens = self.dropout(vectors)
        present = batch.occurrence.any(dim=2)  # (B, C)
        state, contexts, seen = self.read(batch, vectors, tokens)  # (B, C, E)  s_e; (B, C, S+1, E)  d_e,j; (B, C, S+1)

        mentions = where(batch, batch.query, batch.query_mask) & present.unsqueeze(2)  # (B, C, Q)
        query = with_entities(tokens[batch.query], self.asked_mention(state), mentions)  # (B, Q, E)
        states = self.query_lstm(query, batch.query_mask)  # (B, Q, 2H)
        ends = final_states(states, batch.query_mask)  # (B, 2H)
        cloze = torch.cat([at_position(states, batch.placeholder), ends], dim=-1)  # (B, 4H)  h_q
        asked, cue = self.asked(cloze), self.cue(cloze)  # (B, H)  u = W_hu h_q, q = W_hq h_q

        scores = self.weight(torch.tanh(self.memory(contexts) + cue[:, None, None]))  # (B, C, S+1, 1)  S_j
        alpha = masked_softmax(scores.squeeze(-1), seen)  # (B, C, S+1)  a
        answers = self.answer(torch.einsum("bcj,bcje->bce", alpha, contexts))  # (B, C, H)  v_e = W_dv Σ_j a_j d_e,j
        answers = answers + mentions.any(dim=2).unsqueeze(-1) * self.in_query  # (B, C, H)  v_e + b_v2 · [e is in q]
        logits = torch.einsum("bh,bch->bc", asked, answers)  # (B, C)  u · v_e
        return ReaderOutput(masked_log_softmax(logits, present))  # (B, C)  log Pr(e|d,q)

    def read(self, batch: Batch, vectors: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The entities' last states (B, C, E), all their contexts (B, C, S+1, E), and which of those are real."""
        share = batch.candidates_mask / batch.candidates_mask.sum(dim=2, keepdim=True).clamp(min=1)  # (B, C, W)
        share = share.to(vectors.dtype)
        state = torch.einsum("bcw,bcwe->bce", share, vectors[batch.candidates])  # (B, C, E)  the first s_e
        contexts, seen = [state], [torch.ones_like(state[..., 0], dtype=torch.bool)]
        words, mask, mentions = wrapped_sentences(batch)  # (B, S, T), (B, S, T), (B, C, S, T)
        sentences = functional.embedding(words, tokens).unbind(1)  # S × (B, T, E)
        # Each sentence is read with the states that those before it left.
        for sentence, real, here in zip(sentences, mask.unbind(1), mentions.unbind(2), strict=True):
            told = here.any(dim=2)  # (B, C)
            real = real & told.any(dim=1, keepdim=True) | at_start(real)  # (B, T): nothing to read without an entity
            longest = int(real.sum(dim=1).max())  # from here on T, since most sentences are short
            sentence, real, here = sentence[:, :longest], real[:, :longest], here[:, :, :longest]
            inputs = with_entities(sentence, self.mention(state), here)  # (B, T, E)  W_dx s_e for entities
            states = self.sentence_lstm(inputs, real)  # (B, T, 2H)
            mean = here.to(states.dtype) / here.sum(dim=2, keepdim=True).clamp(min=1)  # (B, C, T)
            at, ends = mean @ states, final_states(states, real).unsqueeze(1)  # (B, C, 2H), (B, 1, 2H)
            context = torch.tanh(self.context(torch.cat([at, ends.expand_as(at)], dim=-1)))  # (B, C, E)  d_e,σ
            state = torch.where(told.unsqueeze(-1), torch.maximum(state, context), state)  # s_e ← max(s_e, d_e,σ)
            contexts.append(context)
            seen.append(told)
        return state, torch.stack(contexts, dim=2), torch.stack(seen, dim=2)


def with_entities(tokens: Tensor, entities: Tensor, mentions: Tensor) -> Tensor:
    """The tokens with entities in the place of their mentions: (B, T, E), (B, C, E), (B, C, T) → (B, T, E)."""
    share = mentions.to(tokens.dtype) / mentions.sum(dim=1, keepdim=True).clamp(min=1)  # (B, C, T)
    return torch.where(mentions.any(dim=1).unsqueeze(-1), share.transpose(1, 2) @ entities, tokens)


def where(batch: Batch, words: Tensor, mask: Tensor) -> Tensor:
    """Which words of a text (B, T) are words, or the mark, of each candidate: (B, C, T)."""
    same = words[:, None, :, None] == batch.candidates[:, :, None, :]  # (B, C, T, W)
    return (same & batch.candidates_mask.unsqueeze(2)).any(dim=3) & mask.unsqueeze(1)


def at_start(mask: Tensor) -> Tensor:
    """True at the first step only: an LSTM wants one."""
    return torch.arange(mask.shape[1], device=mask.device) == 0


def wrapped_sentences(batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """The sentences between @begin and @end (B, S, T), their mask, and the candidates' mentions (B, C, S, T)."""
    places, real = in_sentences(sentence_numbers(batch))  # (B, S, L)
    flat = places.flatten(1)  # (B, S·L)
    words = functional.pad(batch.document.gather(1, flat).view_as(places), (1, 1))  # (B, S, T)
    length = real.sum(dim=2, keepdim=True)  # (B, S, 1)
    step = torch.arange(words.shape[2], device=words.device)
    begin, end = batch.query[:, :1], at_position(batch.query, batch.query_mask.sum(dim=1) - 1).unsqueeze(1)
    words = torch.where(step == 0, begin.unsqueeze(2), torch.where(step == length + 1, end.unsqueeze(2), words))
    here = where(batch, batch.document, batch.document_mask)  # (B, C, D)
    everywhere = flat.unsqueeze(1).expand(-1, here.shape[1], -1)  # (B, C, S·L)
    mentions = here.gather(2, everywhere).view(*everywhere.shape[:2], *places.shape[1:]) & real.unsqueeze(1)
    return words, (step <= length + 1) & (length > 0), functional.pad(mentions, (1, 1))
