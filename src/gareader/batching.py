"""From Examples to a Batch of tensors: similar lengths together, distinct words counted once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gareader.anonymity import anonymised, mark
from gareader.examples import PLACEHOLDER, Example
from gareader.vectors import random_vector
from gareader.vocabulary import Alphabet, Vocabulary

BEGIN, END = "@begin", "@end"
"""The marks around every query."""

SENTENCE_ENDS = frozenset([".", "!", "?"])
"""Words that end a sentence, where a reader needs to know."""

SPECIAL_WORDS = (PLACEHOLDER, BEGIN, END)
"""Words that every vocabulary of a reader holds."""

FRESH = "\0"
"""In a type of a batch, what follows the spelling of a name that is taken for a new word."""


@dataclass(frozen=True)
class Types:
    """The distinct words of a batch: those in the vocabulary first, then the others."""

    known: Tensor
    """(types in the vocabulary,): their rows in the word table."""
    unknown: Tensor
    """(other types, word vector width): the vector that each gets from its spelling."""
    characters: Tensor
    """(types, N): the first N characters of each as indices into the alphabet."""
    character_mask: Tensor
    """(types, N): true on real characters."""
    ends: Tensor
    """(types,): true for the words that end a sentence."""


@dataclass(frozen=True)
class Batch:
    """Cloze questions as tensors; words are indices into `types`, masks are true on real tokens."""

    types: Types
    document: Tensor
    """(B, D)"""
    document_mask: Tensor
    """(B, D)"""
    query: Tensor
    """(B, Q), wrapped in @begin … @end."""
    query_mask: Tensor
    """(B, Q)"""
    placeholder: Tensor
    """(B,): the position of the blank in the wrapped query."""
    occurrence: Tensor
    """(B, C, D): true where the document's word is any word of the candidate, I(c, d)."""
    answer: Tensor
    """(B,): index of the right candidate; −1 where it is not known."""
    candidates: Tensor
    """(B, C, W): the words of each candidate."""
    candidates_mask: Tensor
    """(B, C, W)"""

    def to(self, device: torch.device) -> "Batch":
        """The same on another device."""
        types = Types(**{name: tensor.to(device) for name, tensor in vars(self.types).items()})
        others = {name: tensor.to(device) for name, tensor in vars(self).items() if name != "types"}
        return Batch(types, **others)


class Collator:
    """Turns Examples into a Batch, for a reader that knows a vocabulary and an alphabet."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        alphabet: Alphabet,
        *,
        width: int,
        seed: int,
        pretrained: int = 0,
        characters: int = 10,
        anonymity: str = "none",
        marks: int = 0,
        unknown_scale: float = 1.0,
    ) -> None:
        """The first `pretrained` words have pretrained vectors; `width`, `seed` and `unknown_scale` shape the others.

        `anonymity` and `marks` say how candidates are hidden (see `anonymised`).
        """
        self.vocabulary = vocabulary
        self.pretrained = pretrained
        self.alphabet = alphabet
        self.width = width
        self.seed = seed
        self.characters = characters
        self.anonymity = anonymity
        self.marks = marks
        self.unknown_scale = unknown_scale

    @property
    def answers(self) -> list[int] | None:
        """The rows of the words that candidates become; None if that can be all."""
        if self.anonymity == "none":
            return None
        return [row for number in range(self.marks) if (row := self.vocabulary.get(mark(number))) is not None]

    def __call__(self, examples: Sequence[Example], draw: int = 0, *, fresh: float = 0.0) -> Batch:
        """The batch; where candidates are hidden behind permuted marks, `draw` says which permutation.

        `fresh` is the share of questions, drawn too, whose names get a new random vector each, as if never met before.
        """
        shown = [anonymised(each, self.anonymity, marks=self.marks, seed=self.seed, draw=draw) for each in examples]
        renamed = [fresh_names(example, fresh, f"{self.seed} {draw}") for example in shown]
        types: dict[str, int] = {}

        def index(words: Sequence[str], names: Mapping[str, str]) -> list[int]:
            return [types.setdefault(names.get(word, word), len(types)) for word in words]

        queries = [(BEGIN, *example.query, END) for example in shown]
        document, document_mask = pad([index(each.document, names) for each, names in zip(shown, renamed, strict=True)])
        query, query_mask = pad([index(query, names) for query, names in zip(queries, renamed, strict=True)])
        candidates, candidates_mask = pad_twice(
            [[index(words, names) for words in each.candidates] for each, names in zip(shown, renamed, strict=True)]
        )
        rank, packed = self.types(list(types))
        return Batch(
            types=packed,
            document=torch.from_numpy(rank[document]),
            document_mask=torch.from_numpy(document_mask),
            query=torch.from_numpy(rank[query]),
            query_mask=torch.from_numpy(query_mask),
            placeholder=torch.tensor([query.index(PLACEHOLDER) for query in queries]),
            occurrence=torch.from_numpy(occurrences(examples)),
            answer=torch.tensor([-1 if example.answer is None else example.answer for example in examples]),
            candidates=torch.from_numpy(rank[candidates]),
            candidates_mask=torch.from_numpy(candidates_mask),
        )

    def types(self, words: list[str]) -> tuple[NDArray[np.int64], Types]:
        """The distinct words as tensors, and the place among them of each word of the list."""
        rows = [self.row(word) for word in words]
        spelled = [word.partition(FRESH)[0] for word in words]
        # The known come first; words of the same length stand together, so that no work is done for their padding.
        order = sorted(range(len(words)), key=lambda i: (rows[i] is None, len(spelled[i])))
        rank = np.empty(len(words), dtype=np.int64)
        rank[order] = np.arange(len(words))
        unknown = [random_vector(words[i], self.width, self.seed) for i in order if rows[i] is None]
        characters, character_mask = pad([self.alphabet.encode(spelled[i], self.characters) for i in order])
        return rank, Types(
            known=torch.tensor([row for i in order if (row := rows[i]) is not None], dtype=torch.int64),
            unknown=torch.from_numpy(np.stack(unknown)) * self.unknown_scale if unknown else torch.empty(0, self.width),
            characters=torch.from_numpy(characters),
            character_mask=torch.from_numpy(character_mask),
            ends=torch.tensor([words[i] in SENTENCE_ENDS for i in order]),
        )

    def row(self, word: str) -> int | None:
        """The word's row in the word table: its own, or that of its lower-case form if that is pretrained."""
        row = self.vocabulary.get(word)
        if row is None:
            row = self.vocabulary.get(word.lower())
            return row if row is not None and row < self.pretrained else None
        return row


