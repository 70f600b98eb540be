"""Passages that share a run of words with other texts, found by the runs' hashes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gareader.building.kinds import Words

LENGTH = 12
"""So many words in a row in common are no accident."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Excluded:
    """The runs of some texts; upper and lower case are alike."""

    numbers: dict[str, int]
    """The texts' words, numbered from one."""
    hashes: NDArray[np.uint64]
    """Of all runs, sorted."""

    @classmethod
    def from_texts(cls, texts: Iterable[Sequence[str]]) -> "Excluded":
        """The runs of these texts, each a sequence of words."""
        numbers: dict[str, int] = {}
        found = []
        for text in texts:
            ids = [numbers.setdefault(word.lower(), len(numbers) + 1) for word in text]
            found.append(np.unique(_runs(np.array(ids, dtype=np.uint64))))
        return cls(numbers, np.unique(np.concatenate(found)) if found else np.empty(0, np.uint64))

    def passages(self, sentences: Sequence[Words], length: int) -> frozenset[int]:
        """Where passages of so many sentences begin that have a whole run in common with the texts."""
        if not len(self.hashes) or len(sentences) < length:
            return frozenset()
        ids = np.array([self.numbers.get(word.lower(), 0) for words in sentences for word in words], dtype=np.uint64)
        runs = _runs(ids)
        place = np.minimum(np.searchsorted(self.hashes, runs), len(self.hashes) - 1)
        known = _runs((ids > 0).astype(np.uint64), np.uint64(1)) == LENGTH  # a word of no text matches nothing
        hits = np.concatenate([[0], np.cumsum((self.hashes[place] == runs) & known)])
        edges = np.concatenate([[0], np.cumsum([len(words) for words in sentences])])
        first, end = edges[: len(sentences) - length + 1], edges[length:]
        last = np.clip(end - LENGTH + 1, first, len(hits) - 1)  # a run must end inside the passage
        return frozenset(np.flatnonzero(hits[last] > hits[np.minimum(first, len(hits) - 1)]).tolist())


def _runs(ids: NDArray[np.uint64], multiplier: np.uint64 = _MULTIPLIER) -> NDArray[np.uint64]:
    """A hash of each run of LENGTH numbers: a polynomial, modulo two to the 64th."""
    count = max(0, len(ids) - LENGTH + 1)
    total = np.zeros(count, dtype=np.uint64)
    for offset in range(LENGTH):
        total = total * multiplier + ids[offset : offset + count]
    return total
