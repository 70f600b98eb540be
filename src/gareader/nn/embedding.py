"""Token embeddings x = L(w) ‖ C(w), computed once for each distinct word of a batch."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.kernels.layers import CellName
from gareader.nn import native
from gareader.nn.gru import BiGRU
from gareader.nn.rows import row_table, rows
from gareader.nn.sequences import final_states
from gareader.nn.tensors import Types


class CharacterEmbedding(nn.Module):
    """C(w) = W z + b, with z the final states of a Bi-GRU over the characters of w."""

    width = 50

    def __init__(self, characters: int, cell: CellName, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(characters, 25).normal_(0, 0.01, generator=generator))
        self.gru = BiGRU(25, 25, cell, generator=generator)
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(self.width, 50), generator=generator))
        self.bias = nn.Parameter(torch.zeros(self.width))

    def forward(self, characters: Tensor, mask: Tensor) -> Tensor:
        """(T, N) characters of T words → (T, width)."""
        # With bf16 each character is multiplied once; in float32 that would change the last bits of gradients.
        once = native.precision() == "bf16"
        inputs = self.table if once else functional.embedding(characters, self.table)
        states = self.gru(inputs, mask, characters if once else None)  # (T, N, 50)
        return functional.linear(final_states(states, mask), self.weight, self.bias)


class TokenEmbedding(nn.Module):
    """L(w), or L(w) ‖ C(w) with a character model."""

    def __init__(
        self, words: Tensor, characters: CharacterEmbedding | None = None, *, update_words: bool, scale: float = 1.0
    ) -> None:
        """The initial table is `scale` times `words`, and the vector of an unknown word is scaled as well."""
        super().__init__()
        self.words = row_table(words if scale == 1 else words * scale, requires_grad=update_words)
        self.characters = characters
        self.scale = scale

    def forward(self, types: Types) -> Tensor:
        """The distinct words of a batch → (types, E)."""
        unknown = types.unknown.to(self.words.dtype) * self.scale
        vectors = torch.cat([rows(self.words, types.known), unknown])
        if self.characters is None:
            return vectors
        return torch.cat([vectors, self.characters(types.characters, types.character_mask)], dim=-1)
