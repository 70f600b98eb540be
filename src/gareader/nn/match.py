"""Match of the words around a document token with the query's words, by the similarity of word vectors."""

import torch
from torch import Tensor, nn

from gareader.kernels.match import THRESHOLD
from gareader.nn.tensors import Batch

COMMON = 2
"""Principal directions that all word vectors share; the first projection leaves them out (Mu and Viswanath 2018)."""


class Match(nn.Module):
    """m_i = β Σ_q a_q max_{j≠i} γ^|i−j| S_jq, with S_jq = max(0, cos(P(x_j − c), P(x_q − c)) − θ) / (1 − θ).

    a_q = σ(w·x_q + b) is the weight of the query's word q, x its word vector; β, γ, w, b, P and c are learned. First P
    and c take the mean and the two strongest directions out of the word vectors.
    """

    def __init__(self, words: Tensor) -> None:
        super().__init__()
        width = words.shape[1]
        center = words.mean(0)
        centered = (words - center).double()
        _, directions = torch.linalg.eigh(centered.T @ centered)  # the strongest last
        common = directions[:, -min(COMMON, width - 1) :].to(words)
        self.center = nn.Parameter(center)
        self.projection = nn.Parameter(torch.eye(width, dtype=words.dtype) - common @ common.T)
        self.importance = nn.Parameter(torch.zeros(width, dtype=words.dtype))
        self.offset = nn.Parameter(words.new_zeros(()))
        self.decay = nn.Parameter(words.new_tensor(3.0))  # γ = σ(3) = 0.95
        self.weight = nn.Parameter(words.new_ones(()))

    def forward(self, vectors: Tensor, batch: Batch) -> Tensor:
        """(types, width) word vectors of the distinct words of a batch → m, (B, D)."""
        units = nn.functional.normalize((vectors - self.center) @ self.projection, dim=-1)  # (types, width)
        cosine = units[batch.document] @ units[batch.query].transpose(1, 2)  # (B, D, Q)
        similarity = (cosine - THRESHOLD).clamp(min=0) / (1 - THRESHOLD)  # S
        similarity = similarity * (batch.document_mask[:, :, None] & batch.query_mask[:, None])
        near = nearest(similarity, self.decay.sigmoid())  # (B, D, Q)
        importance = (vectors @ self.importance + self.offset).sigmoid()[batch.query]  # (B, Q)  a
        return self.weight * torch.einsum("bdq,bq->bd", near, importance)


def nearest(similarity: Tensor, decay: Tensor) -> Tensor:
    """max_{j≠i} γ^|i−j| S_jq: (B, D, Q) → (B, D, Q)."""
    return torch.maximum(_before(similarity, decay), _before(similarity.flip(1), decay).flip(1))


def _before(similarity: Tensor, decay: Tensor) -> Tensor:
    """max_{j<i} γ^(i−j) S_jq, by doubling the reach: (B, D, Q) → (B, D, Q)."""
    reach, best = 1, decay * _later(similarity, 1)
    while reach < similarity.shape[1]:
        best = torch.maximum(best, decay**reach * _later(best, reach))
        reach *= 2
    return best


def _later(values: Tensor, steps: int) -> Tensor:
    """The values of each token at the token so many steps later, zero before: (B, D, Q) → (B, D, Q)."""
    return torch.cat([torch.zeros_like(values[:, :steps]), values[:, :-steps]], dim=1)
