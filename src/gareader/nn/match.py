"""Match of the words around a document token with the query's words, by the similarity of word vectors."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.kernels.match import THRESHOLD, sources
from gareader.nn.tensors import Batch

COMMON = 2
"""Principal directions that all word vectors share; the first projection leaves them out (Mu and Viswanath 2018)."""


class Match(nn.Module):
    """m_i = Σ_q a_q max_{j≠i} γ^|i−j| S_jq, with S_jq = max(0, cos(P(x_j − c), P(x_q − c)) − θ) / (1 − θ).

    a_q = log(1 + exp(w·x_q + b)) is the weight of the query's word q, x its word vector; γ, w, b, P and c are learned.
    First P and c take the mean and the two strongest directions out of the word vectors.
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
        self.offset = nn.Parameter(words.new_tensor(0.5))
        self.decay = nn.Parameter(words.new_tensor(3.0))  # γ = σ(3) = 0.95

    def forward(self, vectors: Tensor, batch: Batch) -> Tensor:
        """(types, width) word vectors of the distinct words of a batch → m, (B, D)."""
        units = functional.normalize((vectors - self.center) @ self.projection, dim=-1)  # (types, width)
        cosine = units[batch.document] @ units[batch.query].transpose(1, 2)  # (B, D, Q)
        similarity = (cosine - THRESHOLD).clamp(min=0) / (1 - THRESHOLD)  # S
        similarity = similarity * (batch.document_mask[:, :, None] & batch.query_mask[:, None])
        near = nearest(similarity.transpose(0, 1), self.decay.sigmoid())  # (D, B, Q)
        importance = functional.softplus(vectors @ self.importance + self.offset)[batch.query]  # (B, Q)  a
        return torch.einsum("dbq,bq->bd", near, importance)


def nearest(similarity: Tensor, decay: Tensor) -> Tensor:
    """max_{j≠i} γ^|i−j| S_jq: (D, B, Q) → (D, B, Q)."""
    best = torch.from_numpy(sources(similarity.detach().cpu().numpy(), decay.item())).to(similarity.device)
    steps = (best - torch.arange(len(best), device=best.device)[:, None, None]).abs()
    return decay**steps * similarity.gather(0, best)
