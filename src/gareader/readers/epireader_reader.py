"""The EpiReader.

Adam Trischler, Zheng Ye, Xingdi Yuan, Philip Bachman, Alessandro Sordoni, Kaheer Suleman:
Natural Language Comprehension with the EpiReader. EMNLP 2016.

B examples, D document tokens, Q query tokens, C candidates, S sentences, E token embedding, H GRU units per direction,
F filters, N sentence states, K candidates that the Extractor selects.

The Extractor's p is a softmax over the whole document and L_E = −log p(answer). The Reasoner reads a hypothesis for
every candidate, so that the forward pass needs no answer. For predictions, p alone selects the K candidates; in the
loss, the answer replaces the last of them if it is not selected. Candidates as probable as the last are selected too.
There is no attention to query words, so `hop_attention` is empty; `document_attention` is the Extractor's s.

Departures, and choices that the paper leaves open:
- A candidate that is not selected keeps its p times 1e-6, so that no word of the document is impossible.
- A candidate of several words is the mean of their vectors.
- Sentences end at . ! ? even inside quotation marks, and are padded with zeros for the convolution, so that sentences
  of one or two words have features too. The query keeps its marks @begin and @end.
- The Reasoner's output has no bias, because it would cancel in the softmax.
- The paper has no dropout; if it is set, it applies to the word vectors, with one mask per distinct word of a batch.
- In all GRUs the reset gate acts before the product, as in the AS Reader; the GRU over sentences runs forwards only.
- Initial word vectors are normal, with the deviation of the paper's uniform ±0.05, and a word outside the table has a
  random vector by its spelling. Filters, R and w are initially Glorot uniform.
- There is no penalty on squared weights: the sources disagree about its strength.
"""

from dataclasses import dataclass
from math import log

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.nn.candidates import candidate_vectors
from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.gru import GRUStep, orthogonal_grus
from gareader.nn.masked import masked_log_softmax, masked_softmax
from gareader.nn.pointer_sum import pointer_mass
from gareader.nn.projection import Projection
from gareader.nn.sentences import neighbours, sentence_numbers
from gareader.nn.sequences import at_position, final_states
from gareader.nn.tensors import Batch
from gareader.readers.reader import Basis, PointerOutput, ReaderOutput, mass_loss
from gareader.readers.settings import EpiReaderConfig

BEYOND = 1e-6
"""Factor of the Extractor's probability for candidates that it does not select."""


@dataclass(frozen=True, kw_only=True)
class EpiReaderOutput(PointerOutput):
    """Output with the inputs of the loss; `log_mass` is the Extractor's log p."""

    entailment: Tensor
    """(B, C): y, the Reasoner's score of each hypothesis."""
    config: EpiReaderConfig
    """The settings, for K, γ and λ."""


