"""Word vectors that are scaled before training."""

import torch
from torch import Tensor

from gareader.nn.embedding import TokenEmbedding
from gareader.nn.rows import rows
from gareader.nn.tensors import Types


class ScaledEmbedding(TokenEmbedding):
    """L(w) for readers with small initial vectors; random vectors of known and unknown words have variance 1."""

    def __init__(self, words: Tensor, scale: float, *, update_words: bool) -> None:
        """The initial table is `scale` times `words`; loading a model replaces it."""
        super().__init__(words * scale, None, update_words=update_words)
        self.scale = scale

    def forward(self, types: Types) -> Tensor:
        """The distinct words of a batch → (types, E)."""
        unknown = types.unknown.to(self.words.dtype) * self.scale
        return torch.cat([rows(self.words, types.known), unknown])
