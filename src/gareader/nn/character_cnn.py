"""A convolution over the characters of a word, computed once for every distinct word of a batch."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.nn.dropout import Dropout


class CharacterCNN(nn.Module):
    """The largest answer of each filter, max_n ReLU(F · [x_{n−2} … x_{n+2}] + b), over the characters n of a word."""

    def __init__(
        self,
        characters: int,
        width: int = 100,
        *,
        inputs: int = 8,
        span: int = 5,
        dropout: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> None:
        """`width` filters over `span` characters, an odd number, of `inputs` each; dropout falls on these."""
        super().__init__()
        self.width = width
        self.dropout = Dropout(dropout)
        self.table = nn.Parameter(torch.empty(characters, inputs).normal_(0, 0.1, generator=generator))
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(width, inputs, span), generator=generator))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, characters: Tensor, mask: Tensor) -> Tensor:
        """(T, N) characters of T words → (T, width); beyond both ends of a word there are zeros."""
        letters = self.dropout(functional.embedding(characters, self.table)) * mask.unsqueeze(-1)  # (T, N, inputs)
        answers = functional.conv1d(
            letters.transpose(1, 2), self.weight, self.bias, padding=self.weight.shape[-1] // 2
        )  # (T, width, N)
        # ReLU leaves nothing below zero, so a zero behind the end of a word is never the largest wrongly.
        return (functional.relu(answers) * mask.unsqueeze(1)).amax(dim=-1)
