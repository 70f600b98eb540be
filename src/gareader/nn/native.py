"""Tensors for the native library: when it can read them, in which precision, and how it is called with them."""

import ctypes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

from gareader.kernels import library
from gareader.kernels.library import Precision

_precision: ContextVar[Precision] = ContextVar("precision", default="float32")


@contextmanager
def products_in(chosen: Precision) -> Iterator[None]:
    """Let the library multiply in this precision, also in the backward pass of what is computed here."""
    token = _precision.set(chosen)
    try:
        yield
    finally:
        _precision.reset(token)


def precision() -> Precision:
    """The precision that `products_in` has chosen, float32 outside of it."""
    return _precision.get()


def usable(values: Tensor, mask: Tensor) -> bool:
    """Whether the library can be used: there is one, and the tensors are float32, on the CPU and not empty."""
    on_cpu = values.dtype == torch.float32 and values.device.type == "cpu"
    return on_cpu and mask.numel() > 0 and library.library() is not None


def call(function: str, shape: ctypes.Structure, *tensors: Tensor | None) -> None:
    """Call a function of the library with contiguous tensors."""
    library.call(function, shape, *(None if tensor is None else tensor.data_ptr() for tensor in tensors))


def check(expected: Mapping[str, tuple[Tensor | None, torch.dtype, tuple[int, ...]]]) -> None:
    """Raise ValueError for a tensor of another type or shape than the library reads."""
    for name, (tensor, dtype, shape) in expected.items():
        if tensor is not None and (tensor.dtype != dtype or tensor.shape != shape):
            raise ValueError(f"{name}: {tensor.dtype} of {tuple(tensor.shape)} where {dtype} of {shape} is due")
