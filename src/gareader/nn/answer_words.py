"""Answers as words: p(a|d,q) ∝ exp(W(a) g), with a row of W for every word that can be an answer."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.batching import Batch
from gareader.nn.masked import masked_logsumexp, masked_mean


class AnswerWords(nn.Module):
    """W, restricted to the candidates that the document has; words without a row of their own share the last.

    Training never moves that one: all words of the training and validation questions are in the vocabulary. Words that
    only the validation questions have keep their first, random rows likewise.
    """

    row: Tensor
    """(words,): the row of each word."""

    def __init__(
        self,
        words: int,
        width: int,
        answers: Sequence[int] | None = None,
        *,
        generator: torch.Generator | None = None,
        scale: float = 0.1,
    ) -> None:
        """`words` is the size of the vocabulary, `width` that of g; `answers` are words of it, all if not given."""
        super().__init__()
        answers = range(words) if answers is None else answers
        row = torch.full((words,), len(answers))
        row[list(answers)] = torch.arange(len(answers))
        self.register_buffer("row", row, persistent=False)
        self.weight = nn.Parameter(torch.empty(len(answers) + 1, width).normal_(0, scale, generator=generator))

    def forward(self, joint: Tensor, batch: Batch) -> Tensor:
        """g (B, width) → log p(a|d,q) (B, C); the score of a candidate of several words is their mean."""
        types = functional.pad(self.row[batch.types.known], (0, len(batch.types.unknown)), value=len(self.weight) - 1)
        rows = functional.embedding(types[batch.candidates], self.weight)  # (B, C, W, width)
        scores = masked_mean(torch.einsum("bcwg,bg->bcw", rows, joint), batch.candidates_mask)  # (B, C)
        present = batch.occurrence.any(dim=-1)  # (B, C)
        total = masked_logsumexp(scores, present)  # (B,)
        total = total.masked_fill(total.isneginf(), 0).unsqueeze(1)
        return (scores - total).masked_fill(~present, -torch.inf)
