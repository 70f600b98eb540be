"""Word vectors that begin smaller than they are given."""

import torch
from torch import Tensor
from torch.nn import functional

from gareader.batching import Types
from gareader.nn.embedding import TokenEmbedding


class ScaledEmbedding(TokenEmbedding):
    """L(w) for readers that begin with small random vectors: those given have variance 1, as have unknown words."""

    def __init__(self, words: Tensor, scale: float, *, update_words: bool) -> None:
        """The first table is `scale` times `words`; a saved one is loaded as it is."""
        super().__init__(words * scale, None, update_words=update_words)
        self.scale = scale

    def forward(self, types: Types) -> Tensor:
        """The distinct words of a batch → (types, E)."""
        unknown = types.unknown.to(self.words.dtype) * self.scale
        return torch.cat([functional.embedding(types.known, self.words), unknown])
