"""The Gated-Attention Reader's forward pass in numpy, for answers without torch; `gated_attention_reader` trains.

B examples, D document tokens, Q query tokens, C candidates, E token embedding, H GRU units per direction, K hops.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gareader.core.errors import ConfigError
from gareader.data.arrays import Batch, ReaderOutput, Types
from gareader.data.batching import Arrays
from gareader.kernels.layers import (
    BiGRU,
    Floats,
    Indices,
    Masks,
    Reading,
    gated_attention,
    read_together,
    token_attention,
)
from gareader.kernels.library import Precision
from gareader.readers.features import FEATURES, ROWS, chosen, in_query
from gareader.readers.gated_attention_settings import GatedAttentionConfig


class RowTable(Protocol):
    """The word table L: rows by their numbers; it may be packed and memory-mapped."""

    shape: tuple[int, ...]

    def __getitem__(self, rows: Indices, /) -> Floats:
        """(n,) → (n, width)."""


class GatedAttentionInNumpy:
    """Reads as `GatedAttentionReader` does, with the same weights under the same names."""

    def __init__(
        self,
        config: GatedAttentionConfig,
        weights: Mapping[str, Floats],
        words: RowTable,
        letters: int,
        precision: Precision = "float32",
    ) -> None:
        """Raise ConfigError for weights of other names or shapes than the settings have.

        `precision` is that of the products of Bi-GRUs and gated attention, if the native library computes them.
        """
        if config.hops > len(weights):  # each hop has weights of its own
            raise ConfigError(f"hops = {config.hops}, but {len(weights)} arrays of weights")
        expected = shapes(config, words.shape[1], letters)
        actual = {name: value.shape for name, value in weights.items()}
        if wrong := sorted(name for name in expected | actual if expected.get(name) != actual.get(name)):
            name = wrong[0]
            raise ConfigError(f"{name} is {actual.get(name, 'missing')} where {expected.get(name, 'nothing')} is due")
        self.config, self.words, self.precision = config, words, precision
        self.weights = {name: np.asarray(value, np.float32) for name, value in weights.items()}
        self.is_gated = config.query_attention != "none"
        self.grus = {name: self._gru(name) for name in gru_sizes(config, words.shape[1])}
        self.query_grus = [self.grus[f"query_grus.{k}"] for k in range(config.hops if self.is_gated else 1)]

    def __call__(self, batch: Batch[Arrays], *, attention: bool = False) -> ReaderOutput[Arrays]:
        """Log-probabilities of the candidates; with `attention`, also α of each hop and s."""
        config = self.config
        tokens = self.embed(batch.types)  # (types, E)
        query = tokens[batch.query]  # (B, Q, E)   Y
        inputs: Floats = tokens
        words: Indices | None = batch.document  # (B, D): the GRU's input X^(0) is tokens[words], (B, D, E)
        if config.hops == 1:
            inputs, words = np.concatenate([tokens[batch.document], *self.features(batch)], axis=-1), None
        document = Reading(self.grus["document_grus.0"], inputs, batch.document_mask, words)
        queries = [Reading(gru, query, batch.query_mask) for gru in self.query_grus]
        states, *query_states = read_together([document, *queries])  # D^(1), eq. 2, and Q^(1) … Q^(K), eq. 3

        hop_attention = []
        for k in range(1, config.hops):
            inputs = states
            del states  # those of a large batch are large
            features = self.features(batch) if k == config.hops - 1 else []
            if self.is_gated:  # X^(k) and α, eqs. 4 to 6
                inputs, alpha = self.gate(inputs, query_states[k - 1], batch.query_mask, features)
                if alpha is not None:
                    hop_attention.append(alpha)
            elif features:
                inputs = np.concatenate([inputs, *features], axis=-1)
            states = self.grus[f"document_grus.{k}"](inputs, batch.document_mask)  # (B, D, 2H)  D^(k+1), eq. 2

        if config.cloze == "blank":
            cloze = query_states[-1][np.arange(len(query)), batch.placeholder]  # (B, 2H)  q_ℓ
        else:
            cloze = final_states(query_states[-1], batch.query_mask)
        scores = np.einsum("bdh,bh->bd", states, cloze)  # (B, D)  eq. 7, before the softmax
        words_present = batch.words_present if config.pointer == "mean" else None  # (B, C)
        log_probabilities = pointer_sum(scores, batch.occurrence, words_present)  # (B, C)  log Pr(c|d,q), eq. 8
        if not attention:
            return ReaderOutput(log_probabilities)
        logits = np.where(batch.document_mask, scores, -np.inf)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        pointer = powers / powers.sum(axis=1, keepdims=True)  # (B, D)  s, eq. 7
        return ReaderOutput(log_probabilities, tuple(hop_attention), pointer)

    def embed(self, types: Types[Arrays]) -> Floats:
        """L(w), or L(w) ‖ C(w), of the distinct words of a batch: (types, E)."""
        vectors = np.concatenate([self.words[types.known], types.unknown])
        if not self.config.characters:
            return vectors
        letters = self.weights["embed.characters.table"]
        gru = self.grus["embed.characters.gru"]
        states = gru(letters, types.character_mask, types.characters)  # (types, N, 50)
        final = final_states(states, types.character_mask)
        weight, bias = self.weights["embed.characters.weight"], self.weights["embed.characters.bias"]
        # not `@`: a BLAS may round differently with another number of threads
        return np.concatenate([vectors, np.einsum("ti,oi->to", final, weight) + bias], axis=-1)

    def _gru(self, name: str) -> BiGRU:
        input_weight, recurrent_weight, bias = (
            self.weights[f"{name}.{part}"] for part in ("input_weight", "recurrent_weight", "bias")
        )
        return BiGRU((input_weight, recurrent_weight, bias), self.config.cell, self.precision)

    def gate(
        self, document: Floats, query: Floats, query_mask: Masks, features: list[Floats]
    ) -> tuple[Floats, Floats | None]:
        """X = GA(D, Q) ‖ features: (B, D, 2H), (B, Q, 2H), (B, Q) → (B, D, 2H or 4H + n), and α (B, D, Q) if any."""
        config = self.config
        if (config.query_attention, config.gate) == ("token", "multiply"):
            return gated_attention(document, query, query_mask, self.precision, features)
        alpha = None
        if config.query_attention == "token":
            query_vectors, alpha = token_attention(document, query, query_mask)
        else:
            query_vectors = np.broadcast_to(final_states(query, query_mask)[:, None], document.shape)
        return np.concatenate([GATES[config.gate](document, query_vectors), *features], axis=-1), alpha

    def features(self, batch: Batch[Arrays]) -> list[Floats]:
        """The features of the document's tokens, which the last hop reads beside its inputs: (B, D, 2) each."""
        values = {"feature": in_query(batch)} if self.config.feature else {}
        values |= {f"more_features.{name}": FEATURES[name](batch) for name in chosen(self.config)}  # (B, D) each
        return [self.weights[name][value * 1] for name, value in values.items()]


