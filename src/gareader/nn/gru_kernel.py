"""The native Bi-GRU as an autograd function."""

import ctypes
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from gareader.kernels.library import CELLS, PRECISIONS, GruShape, Precision, chosen_set, loaded_library
from gareader.nn import native


def bigru(
    values: Tensor,
    words: Tensor | None,
    mask: Tensor,
    weights: tuple[Tensor, Tensor, Tensor],
    cell: str,
    instruction_set: int | None = None,
    precision: Precision = "float32",
) -> Tensor:
    """`BiGRU.forward` by the kernel; `weights` are the input weights, recurrent weights and biases."""
    batch, steps = mask.shape
    inputs, hidden = weights[0].shape[1], weights[1].shape[1]
    native.check(
        {
            "values": (values, torch.float32, (*((batch, steps) if words is None else values.shape[:1]), inputs)),
            "words": (words, torch.int64, (batch, steps)),
            "mask": (mask, torch.bool, (batch, steps)),
            "input weights": (weights[0], torch.float32, (2, inputs, 3 * hidden)),
            "recurrent weights": (weights[1], torch.float32, (2, hidden, 3 * hidden)),
            "biases": (weights[2], torch.float32, (2, 1, 1, 3 * hidden)),
        }
    )
    keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (values, *weights))
    number = chosen_set() if instruction_set is None else instruction_set
    out: Tensor = _BiGRU.apply(  # type: ignore[no-untyped-call]
        values, words, mask, *weights, CELLS[cell], number, PRECISIONS[precision], keep
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
        precision: int,
        keep: bool,
    ) -> Tensor:
        values, mask, words = values.contiguous(), mask.contiguous(), None if words is None else words.contiguous()
        weights = [weight.contiguous() for weight in (input_weight, recurrent_weight, bias)]
        batch, steps = mask.shape
        hidden, inputs = recurrent_weight.shape[1], values.shape[-1]
        rows, threads = values.numel() // max(1, inputs), torch.get_num_threads()
        shape = GruShape(cell, batch, steps, inputs, hidden, rows, threads, instruction_set, precision)
        out = values.new_empty(batch, steps, 2 * hidden)
        gates = values.new_empty(loaded_library().gru_gates_size(ctypes.byref(shape))) if keep else None
        native.call("gru_forward", shape, values, words, mask, *weights, out, gates)
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
        native.call("gru_backward", ctx.shape, *saved, gates, gradient.contiguous(), d_values, *d_weights, d_bias)
        return d_values, None, None, *d_weights, d_bias, None, None, None, None
