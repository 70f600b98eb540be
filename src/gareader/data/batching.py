"""Batches of Examples as numpy arrays: examples of similar length together, each distinct word once."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain, count, repeat
from random import Random
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from gareader.core.config import Bounds, Count
from gareader.data.anonymity import Way, anonymised, mark
from gareader.data.arrays import Batch, Types
from gareader.data.examples import PLACEHOLDER, Example, counted_words
from gareader.data.vectors import random_vector
from gareader.data.vocabulary import Alphabet, Vocabulary

BEGIN, END = "@begin", "@end"
"""The marks around every query."""

SENTENCE_ENDS = frozenset([".", "!", "?"])
"""Words that end a sentence."""

SPECIAL_WORDS = (PLACEHOLDER, BEGIN, END)
"""Words that the vocabulary of every model has."""

OPENING, CLOSING, EITHER = frozenset(["``", "“", "«"]), frozenset(["''", "”", "»"]), '"'
QUOTATION_MARKS = OPENING | CLOSING | {EITHER}
"""Quotation marks; `EITHER` closes a quotation if one is open."""

FRESH = "\0"
"""Separates the spelling of a fresh name from the suffix that makes it a new word."""


Arrays = NDArray[Any]
"""An array of a batch; its dtype depends on the field."""


@dataclass(eq=False)
class Collator:
    """Turns Examples into a Batch by a vocabulary and an alphabet."""

    vocabulary: Vocabulary
    alphabet: Alphabet
    width: Count = field(kw_only=True)
    """The components of a word vector."""
    seed: int = field(kw_only=True)
    """Determines the random vectors of unknown words."""
    pretrained: Annotated[int, Bounds(least=0)] = field(default=0, kw_only=True)
    """The number of words with a pretrained vector; they are the first of the vocabulary."""
    characters: Annotated[int, Bounds(least=1, most=1000)] = field(default=10, kw_only=True)
    """The number of characters of a word that count."""
    anonymity: Way = field(default="none", kw_only=True)
    """How candidates are hidden, see `anonymised`; there are `marks` to hide them behind."""
    marks: Annotated[int, Bounds(least=0)] = field(default=0, kw_only=True)
    unknown_scale: Annotated[float, Bounds(above=0, most=1e6)] = field(default=1.0, kw_only=True)
    """The standard deviation of the components of a random vector."""

    @property
    def settings(self) -> dict[str, Any]:
        """All but the vocabulary and the alphabet, as the files of a model have it."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.kw_only}

    @property
    def answers(self) -> list[int] | None:
        """The rows of the answer words: those of the marks, or None for all words where nothing is hidden."""
        if self.anonymity == "none":
            return None
        return [row for number in range(self.marks) if (row := self.vocabulary.get(mark(number))) is not None]

    def __call__(self, examples: Sequence[Example], draw: int = 0, *, fresh: float = 0.0) -> Batch[Arrays]:
        """The batch; `draw` seeds the permutation of the marks and the choice of fresh names.

        `fresh` is the share of questions whose names get a new random vector each, as if they were unknown words.
        """
        anonymous = [anonymised(each, self.anonymity, marks=self.marks, seed=self.seed, draw=draw) for each in examples]
        renaming = [fresh_names(example, fresh, f"{self.seed} {draw}") for example in anonymous]
        numbers = defaultdict[str, int](count().__next__)  # of distinct words, in the order of their first occurrence

        def encode(words: Sequence[str], names: Mapping[str, str]) -> list[int]:
            return list(map(numbers.__getitem__, [names.get(word, word) for word in words] if names else words))

        pairs = [*zip(anonymous, renaming, strict=True)]
        document, document_mask = pad([encode(each.document, names) for each, names in pairs])
        query, query_mask = pad([encode((BEGIN, *each.query, END), names) for each, names in pairs])
        candidates, candidates_mask = pad_nested(
            [[encode(words, names) for words in each.candidates] for each, names in pairs]
        )
        index, types = self.types(list(numbers))
        occurrence, words_present = occurrences(examples)
        return Batch(
            types=types,
            document=index[document],
            document_mask=document_mask,
            quoted=quotations(examples, document.shape[1]),
            query=index[query],
            query_mask=query_mask,
            placeholder=np.array([1 + each.query.index(PLACEHOLDER) for each in anonymous]),  # after @begin
            occurrence=occurrence,
            words_present=words_present,
            answer=np.array([-1 if example.answer is None else example.answer for example in examples]),
            candidates=index[candidates],
            candidates_mask=candidates_mask,
        )

    def types(self, words: list[str]) -> tuple[NDArray[np.int64], Types[Arrays]]:
        """Sort distinct words into Types; also return the index in Types of each word of the list."""
        entries = zip(words, map(self.vocabulary.get, words), strict=True)
        rows = [self.row(word) if row is None else row for word, row in entries]
        is_unknown = np.array([row is None for row in rows], bool)
        spellings = [word.partition(FRESH)[0] for word in words]
        lengths = np.fromiter(map(len, spellings), np.int64, len(words))
        # Known words come first; words of equal length stand together, so that the kernel can skip their padding.
        order = np.lexsort((lengths, is_unknown))
        index = np.empty(len(words), dtype=np.int64)
        index[order] = np.arange(len(words))
        unknown = [random_vector(words[i], self.width, self.seed) for i in order if rows[i] is None]
        vectors = np.stack(unknown) if unknown else np.empty((0, self.width), np.float32)
        characters, character_mask = self.alphabet.encode([spellings[i] for i in order], self.characters)
        return index, Types(
            known=np.array([row for i in order if (row := rows[i]) is not None], dtype=np.int64),
            unknown=vectors * self.unknown_scale,
            characters=characters,
            character_mask=character_mask,
            ends=np.array([words[i] in SENTENCE_ENDS for i in order]),
        )

    def row(self, word: str) -> int | None:
        """The word's row in the word table: its own, or that of its lower-case form if it is pretrained."""
        row = self.vocabulary.get(word)
        if row is None:
            row = self.vocabulary.get(word.lower())
            return row if row is not None and row < self.pretrained else None
        return row


