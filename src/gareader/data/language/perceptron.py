"""NLTK's averaged perceptron tagger, with its weights, and its features as table rows: the same tags, but faster."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

_WEIGHTS = Path(__file__).with_name("tagger.npz")
"""`tagger.md` says what it holds and where it is from."""
_AROUND = {-2: ("i-2 word",), -1: ("i-1 word", "i-1 suffix"), 1: ("i+1 word", "i+1 suffix"), 2: ("i+2 word",)}
"""The features of a neighbouring word, by its distance."""
_MOST_ROWS = 100_000
"""A table with more rows is emptied, so that memory does not grow with the words of a corpus."""
_STARTS, _ENDS = ["-START-", "-START2-"], ["-END-", "-END2-"]


class Perceptron:
    """Tags words from left to right; each gets the tag with the largest sum of weights."""

    def __init__(self, arrays: Mapping[str, NDArray[np.integer]]) -> None:
        names = _lines(arrays["names"])
        self.tags = sorted(names, reverse=True)  # of ties the last tag in alphabetical order wins
        self._number = {tag: number for number, tag in enumerate(self.tags)}
        features = _lines(arrays["features"])
        self._bounds = np.concatenate([[0], np.cumsum(arrays["sizes"], dtype=np.int64)])
        self._places = dict(zip(features, range(len(features)), strict=True))
        self._columns = np.array([self._number[name] for name in names])[arrays["tags"]]
        self._weights = arrays["weights"].astype(np.int32)  # in thousandths: the sums of integers are exact
        certain = arrays["certain"].tobytes().decode().split()
        self._certain = dict(zip(certain[::2], map(self._number.__getitem__, certain[1::2]), strict=True))
        self._own = _Rows(self._rows_of_own_features)
        self._beside = {distance: _Rows(partial(self._rows_beside, names)) for distance, names in _AROUND.items()}
        self._names = [*self.tags, "-START2-", "-START-"]
        self._history = self._histories()
        self._after: dict[str, NDArray[np.int32]] = {}  # filled as words come, for a quick start

    @classmethod
    def load(cls) -> "Perceptron":
        with np.load(_WEIGHTS, allow_pickle=False) as arrays:
            return cls(arrays)

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return a Penn Treebank tag for every word of every sentence."""
        fixed = self._fixed(sentences)
        history, after, certain, tags = self._history, self._after_tag, self._certain.get, self.tags
        start = 0
        result = []
        for words in sentences:
            before, before2 = len(tags) + 1, len(tags)  # -START-, and -START2- further left
            chosen = []
            for place, word in enumerate(words, start):
                best = certain(word)
                if best is None:
                    scores = fixed[place] + history[before, before2]
                    if (more := after(before, _normal(word))) is not None:
                        scores += more
                    best = int(scores.argmax())
                chosen.append(tags[best])
                before, before2 = best, before
            start += len(words)
            result.append(chosen)
        return result

    def _fixed(self, sentences: Sequence[Sequence[str]]) -> NDArray[np.int32]:
        """(words, T): the sums of the features that do not depend on other tags."""
        padded = [[*_STARTS, *map(_normal, words), *_ENDS] for words in sentences]
        total = self._own.of(list(chain.from_iterable(sentences)))
        for distance, rows in self._beside.items():
            shift = 2 + distance
            total += rows.of([word for line in padded for word in line[shift : len(line) - 4 + shift]])
        return total

    def _histories(self) -> NDArray[np.int32]:
        """(T + 2, T + 2, T): the weights of each pair of previous tags; -START2- and -START- are the last two."""
        names = self._names
        single = self._rows([f"i-1 tag {name}"] for name in names)
        double = self._rows([f"i-2 tag {name}"] for name in names)
        both = self._rows([f"i tag+i-2 tag {one} {two}"] for one in names for two in names)
        return both.reshape(len(names), len(names), -1) + single[:, None] + double[None, :] + self._rows([["bias"]])

    def _after_tag(self, tag: int, word: str) -> NDArray[np.int32] | None:
        """The weights of a word after a tag, if it has any."""
        feature = f"i-1 tag+i word {self._names[tag]} {word}"
        if feature not in self._places:
            return None
        if feature not in self._after:
            self._after[feature] = self._rows([[feature]])[0]
        return self._after[feature]

    def _rows_of_own_features(self, words: list[str]) -> NDArray[np.int32]:
        return self._rows(["i word " + _normal(word), f"i suffix {word[-3:]}", f"i pref1 {word[0]}"] for word in words)

    def _rows_beside(self, names: Sequence[str], words: list[str]) -> NDArray[np.int32]:
        return self._rows(
            [f"{name} {word[-3:] if name.endswith('suffix') else word}" for name in names] for word in words
        )

    def _rows(self, features: Iterable[Sequence[str]]) -> NDArray[np.int32]:
        """(N, T): for each of N lists of features, the sum of their weights for each tag."""
        lists = list(features)
        known = [
            (owner, place)
            for owner, names in enumerate(lists)
            for name in names
            if (place := self._places.get(name)) is not None
        ]
        owners, places = np.array(known, dtype=np.int64).reshape(-1, 2).T
        starts = self._bounds[places]
        sizes = self._bounds[places + 1] - starts
        each = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        cells = np.repeat(owners * len(self.tags), sizes) + self._columns[each]
        sums = np.bincount(cells, self._weights[each], len(lists) * len(self.tags))
        return sums.astype(np.int32).reshape(len(lists), len(self.tags))


@cache
def tagger() -> Perceptron:
    """The tagger of this process."""
    return Perceptron.load()


class _Rows:
    """A table of rows by word, which grows with each new word up to a limit, where it begins anew."""

    def __init__(self, make: Callable[[list[str]], NDArray[np.int32]]) -> None:
        self._make = make
        self._numbers: dict[str, int] = {}
        self._table = make([])
        self._growing = Lock()

    def of(self, words: list[str]) -> NDArray[np.int32]:
        """Return a new array with a row for each word."""
        with self._growing:
            if len(self._numbers) > _MOST_ROWS:
                self._numbers.clear()
            self._add([word for word in dict.fromkeys(words) if word not in self._numbers])
            return self._table[[self._numbers[word] for word in words]]

    def _add(self, new: list[str]) -> None:
        """Add rows of new words, if there are any."""
        count, end = len(self._numbers), len(self._numbers) + len(new)
        if end > len(self._table):
            self._table = np.concatenate([self._table[:count], np.empty((end, self._table.shape[1]), np.int32)])
        self._table[count:end] = self._make(new)
        self._numbers.update(zip(new, range(count, end), strict=True))


def _normal(word: str) -> str:
    """The word as a feature of its neighbours."""
    if "-" in word and word[0] != "-":
        return "!HYPHEN"
    if word.isdigit() and len(word) == 4:
        return "!YEAR"
    if word[0].isdigit():
        return "!DIGITS"
    return word.lower()


def _lines(text: NDArray[np.integer]) -> list[str]:
    return text.tobytes().decode().split("\n")
