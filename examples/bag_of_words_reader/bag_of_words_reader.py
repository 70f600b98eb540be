"""A reader from outside gareader: it compares the words around each document token with those of the query.

B examples, D document tokens, Q query tokens, C candidates, E token embedding.
"""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from gareader.core.config import Count, Settings, Share
from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.masked import equal_shares, masked_softmax
from gareader.nn.pointer_sum import pointer_sum
from gareader.nn.projection import Projection
from gareader.nn.tensors import Batch
from gareader.readers.reader import Basis, Kind, ReaderOutput


@dataclass(frozen=True)
class BagOfWordsConfig(Settings):
    """Settings of a bag-of-words reader."""

    reach: Count = 3
    """Number of words on each side of a token that form its bags."""
    dropout: Share = 0.0
    """Dropout rate of the word vectors."""
    update_words: bool = True
    """Whether training changes the word vectors."""


class BagOfWordsReader(nn.Module):
    """Points to tokens whose surrounding words resemble those of the query."""

    def __init__(self, config: BagOfWordsConfig, basis: Basis) -> None:
        super().__init__()
        self.config = config
        self.embed = TokenEmbedding(basis.words, None, update_words=config.update_words)
        self.dropout = Dropout(config.dropout)
        width = basis.words.shape[1]  # E
        self.before, self.after = (Projection(width, width, generator=basis.generator) for _ in range(2))  # W_b, W_a

    def forward(self, batch: Batch, *, attention: bool = False) -> ReaderOutput:
        """Log-probabilities of the candidates; with `attention`, also where it points."""
        tokens = self.dropout(self.embed(batch.types))  # (types, E)
        share = equal_shares(batch.query_mask, 1, tokens.dtype)  # (B, Q)
        query = torch.einsum("bq,bqe->be", share, tokens[batch.query])  # (B, E)  q
        document = tokens[batch.document] * batch.document_mask.unsqueeze(2)  # (B, D, E)
        reach = self.config.reach
        bags = functional.avg_pool1d(functional.pad(document.transpose(1, 2), (reach, reach)), reach, 1)
        before, after = bags[:, :, : document.shape[1]], bags[:, :, reach + 1 :]  # (B, E, D) each  b_i, a_i
        scores = torch.einsum("bed,be->bd", before, self.before(query))  # (B, D)  b_i · W_b q
        scores = scores + torch.einsum("bed,be->bd", after, self.after(query))  # (B, D)  … + a_i · W_a q
        pointer = masked_softmax(scores, batch.document_mask) if attention else None  # (B, D)
        return ReaderOutput(pointer_sum(scores, batch.occurrence), document_attention=pointer)  # (B, C)


KIND = Kind.of(BagOfWordsReader, BagOfWordsConfig)
READERS = {"bag-of-words": KIND}
"""The table for `--import`; the entry point in pyproject.toml names KIND."""