def fresh_names(example: Example, share: float, draw: str) -> dict[str, str]:
    """New words for the capitalised words of the candidates; empty except for a random `share` of the questions."""
    suffix = f"{FRESH}{draw} {example.id}"
    if not share or Random(suffix).random() >= share:  # noqa: S311
        return {}
    return {word: word + suffix for words in example.candidates for word in words if word[0].isupper()}


def pad(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Pad rows to one array with zeros; also return the mask, true on real values."""
    lengths = np.array([*map(len, rows)])
    mask = np.arange(lengths.max()) < lengths[:, None]
    values = np.zeros(mask.shape, dtype=np.int64)
    values[mask] = np.fromiter(chain.from_iterable(rows), np.int64, lengths.sum())
    return values, mask


def pad_nested(rows: Sequence[Sequence[Sequence[int]]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Pad rows of rows to one array of three dimensions; also return its mask."""
    flat, flat_mask = pad([inner for row in rows for inner in row])
    _, mask = pad([[1] * len(row) for row in rows])
    values = np.zeros((*mask.shape, flat.shape[1]), dtype=np.int64)
    values_mask = np.zeros(values.shape, dtype=bool)
    values[mask], values_mask[mask] = flat, flat_mask
    return values, values_mask


def occurrences(examples: Sequence[Example]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """(B, C, D): true where a word of the document is one of the candidate's words that count, compared by spelling.

    (B, C): how many distinct words of the candidate are found so; 1 if none is.
    """
    width = max(len(example.document) for example in examples)
    occurrence = np.zeros((len(examples), max(len(example.candidates) for example in examples), width), dtype=bool)
    words_present = np.ones(occurrence.shape[:2], dtype=np.int64)
    for rows, present, example in zip(occurrence, words_present, examples, strict=True):
        counted = [counted_words(candidate) for candidate in example.candidates]
        numbers = {word: number for number, word in enumerate({word for each in counted for word in each})}
        counts = np.zeros((len(counted), len(numbers)), dtype=bool)  # whether a word counts for a candidate
        for place, words in enumerate(counted):
            counts[place, [numbers[word] for word in words]] = True
        document = np.fromiter(map(numbers.get, example.document, repeat(-1)), np.int64)
        hits = np.flatnonzero(document >= 0)
        rows[: len(counted), hits] = counts[:, document[hits]]
        present[: len(counted)] = np.maximum(1, counts[:, np.unique(document[hits])].sum(axis=1))
    return occurrence, words_present


def quotations(examples: Sequence[Example], width: int) -> NDArray[np.bool_]:
    """(B, width): true for the words of the documents that stand between an opening and a closing quotation mark.

    A document may begin inside a quotation: then its first mark is a closing one.
    """
    quoted = np.zeros((len(examples), width), dtype=bool)
    for row, example in zip(quoted, examples, strict=True):
        marks = [(place, word) for place, word in enumerate(example.document) if word in QUOTATION_MARKS]
        start, is_open = 0, bool(marks) and marks[0][1] in CLOSING
        for place, word in [*marks, (len(example.document), "")]:
            row[start:place] = is_open
            start, is_open = place + 1, word in OPENING or (word == EITHER and not is_open)
    return quoted


def length_batches(
    lengths: NDArray[np.int32], batch_size: int, *, seed: Sequence[int] | int, pool: int = 64
) -> list[NDArray[np.int64]]:
    """Indices of all examples, each once, in batches of similar length; the seed determines batches and order.

    The examples are shuffled, cut into pools of `pool` batches, sorted by length within each pool and cut into batches;
    then the batches are shuffled. Another seed gives other batches, not only another order.
    """
    random = np.random.default_rng(seed)
    order = random.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), pool * batch_size):
        members = order[start : start + pool * batch_size]
        members = members[np.argsort(lengths[members], kind="stable")]
        batches += [members[i : i + batch_size] for i in range(0, len(members), batch_size)]
    return [batches[i] for i in random.permutation(len(batches))]
