"""Batches as tensors, for the readers on torch."""

import torch
from torch import Tensor

from gareader.data import arrays
from gareader.data.batching import Arrays

Types = arrays.Types[Tensor]
Batch = arrays.Batch[Tensor]


def tensors(batch: arrays.Batch[Arrays], device: torch.device | None = None) -> Batch:
    """The batch as tensors, which share the memory of its arrays on a CPU."""
    return batch.map(lambda array: torch.from_numpy(array).to(device))
