"""Sentences of a document, for readers that read sentence by sentence; the words . ! ? end a sentence.

B examples, D document tokens, S sentences of the longest document, L tokens of the longest sentence, T = L + 2 with
@begin and @end.
"""

import torch
from torch import Tensor
from torch.nn import functional

from gareader.nn.tensors import Batch


def sentence_numbers(batch: Batch) -> Tensor:
    """The number of each document token's sentence, from 0; −1 for padding: (B, D)."""
    begins = functional.pad(batch.types.ends[batch.document], (1, -1))  # (B, D): the word before ends a sentence
    return begins.cumsum(dim=1).masked_fill(~batch.document_mask, -1)


def in_sentences(numbers: Tensor) -> tuple[Tensor, Tensor]:
    """The document positions of each sentence's tokens, and their mask: (B, S, L) each."""
    real = numbers >= 0  # (B, D)
    document_positions = torch.arange(numbers.shape[1], device=numbers.device).expand_as(numbers)  # (B, D)
    begins = functional.pad(numbers[:, 1:] != numbers[:, :-1], (1, 0))  # (B, D)
    offsets = document_positions - (document_positions * begins).cummax(dim=1).values  # (B, D): within the sentence
    rows = torch.arange(len(numbers), device=numbers.device).unsqueeze(1).expand_as(numbers)  # (B, D)
    cells = rows[real], numbers[real], offsets[real]
    shape = len(numbers), int(numbers.max()) + 1, int((offsets * real).max()) + 1
    mask = torch.zeros(shape, dtype=torch.bool, device=numbers.device)
    positions = torch.zeros(shape, dtype=torch.int64, device=numbers.device)
    mask[cells], positions[cells] = True, document_positions[real]
    return positions, mask


def between_marks(batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """Sentences with @begin and @end, their mask, and the mask of document words alone: (B, S, T) each."""
    positions, real = in_sentences(sentence_numbers(batch))  # (B, S, L)
    words = functional.pad(batch.document.gather(1, positions.flatten(1)).view_as(positions), (1, 1))  # (B, S, T)
    length = real.sum(dim=2, keepdim=True)  # (B, S, 1)
    step = torch.arange(words.shape[2], device=words.device)  # (T,)
    begin = batch.query[:, :1]  # (B, 1)
    end = batch.query.gather(1, batch.query_mask.sum(dim=1, keepdim=True) - 1)  # (B, 1)
    words = torch.where(step == 0, begin.unsqueeze(2), torch.where(step == length + 1, end.unsqueeze(2), words))
    return words, (step <= length + 1) & (length > 0), functional.pad(real, (1, 1))


def neighbours(values: Tensor, numbers: Tensor) -> Tensor:
    """The values of the token before, the token itself and the token after: (…, T, N), (…, T) → (…, T, 3, N).

    `numbers` are those of the sentences: a neighbour in another sentence counts as zeros, and so does padding (−1).
    """
    same = (numbers[..., 1:] == numbers[..., :-1]).unsqueeze(-1)  # (…, T − 1, 1)
    before = functional.pad(values[..., :-1, :] * same, (0, 0, 1, 0))
    after = functional.pad(values[..., 1:, :] * same, (0, 0, 0, 1))
    return torch.stack([before, values, after], dim=-2)