def fresh_names(example: Example, share: float, draw: str) -> dict[str, str]:
    """New types for the capitalised words of the candidates, in that share of the questions; `draw` decides which."""
    mark = f"{FRESH}{draw} {example.id}"
    if not share or Random(mark).random() >= share:  # noqa: S311
        return {}
    return {word: word + mark for words in example.candidates for word in words if word[0].isupper()}


def pad(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Rows of different lengths as one array, zeros behind the shorter ones, and the mask of what is real."""
    lengths = np.array([len(row) for row in rows])
    mask = np.arange(lengths.max()) < lengths[:, None]
    values = np.zeros(mask.shape, dtype=np.int64)
    values[mask] = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows])
    return values, mask


def pad_twice(rows: Sequence[Sequence[Sequence[int]]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The same for rows of rows."""
    flat, flat_mask = pad([inner for row in rows for inner in row])
    places, mask = pad([[1] * len(row) for row in rows])
    values = np.zeros((*places.shape, flat.shape[1]), dtype=np.int64)
    values_mask = np.zeros(values.shape, dtype=bool)
    values[mask], values_mask[mask] = flat, flat_mask
    return values, values_mask


def occurrences(examples: Sequence[Example]) -> NDArray[np.bool_]:
    """(B, C, D): where each document has any word of each candidate, by the words themselves."""
    width = max(len(example.document) for example in examples)
    found = np.zeros((len(examples), max(len(example.candidates) for example in examples), width), dtype=bool)
    for of_example, example in zip(found, examples, strict=True):
        numbers = {word: number for number, word in enumerate({word for each in example.candidates for word in each})}
        row = np.array([numbers.get(word, -1) for word in example.document])
        for places, candidate in zip(of_example, example.candidates, strict=False):
            for word in candidate:
                places[: len(row)] |= row == numbers[word]
    return found


def length_batches(
    lengths: NDArray[np.int32], batch_size: int, *, seed: Sequence[int] | int, pool: int = 64
) -> list[NDArray[np.int64]]:
    """Every example exactly once, in batches of similar length and in an order that only the seed decides.

    The examples are shuffled, cut into pools of `pool` batches, sorted by length within each pool, cut into batches,
    and the batches shuffled: who meets whom in a batch changes from one seed to the next.
    """
    random = np.random.default_rng(seed)
    order = random.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), pool * batch_size):
        members = order[start : start + pool * batch_size]
        members = members[np.argsort(lengths[members], kind="stable")]
        batches += [members[i : i + batch_size] for i in range(0, len(members), batch_size)]
    return [batches[i] for i in random.permutation(len(batches))]


def padding_share(lengths: NDArray[np.int32], batches: Sequence[NDArray[np.int64]]) -> float:
    """The share of document positions that are padding when the examples are batched so."""
    positions = sum(len(batch) * int(lengths[batch].max()) for batch in batches)
    return 1 - int(lengths.sum(dtype=np.int64)) / positions if positions else 0.0
