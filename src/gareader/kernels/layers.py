"""Bi-GRU and gated attention on numpy arrays: by the native library, or in numpy, always in float32."""

import ctypes
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gareader.kernels.library import (
    CELLS,
    PRECISIONS,
    GateShape,
    GruReading,
    GruShape,
    Precision,
    call,
    chosen_set,
    library,
    loaded_library,
    read,
    threads,
)

CellName = Literal["paper", "cudnn"]
QueryAttention = Literal["token", "whole", "none"]
Gate = Literal["multiply", "add", "concatenate"]

Floats = NDArray[np.float32]
Masks = NDArray[np.bool_]
Indices = NDArray[np.int64]
Weights = tuple[Floats, Floats, Floats]
"""Input weights (2, inputs, 3H), recurrent weights (2, H, 3H) and biases (2, 1, 1, 3H); gates in order r, z, h̃."""


class BiGRU:
    """A bidirectional GRU with its weights, which the library packs once, in the precision of its products."""

    def __init__(self, weights: Weights, cell: CellName, precision: Precision = "float32") -> None:
        self.weights, self.cell, self.precision = weights, cell, precision

    def __call__(self, sequence: Floats, mask: Masks, words: Indices | None = None) -> Floats:
        """BiGRU(X): (B, T, inputs), (B, T) → (B, T, 2H); a masked step keeps the state, and its output is zero.

        With `words` (B, T), `sequence` (N, inputs) has the vectors of N distinct words, and X is `sequence[words]`.
        """
        return read_together([Reading(self, sequence, mask, words)])[0]

    def shape(self, batch: int, steps: int, rows: int) -> GruShape:
        """The sizes as the library reads them."""
        inputs, hidden = self.weights[0].shape[1], self.weights[1].shape[1]
        precision = PRECISIONS[self.precision]
        return GruShape(CELLS[self.cell], batch, steps, inputs, hidden, rows, threads(), chosen_set(), precision)

    @cached_property
    def packed(self) -> Floats:
        """The weights in the order in which the library reads them."""
        shape = self.shape(0, 0, 0)
        packed = _aligned(loaded_library().gru_packed_size(ctypes.byref(shape)))
        arrays = [_floats(array) for array in self.weights]
        call("gru_pack", shape, *map(_address, (*arrays, packed)))
        return packed


class Reading(NamedTuple):
    """What a Bi-GRU is to read: the arguments of `BiGRU.__call__`."""

    gru: BiGRU
    sequence: Floats
    mask: Masks
    words: Indices | None = None


