"""Sentences of a document, for readers that read one after the other; the words . ! ? end them.

B examples, D document tokens, S sentences of the longest document, L tokens of the longest sentence, T = L + 2 with
@begin and @end.
"""

import torch
from torch import Tensor
from torch.nn import functional

from gareader.batching import Batch


def sentence_numbers(batch: Batch) -> Tensor:
    """The sentence that each document token stands in, counted from 0: (B, D); −1 for padding."""
    after = functional.pad(batch.types.ends[batch.document], (1, -1))  # (B, D): the word before it ends a sentence
    return after.cumsum(dim=1).masked_fill(~batch.document_mask, -1)


def in_sentences(numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Where in the document each token of each sentence stands, and the mask of what is real: (B, S, L) twice."""
    real = numbers >= 0  # (B, D)
    places = torch.arange(numbers.shape[1], device=numbers.device).expand_as(numbers)  # (B, D)
    begins = functional.pad(numbers[:, 1:] != numbers[:, :-1], (1, 0))  # (B, D)
    offsets = places - (places * begins).cummax(dim=1).values  # (B, D): the place in the sentence
    rows = torch.arange(len(numbers), device=numbers.device).unsqueeze(1).expand_as(numbers)
    cells = rows[real], numbers[real], offsets[real]
    shape = len(numbers), int(numbers.max()) + 1, int((offsets * real).max()) + 1
    mask = torch.zeros(shape, dtype=torch.bool, device=numbers.device)
    positions = torch.zeros(shape, dtype=torch.int64, device=numbers.device)
    mask[cells], positions[cells] = True, places[real]
    return positions, mask


def between_marks(batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """The sentences between @begin and @end, which tokens are real, and which are the document's: (B, S, T) each."""
    places, real = in_sentences(sentence_numbers(batch))  # (B, S, L)
    words = functional.pad(batch.document.gather(1, places.flatten(1)).view_as(places), (1, 1))  # (B, S, T)
    length = real.sum(dim=2, keepdim=True)  # (B, S, 1)
    step = torch.arange(words.shape[2], device=words.device)  # (T,)
    begin = batch.query[:, :1]  # (B, 1)
    end = batch.query.gather(1, batch.query_mask.sum(dim=1, keepdim=True) - 1)  # (B, 1)
    words = torch.where(step == 0, begin.unsqueeze(2), torch.where(step == length + 1, end.unsqueeze(2), words))
    return words, (step <= length + 1) & (length > 0), functional.pad(real, (1, 1))


def neighbours(values: Tensor, numbers: Tensor) -> Tensor:
    """Each token's values between those of its neighbours in the same sentence: (…, T, N), (…, T) → (…, T, 3, N).

    Zeros stand where a sentence begins or ends; tokens with the number −1 are no neighbours of others.
    """
    same = (numbers[..., 1:] == numbers[..., :-1]).unsqueeze(-1)  # (…, T − 1, 1)
    before = functional.pad(values[..., :-1, :] * same, (0, 0, 1, 0))
    behind = functional.pad(values[..., 1:, :] * same, (0, 0, 0, 1))
    return torch.stack([before, values, behind], dim=-2)
