"""The memory network over windows, with self-supervision ("MemNets" in the tables).

Felix Hill, Antoine Bordes, Sumit Chopra, Jason Weston: The Goldilocks Principle: Reading Children's Books with
Explicit Memory Representations. ICLR 2016.

B examples, D document tokens, Q query tokens, C candidates, b words of a window, p numbers of an embedding.

The b tables A_k, one for each position in a window, are slices of one word table whose vectors are b·p wide. A window
has zeros beyond the edges of a text; it may cross sentences. A window centred on a word of two candidates counts for
both, and Pr(c|d,q) is renormalised over the candidates. The loss is the cross-entropy over the windows of all
candidates (see `window_loss`). There is no attention to the query, so `hop_attention` is empty.

Departures, and choices that the paper leaves open: The query keeps its marks @begin and @end. The loss is the mean over
a batch; the paper takes one example at a time. There are no time features, no ensembles, and candidates that the query
names are kept. The paper has no dropout; if it is set, it applies to the word vectors, with one mask per distinct word
of a batch. Initial vectors are normal; the paper does not give their size.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.core.errors import ConfigError
from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.masked import masked_logsumexp, masked_softmax
from gareader.nn.pointer_sum import pointer_sum
from gareader.nn.sequences import at_position
from gareader.nn.tensors import Batch
from gareader.readers.reader import Basis, ReaderOutput
from gareader.readers.settings import MemoryConfig


@dataclass(frozen=True, kw_only=True)
class MemoryOutput(ReaderOutput):
    """Output with the inputs of the loss."""

    window_scores: Tensor
    """(B, D): o_i, the score of the window around each document token."""


class MemoryReader(nn.Module):
    """Compares the words around the blank with the words around every candidate."""

    def __init__(self, config: MemoryConfig, basis: Basis) -> None:
        super().__init__()
        self.config = config
        self.width = min(config.hidden, basis.words.shape[1] // config.window)  # p
        if self.width == 0:
            raise ConfigError(f"window = {config.window} needs wider word vectors than {basis.words.shape[1]}")
        self.embed = TokenEmbedding(basis.words, update_words=config.update_words, scale=config.word_scale)
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch, *, attention: bool = False) -> MemoryOutput:
        """Log-probabilities of the candidates; with `attention`, also softmax(o)."""
        tokens = self.dropout(self.embed(batch.types))  # (types, b·p)
        tables = tokens[:, : self.config.window * self.width].chunk(self.config.window, dim=1)  # b × (types, p)  A_k
        memories = windows(tables, batch.document, batch.document_mask)  # (B, D, p)  c_i
        query = at_position(windows(tables, batch.query, batch.query_mask), batch.placeholder)  # (B, p)  q
        scores = torch.einsum("bdp,bp->bd", memories, query)  # (B, D)  o_i = c_i · q
        log_probabilities = pointer_sum(scores, batch.occurrence)  # (B, C)  Σ of softmax(o)_i over the windows of c
        centres = batch.occurrence.any(dim=1)  # (B, D)  of the windows of all candidates
        pointer = masked_softmax(scores, centres) if attention else None  # (B, D)
        return MemoryOutput(log_probabilities, document_attention=pointer, window_scores=scores)


def windows(tables: tuple[Tensor, ...], words: Tensor, mask: Tensor) -> Tensor:
    """Σ_k A_k[w_{i+k}] around each token i, with zeros beyond the edges: b × (types, p), (B, T), (B, T) → (B, T, p)."""
    half = len(tables) // 2
    padded, real = (functional.pad(values, (half, half)) for values in (words, mask))  # (B, T + b − 1)
    ends = range(words.shape[1], words.shape[1] + len(tables))
    parts = [
        functional.embedding(padded[:, k:end], table) * real[:, k:end].unsqueeze(-1)
        for k, (table, end) in enumerate(zip(tables, ends, strict=True))
    ]
    return torch.stack(parts).sum(dim=0)


def window_loss(output: ReaderOutput, batch: Batch) -> Tensor:
    """Cross-entropy over the windows of all candidates, with the answer's best window m̃ as target; batch mean.

    Loss and gradient are zero for an example whose best window m_o1 is one of the answer's: the paper updates only if
    m_o1 ≠ m̃. A tie between a right and a wrong window counts as wrong.
    """
    if not isinstance(output, MemoryOutput):
        raise TypeError("the reader gave no window_scores")
    scores = output.window_scores  # (B, D)
    right = at_position(batch.occurrence, batch.answer)  # (B, D)
    wrong = batch.occurrence.any(dim=1) & ~right  # (B, D)
    best_right, best_wrong = (scores.masked_fill(~mask, -torch.inf).amax(dim=1) for mask in (right, wrong))  # (B,)
    loss = masked_logsumexp(scores, right | wrong) - best_right  # (B,)  −log softmax(o) at m̃
    return torch.where(best_wrong >= best_right, loss, 0.0).mean()