GATES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "multiply": lambda d, q: d * q,
    "add": lambda d, q: d + q,
    "concatenate": lambda d, q: np.concatenate([d, q], axis=-1),
}


def gru_sizes(config: GatedAttentionConfig, width: int) -> dict[str, tuple[int, int]]:
    """Inputs and units of each Bi-GRU, for word vectors of that width."""
    H, characters = config.hidden, 50 if config.characters else 0
    is_gated = config.query_attention != "none"
    gated = 4 * H if is_gated and config.gate == "concatenate" else 2 * H
    sizes = {}
    for k in range(config.hops):
        added = 2 * (config.feature + len(chosen(config))) if k == config.hops - 1 else 0
        sizes[f"document_grus.{k}"] = (gated if k else width + characters) + added, H
    for k in range(config.hops if is_gated else 1):
        sizes[f"query_grus.{k}"] = width + characters, H
    if config.characters:
        sizes["embed.characters.gru"] = 25, 25
    return sizes


def shapes(config: GatedAttentionConfig, width: int, letters: int) -> dict[str, tuple[int, ...]]:
    """The shape of every weight but the word table, for word vectors of that width and an alphabet of that size."""
    sizes: dict[str, tuple[int, ...]] = {}
    for name, (inputs, hidden) in gru_sizes(config, width).items():
        sizes[f"{name}.input_weight"] = (2, inputs, 3 * hidden)
        sizes[f"{name}.recurrent_weight"] = (2, hidden, 3 * hidden)
        sizes[f"{name}.bias"] = (2, 1, 1, 3 * hidden)
    if config.characters:
        sizes["embed.characters.table"] = (letters, 25)
        sizes["embed.characters.weight"], sizes["embed.characters.bias"] = (50, 50), (50,)
    if config.feature:
        sizes["feature"] = (2, 2)
    return sizes | {f"more_features.{name}": (ROWS, 2) for name in chosen(config)}


def final_states(states: Floats, mask: Masks) -> Floats:
    """The forward state of the last real step ‖ the backward state of the first: (B, T, 2H), (B, T) → (B, 2H)."""
    H = states.shape[-1] // 2
    last = mask.sum(axis=1) - 1
    return np.concatenate([states[np.arange(len(states)), last, :H], states[:, 0, H:]], axis=-1)


def pointer_sum(scores: Floats, occurrence: Masks, words_present: Indices | None = None) -> Floats:
    """log Pr(c|d,q), with Pr(c|d,q) ∝ Σ_{i ∈ I(c,d)} s_i: (B, D), (B, C, D) → (B, C); −inf for an absent candidate.

    With `words_present` (B, C), each sum is divided by it: the mean over the candidate's words.
    """
    mass = logsumexp(np.where(occurrence, scores[:, None], -np.inf))  # (B, C)
    if words_present is not None:
        mass = mass - np.log(words_present, dtype=np.float32)
    total = logsumexp(mass)[:, None]  # (B, 1)
    return mass - np.where(np.isneginf(total), 0, total)


def logsumexp(values: NDArray[Any]) -> NDArray[Any]:
    """log Σ exp over the last dimension; −inf for a row of −inf."""
    top = values.max(axis=-1, keepdims=True)
    top = np.where(np.isneginf(top), 0, top)
    with np.errstate(divide="ignore"):  # log 0 is −inf
        total: NDArray[Any] = np.log(np.exp(values - top).sum(axis=-1)) + top[..., 0]
    return total
