"""The memory network over windows, with self-supervision ("MemNets" in the tables).

Felix Hill, Antoine Bordes, Sumit Chopra, Jason Weston: The Goldilocks Principle: Reading Children's Books with
Explicit Memory Representations. ICLR 2016.

B examples, D document tokens, Q query tokens, C candidates, b words of a window, p numbers of an embedding.

The b tables A_k, one for each place in a window, are one table of words whose vectors are b·p wide: A_k is its k-th
slice. Beyond the edges of a text a window holds zeros; sentences do not bound it. The query keeps its marks @begin and
@end. A window that is centred on a word of two candidates counts for both, and Pr(c|d,q) is renormalised over the
candidates. Training sees the cross-entropy over the windows of all candidates (see `window_loss`); its update is the
mean over a batch, where the paper takes one example at a time. Left out: the time feature, ensembles, and dropping
candidates that the query names. The paper has no dropout; where it is asked for, it falls on the word vectors, on one
word of a batch the same wherever it stands. First vectors are normal; the paper does not give their size. There is no
attention to the query, so `hop_attention` stays empty.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.batching import Batch
from gareader.config import Bounds, Count, Positive, Settings, Share
from gareader.errors import ConfigError
from gareader.nn.dropout import Dropout
from gareader.nn.masked import masked_logsumexp, masked_softmax
from gareader.nn.pointer_sum import pointer_sum
from gareader.nn.scaled_embedding import ScaledEmbedding
from gareader.nn.sequences import at_position
from gareader.readers.output import ReaderOutput
from gareader.readers.reader import Basis


@dataclass(frozen=True)
class MemoryConfig(Settings):
    """Settings of a memory network; the defaults are the paper's for the Children's Book Test."""

    window: Annotated[int, Bounds(least=1, odd=True, reason="so that there is a middle")] = 5
    """b, the words of a window; its middle is the candidate, or the blank."""
    hidden: Count = 300
    """p, numbers of an embedding; where word vectors are narrower than b·p, a b-th of their width, rounded down."""
    dropout: Share = 0.0
    """Share of the word vectors' numbers that is dropped in training."""
    word_scale: Positive = 0.1
    """What the given word vectors are multiplied by before training; random ones have variance 1."""
    update_words: bool = True
    """Whether training changes the word vectors; they are all that the reader learns."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.update_words:
            raise ConfigError(f"update_words = {self.update_words} leaves this reader nothing to learn; use true")


@dataclass(frozen=True, kw_only=True)
class MemoryOutput(ReaderOutput):
    """With what the reader is trained on."""

    window_scores: Tensor
    """(B, D): o_i, how well the window around each document token fits the query."""


class MemoryReader(nn.Module):
    """Compares the words around the blank with the words around every candidate."""

    def __init__(self, config: MemoryConfig, basis: Basis) -> None:
        super().__init__()
        self.config = config
        self.width = min(config.hidden, basis.words.shape[1] // config.window)  # p
        if self.width == 0:
            raise ConfigError(f"window = {config.window} needs wider word vectors than {basis.words.shape[1]}")
        self.embed = ScaledEmbedding(basis.words, config.word_scale, update_words=config.update_words)
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch, *, attention: bool = False) -> MemoryOutput:
        """Log-probabilities of the candidates; with `attention`, also what led to them."""
        tokens = self.dropout(self.embed(batch.types))  # (types, b·p)
        tables = tokens[:, : self.config.window * self.width].chunk(self.config.window, dim=1)  # b × (types, p)  A_k
        memories = windows(tables, batch.document, batch.document_mask)  # (B, D, p)  c_i
        query = at_position(windows(tables, batch.query, batch.query_mask), batch.placeholder)  # (B, p)  q
        scores = torch.einsum("bdp,bp->bd", memories, query)  # (B, D)  o_i = c_i · q
        log_probabilities = pointer_sum(scores, batch.occurrence)  # (B, C)  Σ of softmax(o)_i over the windows of c
        if not attention:
            return MemoryOutput(log_probabilities, window_scores=scores)
        pointer = masked_softmax(scores, batch.occurrence.any(dim=1))  # (B, D)  over the windows of all candidates
        return MemoryOutput(log_probabilities, document_attention=pointer, window_scores=scores)


def windows(tables: tuple[Tensor, ...], words: Tensor, mask: Tensor) -> Tensor:
    """Σ_k A_k[w_{i+k}] around every token i, zeros beyond the edges: b × (types, p), (B, T), (B, T) → (B, T, p)."""
    half = len(tables) // 2
    padded, real = (functional.pad(values, (half, half)) for values in (words, mask))  # (B, T + b − 1)
    ends = range(words.shape[1], words.shape[1] + len(tables))
    parts = [
        functional.embedding(padded[:, k:end], table) * real[:, k:end].unsqueeze(-1)
        for k, (table, end) in enumerate(zip(tables, ends, strict=True))
    ]
    return torch.stack(parts).sum(dim=0)


def window_loss(output: ReaderOutput, batch: Batch) -> Tensor:
    """Cross-entropy over the windows of all candidates, the target m̃ being the best window of the answer.

    It is zero, and so is its gradient, for an example whose best window m_o1 is one of the answer's: the update is made
    only if m_o1 ≠ m̃. At a tie between a right and a wrong window it is made. The mean over the batch.
    """
    if not isinstance(output, MemoryOutput):
        raise TypeError("the reader gave no window_scores")
    scores = output.window_scores  # (B, D)
    right = at_position(batch.occurrence, batch.answer)  # (B, D)
    wrong = batch.occurrence.any(dim=1) & ~right  # (B, D)
    best_right, best_wrong = (scores.masked_fill(~some, -torch.inf).amax(dim=1) for some in (right, wrong))  # (B,)
    loss = masked_logsumexp(scores, right | wrong) - best_right  # (B,)  −log softmax(o) at m̃
    return torch.where(best_wrong >= best_right, loss, 0.0).mean()