class EpiReader(nn.Module):
    """An Extractor points at likely answers, and a Reasoner scores a hypothesis with each of them."""

    def __init__(self, config: EpiReaderConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        E = words.shape[1]
        self.config = config
        self.embed = TokenEmbedding(words, update_words=config.update_words, scale=config.word_scale)
        self.dropout = Dropout(config.dropout)
        self.document_gru, self.query_gru = orthogonal_grus(E, config.hidden, generator)
        self.reasoner = Reasoner(E, config.filters, config.sentence_states, generator=generator)

    def forward(self, batch: Batch, *, attention: bool = False) -> EpiReaderOutput:
        """Log-probabilities of the candidates; with `attention`, also the Extractor's s."""
        tokens = self.dropout(self.embed(batch.types))  # (types, E)
        states = self.document_gru(tokens, batch.document_mask, batch.document)  # (B, D, 2H)  f_i(d)
        query_states = self.query_gru(tokens, batch.query_mask, batch.query)  # (B, Q, 2H)
        query = final_states(query_states, batch.query_mask)  # (B, 2H)  g(q)
        scores = torch.einsum("bdh,bh->bd", states, query)  # (B, D)  f_i(d)·g(q)
        log_mass = pointer_mass(scores, batch.document_mask, batch.occurrence)  # (B, C)  log p
        entailment = self.reasoner(batch, tokens)  # (B, C)  y

        present = batch.occurrence.any(dim=2)  # (B, C)
        selected = present & (ranks(log_mass) < self.config.extracted)  # (B, C)  the K best
        combined = masked_log_softmax(entailment + log_mass, selected)  # (B, C)  log π, π_k ∝ e_k p_k
        others = masked_log_softmax(log_mass, present) + log(BEYOND)  # (B, C)
        log_probabilities = masked_log_softmax(torch.where(selected, combined, others), present)  # (B, C)
        pointer = masked_softmax(scores, batch.document_mask) if attention else None  # (B, D)  s
        return EpiReaderOutput(
            log_probabilities, document_attention=pointer, log_mass=log_mass, entailment=entailment, config=self.config
        )


def ranks(log_mass: Tensor) -> Tensor:
    """The number of candidates that are more probable, by more than rounding error: (B, C)."""
    return (log_mass.unsqueeze(1) > log_mass.unsqueeze(2) + 1e-6).sum(dim=2)


def epireader_loss(output: ReaderOutput, batch: Batch) -> Tensor:
    """L_E + λ L_R, with L_R = Σ_{k ≠ answer} [γ − π_answer + π_k]₊ over K candidates; the mean over the batch."""
    if not isinstance(output, EpiReaderOutput):
        raise TypeError("the reader gave no log_mass and entailment")
    config, rank = output.config, ranks(output.log_mass)
    answer = torch.arange(rank.shape[1], device=rank.device) == batch.answer.unsqueeze(1)  # (B, C)
    answer_selected = at_position(rank, batch.answer).unsqueeze(1) < config.extracted  # (B, 1)
    count = torch.where(answer_selected, config.extracted, config.extracted - 1)  # (B, 1)
    selected = batch.occurrence.any(dim=2) & (rank < count) | answer  # (B, C)
    combined = masked_softmax(output.entailment + output.log_mass, selected)  # (B, C)  π
    hinge = (config.margin - at_position(combined, batch.answer).unsqueeze(1) + combined).relu()  # (B, C)
    return mass_loss(output, batch) + config.reasoner_weight * (hinge * (selected & ~answer)).sum(dim=1).mean()


class Reasoner(nn.Module):
    """Scores each hypothesis, the query with a candidate in its blank, against one sentence after the other."""

    def __init__(self, E: int, F: int, N: int, *, generator: torch.Generator | None = None) -> None:
        """E, F and N are the widths above; `generator` draws the initial weights."""
        super().__init__()
        self.states = N
        # A sentence filter has E + 2 rows: the word, its match with the query, and its match with the candidate.
        # The last row is a Projection of its own, because the other rows are the same for all candidates.
        bound = (6 / (3 * (E + 2) + F)) ** 0.5
        self.sentence_filters = Projection(3 * (E + 1), F, bias=True, bound=bound, generator=generator)
        self.candidate_filters = Projection(3, F, bound=bound, generator=generator)
        self.hypothesis_filters = Projection(3 * E, F, bias=True, generator=generator)
        self.similarity = Projection(F, F, generator=generator)  # R
        self.sentence_gru = GRUStep(1 + 2 * F, N, generator=generator)
        self.output = Projection(N, 1, generator=generator)  # w

    def forward(self, batch: Batch, tokens: Tensor) -> Tensor:
        """y, the score of the hypothesis with each candidate: (B, C)."""
        document, query = (
            functional.embedding(words, tokens) for words in (batch.document, batch.query)
        )  # (B, D or Q, E)
        candidates = candidate_vectors(batch, tokens)  # (B, C, E)
        candidate_match = (candidates @ document.transpose(1, 2)).unsqueeze(-1)  # (B, C, D, 1)
        query_match = document @ query.transpose(1, 2)  # (B, D, Q)
        query_match = query_match.masked_fill(~batch.query_mask.unsqueeze(1), -torch.inf).amax(dim=2, keepdim=True)

        numbers = sentence_numbers(batch)  # (B, D)
        rows = torch.cat([document, query_match], dim=-1)  # (B, D, E+1)
        features = self.sentence_filters(neighbours(rows, numbers).flatten(2)).unsqueeze(1)  # (B, 1, D, F)
        candidate_part = self.candidate_filters(neighbours(candidate_match, numbers.unsqueeze(1)).flatten(3))
        features = (features + candidate_part).relu() * batch.document_mask[:, None, :, None]  # (B, C, D, F)
        index = numbers.clamp(min=0)[:, None, :, None].expand_as(features)  # (B, C, D, F)
        zeros = features.new_zeros(*features.shape[:2], int(index.max()) + 1, features.shape[3])
        sentences = zeros.scatter_reduce(2, index, features, "amax")  # (B, C, S, F)  r_S, the maximum over time

        blank = torch.arange(query.shape[1], device=query.device) == batch.placeholder.unsqueeze(1)  # (B, Q)
        hypotheses = torch.where(blank[:, None, :, None], candidates.unsqueeze(2), query.unsqueeze(1))  # (B, C, Q, E)
        real = batch.query_mask.long().unsqueeze(1) - 1  # (B, 1, Q): 0, and −1 for padding
        features = self.hypothesis_filters(neighbours(hypotheses, real).flatten(3)).relu()  # (B, C, Q, F)
        hypothesis = (features * batch.query_mask[:, None, :, None]).amax(dim=2)  # (B, C, F)  r_H

        similarity = torch.einsum("bcsf,bcf->bcs", sentences, self.similarity(hypothesis))  # (B, C, S)  ς = r_Sᵀ R r_H
        hypothesis = hypothesis.unsqueeze(2).expand_as(sentences)
        evidence = torch.cat([similarity.unsqueeze(-1), sentences, hypothesis], dim=-1)  # (B, C, S, 1 + 2F)  x
        state = evidence.new_zeros(*evidence.shape[:2], self.states)  # (B, C, N)
        last = numbers.amax(dim=1)[:, None, None]  # (B, 1, 1)
        for i, sentence in enumerate(evidence.unbind(dim=2)):
            state = torch.where(last >= i, self.sentence_gru(sentence, state), state)  # (B, C, N)  h
        scores: Tensor = self.output(state)  # (B, C, 1)  y = w·h
        return scores.squeeze(-1)
