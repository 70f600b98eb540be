"""The gated-attention module: every document token attends to the query and is gated by the result."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from gareader.kernels.layers import Gate, QueryAttention
from gareader.nn import native
from gareader.nn.dropout import Dropout
from gareader.nn.sequences import final_states


def token_attention(document: Tensor, query: Tensor, query_mask: Tensor) -> tuple[Tensor, Tensor]:
    """α_i = softmax(Qᵀ d_i) and q̃_i = Q α_i for every document token i: (B, D, 2H) and (B, D, Q)."""
    match = document @ query.transpose(1, 2)  # (B, D, Q)
    alpha = match.masked_fill(~query_mask.unsqueeze(1), -torch.inf).softmax(dim=-1)
    return alpha @ query, alpha


def whole_query(document: Tensor, query: Tensor, query_mask: Tensor) -> tuple[Tensor, None]:
    """One q̃ for all document tokens, the final states of the query Bi-GRU; there is no attention α."""
    return final_states(query, query_mask).unsqueeze(1).expand_as(document), None


QUERY_ATTENTIONS: dict[QueryAttention, Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor | None]] | None] = {
    "token": token_attention,
    "whole": whole_query,
    "none": None,
}

GATES: dict[Gate, Callable[[Tensor, Tensor], Tensor]] = {
    "multiply": lambda d, q: d * q,
    "add": lambda d, q: d + q,
    "concatenate": lambda d, q: torch.cat([d, q], dim=-1),
}


class GatedAttention(nn.Module):
    """X = GA(D, Q): each document token gated by its query vector q̃_i, eqs. 4 to 6, then dropout."""

    def __init__(self, query_attention: QueryAttention, gate: Gate, dropout: float) -> None:
        super().__init__()
        self.attend = QUERY_ATTENTIONS[query_attention]
        self.gate = GATES[gate]
        self.dropout = Dropout(dropout)
        self.has_kernel = (query_attention, gate) == ("token", "multiply")

    def forward(
        self, document: Tensor, query: Tensor | None, query_mask: Tensor, *, attention: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """(B, D, 2H), (B, Q, 2H), (B, Q) → X (B, D, 2H or 4H), and α (B, D, Q) if there is one.

        α has a gradient only with `attention`.
        """
        kernel = self.has_kernel and not (attention and torch.is_grad_enabled()) and native.usable(document, query_mask)
        if kernel and query is not None:
            draws = self.dropout.draws(document)
            return native.gated_attention(
                document, query, query_mask, draws, self.dropout.dropped, precision=native.precision()
            )
        return self.in_pytorch(document, query, query_mask)

    def in_pytorch(self, document: Tensor, query: Tensor | None, query_mask: Tensor) -> tuple[Tensor, Tensor | None]:
        """The forward pass in PyTorch, for any device and precision."""
        if self.attend is None or query is None:
            return self.dropout(document), None
        query_vectors, alpha = self.attend(document, query, query_mask)  # (B, D, 2H)  q̃_i; (B, D, Q)  α_i, eq. 5
        return self.dropout(self.gate(document, query_vectors)), alpha  # (B, D, 2H or 4H)  x_i, eq. 6
