"""Dropout whose random bits come sixteen at a time: drawing them one number each took a tenth of a training step."""

import numpy as np
import torch
from torch import Tensor, nn


class Dropout(nn.Module):
    """In training, sets a share of all numbers to zero and scales the others up; the rate is rounded to 1/65536."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.dropped = round(rate * 2**16)

    def forward(self, values: Tensor) -> Tensor:
        """Any shape, unchanged; one number from torch's generator decides what is dropped."""
        if not self.training or self.dropped == 0:
            return values
        seed = int(torch.randint(2**62, ()))
        bits = np.random.SFC64(seed).random_raw(-(-values.numel() // 4)).view(np.int16)[: values.numel()]
        keep = torch.from_numpy(bits) >= self.dropped - 2**15
        scale = keep.to(values) * (2**16 / (2**16 - self.dropped))
        return values * scale.view_as(values)
