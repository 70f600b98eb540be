"""The output layer of readers that predict a word: p(a|d,q) ∝ exp(W(a) g), with a row of W for each answer word."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.nn.masked import masked_logsumexp, masked_mean
from gareader.nn.rows import row_table, rows
from gareader.nn.tensors import Batch


class AnswerWords(nn.Module):
    """The rows of W for the candidates in the document; words without their own row share the last one.

    Training does not change the last row, because all words of the training and validation questions are in the
    vocabulary. The rows of words that only validation questions have keep their first, random values too.
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
        """`words` is the size of the vocabulary, `width` that of g; `answers` are the answer words, all by default."""
        super().__init__()
        answers = range(words) if answers is None else answers
        row = torch.full((words,), len(answers))
        row[list(answers)] = torch.arange(len(answers))
        self.register_buffer("row", row, persistent=False)
        self.weight = row_table(torch.empty(len(answers) + 1, width).normal_(0, scale, generator=generator))

    def forward(self, joint: Tensor, batch: Batch) -> Tensor:
        """g (B, width) → log p(a|d,q) (B, C); a candidate of several words has the mean of their scores."""
        last = len(self.weight) - 1
        row = functional.pad(self.row[batch.types.known], (0, len(batch.types.unknown)), value=last)  # (types,)
        answers = rows(self.weight, row[batch.candidates])  # (B, C, W, width)
        scores = masked_mean(torch.einsum("bcwg,bg->bcw", answers, joint), batch.candidates_mask)  # (B, C)
        present = batch.occurrence.any(dim=-1)  # (B, C)
        total = masked_logsumexp(scores, present)  # (B,)
        total = total.masked_fill(total.isneginf(), 0).unsqueeze(1)
        return (scores - total).masked_fill(~present, -torch.inf)
