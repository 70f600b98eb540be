"""The Bi-GRU's native kernel: loading the library that `native/` is built to, and its place in autograd."""

import ctypes
import os
import warnings
from functools import cache
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from gareader.errors import ConfigError

LIBRARY = Path(__file__).with_name("libgru.so")
"""Where the installation puts the library, if there was a compiler."""

CODES = {"paper": 0, "cudnn": 1}

_ERRORS = {1: "there is not enough memory", 2: "this machine lacks the instruction set", 3: "a word is out of range"}


class _Shape(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_int64)
        for name in ("cell", "batch", "steps", "inputs", "hidden", "rows", "threads", "instruction_set")
    ]


@cache
def library() -> ctypes.CDLL | None:
    """The library, or None with a warning where it was not built. `GAREADER_GRU` decides between native and torch."""
    choice = os.environ.get("GAREADER_GRU", "")
    if choice not in ("", "native", "torch"):
        raise ConfigError(f"GAREADER_GRU = {choice!r} is not known; use native or torch")
    if choice == "torch":
        return None
    try:
        loaded = ctypes.CDLL(str(LIBRARY))
    except OSError as error:
        way_out = "install gareader again on a machine with a C compiler such as gcc"
        if choice == "native":
            raise ConfigError(
                f"GAREADER_GRU = 'native', but the kernel cannot be loaded ({error}); {way_out}"
            ) from None
        warnings.warn(f"reading with PyTorch alone, several times slower: no native kernel; {way_out}", stacklevel=2)
        return None
    loaded.gru_instruction_set.restype = ctypes.c_char_p
    loaded.gru_instruction_set.argtypes = [ctypes.c_int64]
    loaded.gru_gates_size.restype = ctypes.c_int64
    loaded.gru_gates_size.argtypes = [ctypes.POINTER(_Shape)]
    loaded.gru_forward.argtypes = [ctypes.POINTER(_Shape)] + [ctypes.c_void_p] * 8
    loaded.gru_backward.argtypes = [ctypes.POINTER(_Shape)] + [ctypes.c_void_p] * 12
    loaded.gru_keep_memory.argtypes = []
    loaded.gru_keep_memory.restype = None
    loaded.gru_keep_memory()
    return loaded


def instruction_sets() -> list[str]:
    """The instruction sets of this machine that the library has code for, the best first."""
    loaded = library()
    if loaded is None:
        return []
    return [name.decode() for name in takewhile(bool, map(loaded.gru_instruction_set, count()))]


def usable(values: Tensor, mask: Tensor) -> bool:
    """Whether the kernel takes these: single precision, in the main memory, not empty, and there is a kernel."""
    return values.dtype == torch.float32 and values.device.type == "cpu" and mask.numel() > 0 and library() is not None


def bigru(
    values: Tensor,
    words: Tensor | None,
    mask: Tensor,
    weights: tuple[Tensor, Tensor, Tensor],
    cell: str,
    instruction_set: int = 0,
) -> Tensor:
    """What `BiGRU.forward` computes, from the input weights, recurrent weights and biases of both directions."""
    batch, steps = mask.shape
    inputs, hidden = weights[0].shape[1], weights[1].shape[1]
    expected = {  # C would read whatever it is given
        "values": (values, torch.float32, (*((batch, steps) if words is None else values.shape[:1]), inputs)),
        "words": (words, torch.int64, (batch, steps)),
        "mask": (mask, torch.bool, (batch, steps)),
        "input weights": (weights[0], torch.float32, (2, inputs, 3 * hidden)),
        "recurrent weights": (weights[1], torch.float32, (2, hidden, 3 * hidden)),
        "biases": (weights[2], torch.float32, (2, 1, 1, 3 * hidden)),
    }
    for name, (tensor, dtype, shape) in expected.items():
        if tensor is not None and (tensor.dtype != dtype or tensor.shape != shape):
            raise ValueError(f"{name}: {tensor.dtype} of {tuple(tensor.shape)} where {dtype} of {shape} is due")
    keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (values, *weights))
    out: Tensor = _BiGRU.apply(  # type: ignore[no-untyped-call]
        values, words, mask, *weights, CODES[cell], instruction_set, keep
    )
    return out


class _BiGRU(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        values: Tensor,
        words: Tensor | None,
        mask: Tensor,
        input_weight: Tensor,
        recurrent_weight: Tensor,
        bias: Tensor,
        cell: int,
        instruction_set: int,
        keep: bool,
    ) -> Tensor:
        values, mask, words = values.contiguous(), mask.contiguous(), None if words is None else words.contiguous()
        weights = [weight.contiguous() for weight in (input_weight, recurrent_weight, bias)]
        batch, steps = mask.shape
        hidden, inputs = recurrent_weight.shape[1], values.shape[-1]
        rows, threads = values.numel() // max(1, inputs), torch.get_num_threads()
        shape = _Shape(cell, batch, steps, inputs, hidden, rows, threads, instruction_set)
        out = values.new_empty(batch, steps, 2 * hidden)
        gates = values.new_empty(_library().gru_gates_size(shape)) if keep else None
        _call("gru_forward", shape, values, words, mask, *weights, out, gates)
        ctx.save_for_backward(values, words, mask, *weights[:2], out)
        ctx.shape, ctx.gates = shape, gates
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        values, words, mask, input_weight, recurrent_weight, out = ctx.saved_tensors
        if ctx.gates is None:
            raise RuntimeError("the kernel keeps nothing for a second backward pass; run the forward pass again")
        gates, ctx.gates = ctx.gates, None
        d_values = torch.empty_like(values) if ctx.needs_input_grad[0] else None
        d_weights = torch.empty_like(input_weight), torch.empty_like(recurrent_weight)
        d_bias = values.new_empty(2, 1, 1, 3 * ctx.shape.hidden)
        saved = values, words, mask, input_weight, recurrent_weight, out
        _call("gru_backward", ctx.shape, *saved, gates, gradient.contiguous(), d_values, *d_weights, d_bias)
        return d_values, None, None, *d_weights, d_bias, None, None, None


def _library() -> ctypes.CDLL:
    loaded = library()
    if loaded is None:  # `usable` was not asked
        raise RuntimeError("there is no native kernel")
    return loaded


def _call(function: str, shape: _Shape, *tensors: Tensor | None) -> None:
    pointers = [None if tensor is None else tensor.data_ptr() for tensor in tensors]
    code = getattr(_library(), function)(shape, *pointers)
    if code:
        raise RuntimeError(f"{function}: {_ERRORS[code]}")
