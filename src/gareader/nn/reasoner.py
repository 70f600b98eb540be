"""The Reasoner of the EpiReader (Trischler and others 2016).

B examples, D document tokens, Q query tokens, C candidates, S sentences, E token embedding, F filters, N sentence
states.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.batching import Batch
from gareader.nn.candidates import candidate_vectors
from gareader.nn.gru_step import GRUStep
from gareader.nn.projection import Projection
from gareader.nn.sentences import neighbours, sentence_numbers


class Reasoner(nn.Module):
    """Weighs each hypothesis, the query with a candidate in its blank, by one sentence after the other."""

    def __init__(self, E: int, F: int, N: int, *, generator: torch.Generator | None = None) -> None:
        """E, F and N are the widths above; `generator` draws the first weights."""
        super().__init__()
        self.states = N
        # The sentence filters are E + 2 high: a word, its fit with the query, and its fit with the candidate.
        bound = (6 / (3 * (E + 2) + F)) ** 0.5  # they are one filter, in two parts
        self.sentence_filters = Projection(3 * (E + 1), F, bias=True, bound=bound, generator=generator)
        self.candidate_filters = Projection(3, F, bound=bound, generator=generator)
        self.hypothesis_filters = Projection(3 * E, F, bias=True, generator=generator)
        self.similarity = Projection(F, F, generator=generator)  # R
        self.sentence_gru = GRUStep(1 + 2 * F, N, generator=generator)
        self.output = Projection(N, 1, generator=generator)  # w

    def forward(self, batch: Batch, tokens: Tensor) -> Tensor:
        """y: how well the hypothesis with each candidate follows from the document: (B, C)."""
        document, query = (
            functional.embedding(words, tokens) for words in (batch.document, batch.query)
        )  # (B, D or Q, E)
        candidates = candidate_vectors(batch, tokens)  # (B, C, E)
        fits_candidate = candidates @ document.transpose(1, 2)  # (B, C, D)
        fits_query = document @ query.transpose(1, 2)  # (B, D, Q)
        fits_query = fits_query.masked_fill(~batch.query_mask.unsqueeze(1), -torch.inf).amax(dim=2, keepdim=True)

        numbers = sentence_numbers(batch)  # (B, D)
        rows = torch.cat([document, fits_query], dim=-1)  # (B, D, E+1)
        features = self.sentence_filters(neighbours(rows, numbers).flatten(2)).unsqueeze(1)  # (B, 1, D, F)
        ours = self.candidate_filters(neighbours(fits_candidate.unsqueeze(-1), numbers.unsqueeze(1)).flatten(3))
        features = (features + ours).relu() * batch.document_mask[:, None, :, None]  # (B, C, D, F)
        place = numbers.clamp(min=0)[:, None, :, None].expand_as(features)
        nothing = features.new_zeros(*features.shape[:2], int(place.max()) + 1, features.shape[3])
        sentences = nothing.scatter_reduce(2, place, features, "amax")  # (B, C, S, F)  r_S, the maximum over time

        blank = torch.arange(query.shape[1], device=query.device) == batch.placeholder.unsqueeze(1)  # (B, Q)
        hypotheses = torch.where(blank[:, None, :, None], candidates.unsqueeze(2), query.unsqueeze(1))  # (B, C, Q, E)
        real = batch.query_mask.long().unsqueeze(1) - 1  # (B, 1, Q): 0, and −1 for padding
        features = self.hypothesis_filters(neighbours(hypotheses, real).flatten(3)).relu()  # (B, C, Q, F)
        hypothesis = (features * batch.query_mask[:, None, :, None]).amax(dim=2)  # (B, C, F)  r_H

        likeness = torch.einsum("bcsf,bcf->bcs", sentences, self.similarity(hypothesis))  # (B, C, S)  ς = r_Sᵀ R r_H
        hypothesis = hypothesis.unsqueeze(2).expand_as(sentences)
        evidence = torch.cat([likeness.unsqueeze(-1), sentences, hypothesis], dim=-1)  # (B, C, S, 1 + 2F)  x
        state = evidence.new_zeros(*evidence.shape[:2], self.states)  # (B, C, N)
        last = numbers.amax(dim=1)[:, None, None]  # (B, 1, 1)
        for i, sentence in enumerate(evidence.unbind(dim=2)):
            state = torch.where(last >= i, self.sentence_gru(sentence, state), state)  # (B, C, N)  h
        scores: Tensor = self.output(state)  # (B, C, 1)  y = w·h
        return scores.squeeze(-1)
