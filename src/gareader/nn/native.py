"""The layers of the native library on tensors, as autograd functions; when it is used, and in which precision."""

import ctypes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from gareader.kernels import library
from gareader.kernels.library import CELLS, PRECISIONS, GateShape, GruShape, Precision, chosen_set, loaded_library

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
    check(
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
    rows, threads = values.numel() // max(1, inputs), torch.get_num_threads()
    shape = GruShape(CELLS[cell], batch, steps, inputs, hidden, rows, threads, number, PRECISIONS[precision])
    out: Tensor = _BiGRU.apply(values, words, mask, *weights, shape, keep)  # type: ignore[no-untyped-call]
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
        shape: GruShape,
        keep: bool,
    ) -> Tensor:
        values, mask, words = values.contiguous(), mask.contiguous(), None if words is None else words.contiguous()
        weights = [weight.contiguous() for weight in (input_weight, recurrent_weight, bias)]
        out = values.new_empty(*mask.shape, 2 * shape.hidden)
        gates = values.new_empty(loaded_library().gru_gates_size(ctypes.byref(shape))) if keep else None
        call("gru_forward", shape, values, words, mask, *weights, out, gates)
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
        call("gru_backward", ctx.shape, *saved, gates, gradient.contiguous(), d_values, *d_weights, d_bias)
        return d_values, None, None, *d_weights, d_bias, None, None


def gated_attention(
    document: Tensor,
    query: Tensor,
    query_mask: Tensor,
    draws: Tensor | None,
    dropped: int,
    instruction_set: int | None = None,
    precision: Precision = "float32",
) -> tuple[Tensor, Tensor]:
    """D ⊙ (α Q) after dropout, and α: (B, D, 2H) and (B, D, Q); α has no gradient.

    A number is dropped where its 16 random bits in `draws` are among the lowest `dropped` of 65,536.
    """
    batch, tokens, width = document.shape
    query_tokens = query.shape[1]
    check(
        {
            "document": (document, torch.float32, (batch, tokens, width)),
            "query": (query, torch.float32, (batch, query_tokens, width)),
            "query mask": (query_mask, torch.bool, (batch, query_tokens)),
            "draws": (draws, torch.int16, (batch, tokens, width)),
        }
    )
    number, threads = chosen_set() if instruction_set is None else instruction_set, torch.get_num_threads()
    shape = GateShape(batch, tokens, query_tokens, width, width, dropped, threads, number, PRECISIONS[precision])
    out, alpha = _GatedAttention.apply(document, query, query_mask, draws, shape)  # type: ignore[no-untyped-call]
    return out, alpha[:, :, :query_tokens]


class _GatedAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, document: Tensor, query: Tensor, query_mask: Tensor, draws: Tensor | None, shape: GateShape
    ) -> tuple[Tensor, Tensor]:
        document, query, query_mask = document.contiguous(), query.contiguous(), query_mask.contiguous()
        draws = None if draws is None else draws.contiguous()
        out = torch.empty_like(document)
        alpha = document.new_empty(*document.shape[:2], loaded_library().gate_columns(query.shape[1]))
        call("gate_forward", shape, document, query, query_mask, draws, alpha, out)
        ctx.save_for_backward(document, query, query_mask, draws, alpha)
        ctx.shape = shape
        ctx.mark_non_differentiable(alpha)
        return out, alpha

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        document, query, query_mask, draws, alpha = ctx.saved_tensors
        d_document, d_query = torch.empty_like(document), torch.empty_like(query)
        saved = document, query, query_mask, draws, alpha
        call("gate_backward", ctx.shape, *saved, gradient.contiguous(), d_document, d_query)
        return d_document, d_query, None, None, None
