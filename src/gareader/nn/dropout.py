"""Dropout with 16 random bits per number: drawing a whole random number for each took a tenth of a training step."""

import numpy as np
import torch
from torch import Tensor, nn


class Dropout(nn.Module):
    """In training, zero a share of all numbers and scale up the others; the rate is rounded to 1/65536."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.dropped = min(round(rate * 2**16), 2**16 - 1)

    def draws(self, values: Tensor) -> Tensor | None:
        """16 random bits for each number, seeded by one draw of torch's generator; None if nothing is dropped."""
        if not self.training or self.dropped == 0:
            return None
        seed = int(torch.randint(2**62, ()))
        generator = np.random.Generator(np.random.SFC64(seed))
        # the raw numbers of `random_raw`, which takes half as long again
        raw = generator.integers(2**64, size=-(-values.numel() // 4), dtype=np.uint64)
        return torch.from_numpy(raw.view(np.int16)[: values.numel()]).view(values.shape)

    def forward(self, values: Tensor) -> Tensor:
        """A tensor of any shape → the same shape."""
        draws = self.draws(values)
        if draws is None:
            return values
        keep = draws.to(values.device) >= self.dropped - 2**15
        return values * (keep.to(values) * (2**16 / (2**16 - self.dropped)))
