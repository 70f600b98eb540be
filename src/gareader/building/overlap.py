"""Passages that share a run of words (an n-gram) with other texts, found by hashes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gareader.data.examples import Words

LENGTH = 12
"""The length of a run in words; two texts share such a run only if one quotes the other."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Excluded:
    """The runs of some texts, ignoring case."""

    numbers: dict[str, int]
    """The numbers of the texts' words, from one."""
    hashes: NDArray[np.uint64]
    """The hashes of all runs, sorted."""

    @classmethod
    def from_texts(cls, texts: Iterable[Sequence[str]]) -> "Excluded":
        """Hash the runs of these texts, each a sequence of words."""
        numbers: dict[str, int] = {}
        hashes = []
        for text in texts:
            ids = [numbers.setdefault(word.lower(), len(numbers) + 1) for word in text]
            hashes.append(np.unique(_runs(np.array(ids, dtype=np.uint64))))
        return cls(numbers, np.unique(np.concatenate(hashes)) if hashes else np.empty(0, np.uint64))

    def passages(self, sentences: Sequence[Words], length: int) -> frozenset[int]:
        """The first sentences of the passages of `length` sentences that share a run with the texts."""
        if not len(self.hashes) or len(sentences) < length:
            return frozenset()
        ids = np.array([self.numbers.get(word.lower(), 0) for words in sentences for word in words], dtype=np.uint64)
        runs = _runs(ids)
        place = np.minimum(np.searchsorted(self.hashes, runs), len(self.hashes) - 1)
        # a run with a word of no text matches nothing
        known = _runs((ids > 0).astype(np.uint64), np.uint64(1)) == LENGTH
        hits = np.concatenate([[0], np.cumsum((self.hashes[place] == runs) & known)])
        edges = np.concatenate([[0], np.cumsum([len(words) for words in sentences])])
        first, end = edges[: len(sentences) - length + 1], edges[length:]
        last = np.clip(end - LENGTH + 1, first, len(hits) - 1)  # a run must end inside the passage
        return frozenset(np.flatnonzero(hits[last] > hits[np.minimum(first, len(hits) - 1)]).tolist())


def _runs(ids: NDArray[np.uint64], multiplier: np.uint64 = _MULTIPLIER) -> NDArray[np.uint64]:
    """Hash each run of LENGTH numbers by a polynomial modulo 2^64."""
    count = max(0, len(ids) - LENGTH + 1)
    total = np.zeros(count, dtype=np.uint64)
    for offset in range(LENGTH):
        total = total * multiplier + ids[offset : offset + count]
    return total
