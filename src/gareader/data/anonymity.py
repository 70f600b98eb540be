"""Anonymised candidates: each becomes @entityN at every mention, so that a reader cannot know it by its name."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count, islice
from random import Random
from typing import Literal

from gareader.data.examples import Example, Words

Way = Literal["none", "permuted", "ordered"]
"""How candidates get marks: none, marks in a random order, or marks in the order of first occurrence."""


def mark(number: int) -> str:
    """The word for entity `number`."""
    return f"@entity{number}"


def anonymised(example: Example, way: str, *, marks: int = 0, seed: int = 0, draw: int = 0) -> Example:
    """Return the example with a mark in place of every word of a candidate; positions do not change.

    `permuted` draws distinct numbers below `marks` by the seed, the example's id and `draw`; with more candidates than
    marks, the numbers below the number of candidates.
    """
    if way == "none":
        return example
    names = _by_first_occurrence(example)
    document, query = (_owners(words, names) for words in (example.document, example.query))
    order = dict.fromkeys([*filter(None, document), *filter(None, query), *names])
    plain = {
        word for word, name in zip((*example.document, *example.query), (*document, *query), strict=True) if not name
    }
    free = (number for number in count() if mark(number) not in plain)  # a text may have marks of its own
    numbers = list(islice(free, max(marks, len(order))))
    if way == "permuted":
        Random(f"{seed} {draw} {example.id}").shuffle(numbers)  # noqa: S311
    mark_of = {name: mark(number) for name, number in zip(order, numbers, strict=False)}

    def marked(words: Words, owners: Sequence[Words | None]) -> Words:
        return tuple(mark_of[name] if name else word for word, name in zip(words, owners, strict=True))

    return replace(
        example,
        document=marked(example.document, document),
        query=marked(example.query, query),
        candidates=tuple((mark_of[candidate],) for candidate in example.candidates),
    )


def _by_first_occurrence(example: Example) -> list[Words]:
    """The distinct candidates, ordered by the first occurrence of any of their words in document and query."""
    text = (*example.document, *example.query)
    first: dict[str, int] = {}
    for place, word in enumerate(text):
        first.setdefault(word, place)

    def rank(words: Words) -> tuple[int, int, Words]:
        return min(first.get(word, len(text)) for word in words), -len(words), words

    return sorted(set(example.candidates), key=rank)


def _owners(words: Words, names: Sequence[Words]) -> list[Words | None]:
    """For each word the name it belongs to: the longest whole name at this place, else the first with this word."""
    owner: dict[str, Words] = {}
    for name in names:
        for word in name:
            owner.setdefault(word, name)
    owners = [owner.get(word) for word in words]
    for name in sorted(names, key=len):  # the longest names overwrite the others
        for start in range(len(words) - len(name) + 1):
            if words[start : start + len(name)] == name:
                owners[start : start + len(name)] = [name] * len(name)
    return owners