def read_together(readings: Sequence[Reading]) -> list[Floats]:
    """The states of Bi-GRUs that do not wait for each other; the library computes them side by side."""
    if library() is None or not all(reading.mask.size for reading in readings):
        return [_bigru_in_numpy(*reading) for reading in readings]
    outs, structures, alive = [], [], []
    for gru, sequence, mask, words in readings:
        (batch, steps), inputs = mask.shape, sequence.shape[-1]
        if (sequence.shape[:-1] != mask.shape and words is None) or inputs != gru.weights[0].shape[1]:
            raise ValueError(f"sequences {sequence.shape} for a mask {mask.shape} and weights {gru.weights[0].shape}")
        out = np.empty((batch, steps, 2 * gru.weights[1].shape[1]), np.float32)
        words = None if words is None else np.ascontiguousarray(words, np.int64)
        arrays = (_floats(sequence), words, _masks(mask), gru.packed, out)
        structures.append(GruReading(gru.shape(batch, steps, sequence.size // inputs), *map(_address, arrays)))
        alive.append(arrays)
        outs.append(out)
    read(structures)
    return outs


def gated_attention(
    document: Floats,
    query: Floats,
    query_mask: Masks,
    precision: Precision = "float32",
    features: Sequence[Floats] = (),
) -> tuple[Floats, Floats]:
    """D ⊙ (α Q) ‖ features, and α = softmax(D Qᵀ): (B, D, 2H), (B, Q, 2H), (B, Q) → (B, D, 2H + n), (B, D, Q)."""
    if library() is None or not document.size:
        query_vectors, alpha = token_attention(document, query, query_mask)
        return np.concatenate([document * query_vectors, *features], axis=-1), alpha
    (batch, tokens, width), query_tokens = document.shape, query.shape[1]
    row = width + sum(feature.shape[-1] for feature in features)
    shape = GateShape(batch, tokens, query_tokens, width, row, 0, threads(), chosen_set(), PRECISIONS[precision])
    alpha = np.empty((batch, tokens, loaded_library().gate_columns(query_tokens)), np.float32)
    out = np.empty((batch, tokens, row), np.float32)
    if features:
        np.concatenate(features, axis=-1, out=out[..., width:])
    arrays = (_floats(document), _floats(query), _masks(query_mask), None, alpha, out)
    call("gate_forward", shape, *map(_address, arrays))
    return out, alpha[:, :, :query_tokens]


def token_attention(document: Floats, query: Floats, query_mask: Masks) -> tuple[Floats, Floats]:
    """q̃_i = Q α_i and α_i = softmax(Qᵀ d_i) for every document token i: (B, D, 2H) and (B, D, Q)."""
    match = np.where(query_mask[:, None], document @ query.transpose(0, 2, 1), np.float32(-np.inf))
    powers = np.exp(match - match.max(axis=-1, keepdims=True))
    alpha = powers / powers.sum(axis=-1, keepdims=True)
    return alpha @ query, alpha


def _bigru_in_numpy(gru: BiGRU, sequence: Floats, mask: Masks, words: Indices | None) -> Floats:
    weights = gru.weights
    inputs = [sequence @ weight for weight in weights[0]]  # of each direction: (B, T, 3H), or (N, 3H) with words
    steps = [
        (each if words is None else each[words]) + bias for each, bias in zip(inputs, weights[2][:, 0], strict=True)
    ]
    hidden = weights[1].shape[1]
    out = np.zeros((*mask.shape, 2 * hidden), np.float32)
    times = range(mask.shape[1])
    for direction, order in enumerate((times, reversed(times))):
        state = np.zeros((len(mask), hidden), np.float32)
        part = out[..., direction * hidden : (direction + 1) * hidden]
        for t in order:
            new = _STEPS[gru.cell](steps[direction][:, t], state, weights[1][direction])
            state = np.where(mask[:, t, None], new, state)
            part[:, t] = state * mask[:, t, None]
    return out


def _paper_step(x: Floats, h: Floats, u: Floats) -> Floats:
    """One step of the paper's GRU: the reset gate acts before the product with U_h."""
    H = h.shape[1]
    r, z = np.split(_sigmoid(x[:, : 2 * H] + h @ u[:, : 2 * H]), 2, axis=1)
    candidate = np.tanh(x[:, 2 * H :] + (r * h) @ u[:, 2 * H :])
    return (1 - z) * h + z * candidate


def _cudnn_step(x: Floats, h: Floats, u: Floats) -> Floats:
    """One step of cuDNN's GRU: the reset gate acts after the product; z keeps the old state."""
    H = h.shape[1]
    products = h @ u
    r, z = np.split(_sigmoid(x[:, : 2 * H] + products[:, : 2 * H]), 2, axis=1)
    candidate = np.tanh(x[:, 2 * H :] + r * products[:, 2 * H :])
    return (1 - z) * candidate + z * h


_STEPS = {"paper": _paper_step, "cudnn": _cudnn_step}


def _sigmoid(x: Floats) -> Floats:
    """σ(x) = (1 + tanh(x / 2)) / 2, which never overflows."""
    gates: Floats = np.tanh(np.float32(0.5) * x)
    gates += 1
    gates *= np.float32(0.5)
    return gates


def _floats(array: NDArray[Any]) -> Floats:
    """The array as the library reads it: it would take any other type for float32."""
    return np.ascontiguousarray(array, np.float32)


def _aligned(size: int) -> Floats:
    """An array that begins with a line of the cache, so that no vector crosses two of them."""
    memory = np.empty(size + 16, np.float32)
    start = -memory.ctypes.data // 4 % 16
    return memory[start : start + size]


def _masks(array: NDArray[Any]) -> Masks:
    return np.ascontiguousarray(array, np.bool_)


def _address(array: NDArray[Any] | None) -> int | None:
    return None if array is None else array.ctypes.data
