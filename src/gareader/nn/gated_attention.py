"""The gated-attention module: what each document token asks of the query, and how the answer gates it."""

from collections.abc import Callable

import torch
from torch import Tensor

from gareader.nn.gru import final_states


def token_attention(document: Tensor, query: Tensor, query_mask: Tensor) -> tuple[Tensor, Tensor]:
    """α_i = softmax(Qᵀ d_i) and q̃_i = Q α_i for every document token i: (B, D, 2H) and (B, D, Q)."""
    match = document @ query.transpose(1, 2)  # (B, D, Q)
    alpha = match.masked_fill(~query_mask.unsqueeze(1), -torch.inf).softmax(dim=-1)
    return alpha @ query, alpha


def whole_query(document: Tensor, query: Tensor, query_mask: Tensor) -> tuple[Tensor, None]:
    """One q̃ for all document tokens, the final states of the query Bi-GRU: no attention to show."""
    return final_states(query, query_mask).unsqueeze(1).expand_as(document), None


QueryAttention = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor | None]]

QUERY_ATTENTIONS: dict[str, QueryAttention | None] = {"token": token_attention, "whole": whole_query, "none": None}

GATES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "multiply": lambda d, q: d * q,
    "add": lambda d, q: d + q,
    "concatenate": lambda d, q: torch.cat([d, q], dim=-1),
}
