"""The native gated attention as an autograd function."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from gareader.kernels.library import PRECISIONS, GateShape, Precision, chosen_set, loaded_library
from gareader.nn import native


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
    native.check(
        {
            "document": (document, torch.float32, (batch, tokens, width)),
            "query": (query, torch.float32, (batch, query_tokens, width)),
            "query mask": (query_mask, torch.bool, (batch, query_tokens)),
            "draws": (draws, torch.int16, (batch, tokens, width)),
        }
    )
    number = chosen_set() if instruction_set is None else instruction_set
    out, alpha = _GatedAttention.apply(  # type: ignore[no-untyped-call]
        document, query, query_mask, draws, dropped, number, PRECISIONS[precision]
    )
    return out, alpha[:, :, :query_tokens]


class _GatedAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        document: Tensor,
        query: Tensor,
        query_mask: Tensor,
        draws: Tensor | None,
        dropped: int,
        instruction_set: int,
        precision: int,
    ) -> tuple[Tensor, Tensor]:
        document, query, query_mask = document.contiguous(), query.contiguous(), query_mask.contiguous()
        draws = None if draws is None else draws.contiguous()
        batch, tokens, width = document.shape
        query_tokens = query.shape[1]
        threads = torch.get_num_threads()
        shape = GateShape(batch, tokens, query_tokens, width, dropped, threads, instruction_set, precision)
        out = torch.empty_like(document)
        alpha = document.new_empty(batch, tokens, loaded_library().gate_columns(query_tokens))
        native.call("gate_forward", shape, document, query, query_mask, draws, alpha, out)
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
        native.call("gate_backward", ctx.shape, *saved, gradient.contiguous(), d_document, d_query)
        return d_document, d_query, None, None, None, None, None
