"""Match of the words around a document token with the query's words, in numpy; `gareader.nn.match` trains it."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gareader.kernels.layers import Floats, Indices, Masks

THRESHOLD = 0.4
"""θ: words whose cosine is smaller do not match at all."""


def match_shapes(width: int) -> dict[str, tuple[int, ...]]:
    """The shapes of the weights for word vectors of that width."""
    scalar: tuple[int, ...] = ()
    vectors = {"match.center": (width,), "match.projection": (width, width), "match.importance": (width,)}
    return {**vectors, "match.offset": scalar, "match.decay": scalar, "match.weight": scalar}


def match(
    vectors: Floats,
    weights: Mapping[str, Floats],
    document: tuple[Indices, Masks],
    query: tuple[Indices, Masks],
) -> Floats:
    """m_i = β Σ_q a_q max_{j≠i} γ^|i−j| S_jq: word vectors (types, width), words and mask of both → (B, D)."""
    center, projection, importance, offset, decay, weight = (weights[name] for name in match_shapes(vectors.shape[1]))
    # not `@`: a BLAS may round differently with another number of threads
    projected = np.einsum("tw,wv->tv", vectors - center, projection)
    units = projected / np.maximum(np.sqrt((projected**2).sum(-1, keepdims=True)), 1e-12)  # (types, width)
    similarity = np.einsum("bdw,bqw->dbq", units[document[0]], units[query[0]])  # (D, B, Q)
    similarity = np.maximum(similarity - np.float32(THRESHOLD), 0) / np.float32(1 - THRESHOLD)  # S
    similarity *= document[1].T[:, :, None] & query[1]
    near = _nearest(similarity, _sigmoid(decay))
    a = _sigmoid(np.einsum("tw,w->t", vectors, importance) + offset)[query[0]]  # (B, Q)
    result: Floats = weight * np.einsum("dbq,bq->bd", near, a)
    return result


def _nearest(similarity: Floats, decay: Floats) -> Floats:
    """max_{j≠i} γ^|i−j| S_jq: (D, B, Q) → (D, B, Q)."""
    best = np.zeros_like(similarity)
    for steps in (range(1, len(best)), range(len(best) - 2, -1, -1)):
        near = np.zeros_like(best[0])
        for i in steps:
            near = decay * np.maximum(near, similarity[i - steps.step])
            np.maximum(best[i], near, out=best[i])
    return best


def _sigmoid(values: NDArray[np.float32]) -> Floats:
    return 1 / (1 + np.exp(-values))
