"""Match of the words around a document token with the query's words, in numpy; `gareader.nn.match` trains it."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gareader.kernels.layers import Floats, Indices, Masks

THRESHOLD = 0.4
"""θ: words whose cosine is smaller do not match at all."""


def match_shapes(width: int) -> dict[str, tuple[int, ...]]:
    """The shapes of the weights for word vectors of that width."""
    vectors = {"match.center": (width,), "match.projection": (width, width), "match.importance": (width,)}
    return {**vectors, "match.offset": (), "match.decay": ()}


def match(
    vectors: Floats,
    weights: Mapping[str, Floats],
    document: tuple[Indices, Masks],
    query: tuple[Indices, Masks],
) -> Floats:
    """m_i = Σ_q a_q max_{j≠i} γ^|i−j| S_jq: word vectors (types, width), words and mask of both → (B, D)."""
    center, projection, importance, offset, decay = (weights[name] for name in match_shapes(vectors.shape[1]))
    # not `@`: a BLAS may round differently with another number of threads
    projected = np.einsum("tw,wv->tv", vectors - center, projection)
    units = projected / np.maximum(np.sqrt((projected**2).sum(-1, keepdims=True)), 1e-12)  # (types, width)
    similarity = np.einsum("bdw,bqw->dbq", units[document[0]], units[query[0]])  # (D, B, Q)
    similarity = np.maximum(similarity - np.float32(THRESHOLD), 0) / np.float32(1 - THRESHOLD)  # S
    similarity *= document[1].T[:, :, None] & query[1]
    gamma = 1 / (1 + np.exp(-decay))
    best = sources(similarity, float(gamma))
    steps = np.abs(best - np.arange(len(best))[:, None, None])
    near = gamma**steps * np.take_along_axis(similarity, best, 0)  # (D, B, Q)
    a = np.logaddexp(0, np.einsum("tw,w->t", vectors, importance) + offset)[query[0]]  # (B, Q)
    result: Floats = np.einsum("dbq,bq->bd", near, a)
    return result


def sources(similarity: Floats, decay: float) -> NDArray[np.int64]:
    """argmax_{j≠i} γ^|i−j| S_jq, by one step forward and one backward for each token: (D, B, Q) → (D, B, Q).

    Where nothing is similar it is any token of the document, itself only in a document of one token.
    """
    best = np.zeros_like(similarity)
    source = np.zeros(similarity.shape, dtype=np.int64)
    for steps in (range(1, len(best)), range(len(best) - 2, -1, -1)):
        near, place = np.zeros_like(best[0]), np.zeros(best.shape[1:], dtype=np.int64)
        for i in steps:
            beside = i - steps.step
            place = np.where(similarity[beside] >= near, beside, place)
            near = decay * np.maximum(similarity[beside], near)
            np.copyto(source[i], place, where=near >= best[i])
            np.maximum(best[i], near, out=best[i])
    return source
