"""A softmax over the words of each question, for language models.

B examples, T tokens of a text, U distinct words of a question, H width of a state.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.batching import Batch


class OwnWords:
    """The softmax over the distinct words of each question's document, query and candidates."""

    def __init__(self, batch: Batch, weight: Tensor, bias: Tensor, dropout: nn.Module) -> None:
        """`weight` (words + 1, H) and `bias` have a row for each word of the table, and a last one for all others."""
        rows = functional.pad(batch.types.known, (0, len(batch.types.unknown)), value=len(weight) - 1)  # (types,)
        there = torch.zeros(len(batch.document), len(rows), dtype=torch.bool, device=rows.device)  # (B, types)
        blank = torch.arange(batch.query.shape[1], device=rows.device) == batch.placeholder.unsqueeze(1)  # (B, Q)
        for words, mask in (
            (batch.document, batch.document_mask),
            (batch.query, batch.query_mask & ~blank),
            (batch.candidates.flatten(1), batch.candidates_mask.flatten(1)),
        ):
            there[mask.nonzero(as_tuple=True)[0], words[mask]] = True
        counts = there.sum(dim=1, keepdim=True)  # (B, 1)
        own = there.int().argsort(dim=1, descending=True, stable=True)[:, : int(counts.max())]  # (B, U)
        self.mask = (torch.arange(own.shape[1], device=own.device) < counts).unsqueeze(1)  # (B, 1, U)
        self.place = (there.cumsum(dim=1) - 1).clamp(min=0)  # (B, types): where a word stands among its question's
        self.weight = functional.embedding(rows[own], weight).transpose(1, 2)  # (B, H, U)
        self.bias = bias[rows[own]].unsqueeze(1)  # (B, 1, U)
        self.dropout = dropout

    def log_p(self, states: Tensor, words: Tensor) -> Tensor:
        """log p of each word, given the state before it: (B, T, H), (B, T) → (B, T)."""
        logits = self.dropout(states) @ self.weight + self.bias  # (B, T, U)
        log_softmax: Tensor = logits.masked_fill(~self.mask, -torch.inf).log_softmax(dim=2)
        return log_softmax.gather(2, self.place.gather(1, words).unsqueeze(2)).squeeze(2)
