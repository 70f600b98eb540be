"""NLTK's averaged perceptron tagger, with its weights, and its features as table rows: the same tags, but faster."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

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
        ends = np.cumsum(arrays["sizes"], dtype=np.int64).tolist()
        self._slices = dict(zip(features, map(slice, [0, *ends], ends), strict=False))
        self._columns = np.array([self._number[name] for name in names])[arrays["tags"]]
        self._weights = arrays["weights"].astype(np.int32)  # in thousandths: the sums of integers are exact
        self._certain = {word: self._number[tag] for word, tag in map(str.split, _lines(arrays["certain"]))}
        self._own = _Rows(
            lambda word: self._row("i word " + _normal(word), f"i suffix {word[-3:]}", f"i pref1 {word[0]}")
        )
        self._beside = {
            distance: _Rows(
                lambda word, names=names: self._row(
                    *(f"{name} {word[-3:] if name.endswith('suffix') else word}" for name in names)
                )
            )
            for distance, names in _AROUND.items()
        }
        self._history = self._histories()
        self._after = (
            {  # weights of a word after a tag
                (self._number[tag], word): self._row(feature)
                for feature in features
                if feature.startswith("i-1 tag+i word ")
                for tag, word in [feature[15:].split(" ", 1)]
                if tag in self._number
            }
            | {
                (len(self.tags) + 1, feature[23:]): self._row(feature)
                for feature in features
                if feature.startswith("i-1 tag+i word -START- ")
            }
        )

    @classmethod
    def load(cls) -> "Perceptron":
        """Load the English tagger."""
        with np.load(_WEIGHTS, allow_pickle=False) as arrays:
            return cls(arrays)

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return a Penn Treebank tag for every word of every sentence."""
        fixed = self._fixed(sentences)
        history, after, certain, tags = self._history, self._after.get, self._certain.get, self.tags
        start = 0
        result = []
        for words in sentences:
            before, before2 = len(tags) + 1, len(tags)  # -START-, and -START2- further left
            chosen = []
            for place, word in enumerate(words, start):
                best = certain(word)
                if best is None:
                    scores = fixed[place] + history[before, before2]
                    if (more := after((before, _normal(word)))) is not None:
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
        names = [*self.tags, "-START2-", "-START-"]
        single = np.stack([self._row(f"i-1 tag {name}") for name in names])
        double = np.stack([self._row(f"i-2 tag {name}") for name in names])
        both = np.stack([[self._row(f"i tag+i-2 tag {one} {two}") for two in names] for one in names])
        return both + single[:, None] + double[None, :] + self._row("bias")

    def _row(self, *features: str) -> NDArray[np.int32]:
        """(T,): the sum of the weights of these features for each tag."""
        row = np.zeros(len(self.tags), dtype=np.int32)
        for feature in features:
            if (place := self._slices.get(feature)) is not None:
                row[self._columns[place]] += self._weights[place]
        return row


@cache
def tagger() -> Perceptron:
    """The tagger of this process."""
    return Perceptron.load()


class _Rows:
    """A table of rows by word, which grows with each new word up to a limit, where it begins anew."""

    def __init__(self, make: Callable[..., NDArray[np.int32]]) -> None:
        self._make = make
        self._numbers: dict[str, int] = {}
        self._table = make("x")[None]

    def of(self, words: list[str]) -> NDArray[np.int32]:
        """Return a new array with a row for each word."""
        if len(self._numbers) > _MOST_ROWS:
            self._numbers.clear()
        for word in words:
            if word not in self._numbers:
                number = self._numbers[word] = len(self._numbers)
                if number == len(self._table):
                    self._table = np.concatenate([self._table, np.zeros_like(self._table)])
                self._table[number] = self._make(word)
        return self._table[[self._numbers[word] for word in words]]


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
