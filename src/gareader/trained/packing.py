"""Small weights: half precision, and the word table in 8 bits with one scale a row."""

from collections.abc import Mapping

import torch
from torch import Tensor

from gareader.nn.embedding import TABLE

SCALE = f"{TABLE}.scale"


def pack(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Compress weights to a quarter to a half of their size; `unpack` gives them back, rounded."""
    packed = {name: weight.half() for name, weight in weights.items()}
    scale = (weights[TABLE].abs().amax(dim=1, keepdim=True) / 127).half()
    packed[TABLE] = (weights[TABLE] / scale.float().clamp(min=1e-30)).round().clamp(-127, 127).to(torch.int8)
    return packed | {SCALE: scale}


def unpack(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights of `pack` in single precision; other weights are returned unchanged."""
    weights = {name: tensor.float() if tensor.dtype == torch.half else tensor for name, tensor in tensors.items()}
    if SCALE in weights:
        weights[TABLE] = weights[TABLE] * weights.pop(SCALE)
    return weights
