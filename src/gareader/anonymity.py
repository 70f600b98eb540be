"""Candidates behind marks: each becomes @entityN wherever it stands, so that a reader cannot know it by its name."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from gareader.examples import Example

WAYS = ("none", "permuted", "ordered")
"""Whether candidates get marks: not at all, any numbers, or numbers in the order of their first occurrence."""

Words = tuple[str, ...]


def mark(number: int) -> str:
    """The word for entity `number`."""
    return f"@entity{number}"


def anonymised(example: Example, way: str, *, marks: int = 0, seed: int = 0, draw: int = 0) -> Example:
    """The example with a mark for every word of a candidate; nothing moves, so positions stay what they were.

    `permuted` draws distinct numbers below `marks` by the seed, the example's id and `draw`; where there are more
    candidates than marks, the numbers go on behind them.
    """
    if way == "none":
        return example
    order = _by_first_occurrence(example)
    numbers = list(range(max(marks, len(order))))
    if way == "permuted":
        Random(f"{seed} {draw} {example.id}").shuffle(numbers)  # noqa: S311
    number_of = dict(zip(order, numbers, strict=False))
    return replace(
        example,
        document=_marked(example.document, number_of),
        query=_marked(example.query, number_of),
        candidates=tuple((mark(number_of[candidate]),) for candidate in example.candidates),
    )


def _by_first_occurrence(example: Example) -> list[Words]:
    """The distinct candidates, those that the document mentions first in front, then by the query, then by spelling."""
    text = (*example.document, *example.query)
    first: dict[str, int] = {}
    for place, word in enumerate(text):
        first.setdefault(word, place)

    def rank(words: Words) -> tuple[int, int, Words]:
        return min(first.get(word, len(text)) for word in words), -len(words), words

    return sorted(set(example.candidates), key=rank)


def _marked(words: Sequence[str], number_of: dict[Words, int]) -> Words:
    """The words with every candidate behind its mark: whole names first, then single words of a name."""
    owner: dict[str, int] = {}
    for candidate, number in number_of.items():
        for word in candidate:
            owner.setdefault(word, number)
    result = [mark(owner[word]) if word in owner else word for word in words]
    for candidate, number in sorted(number_of.items(), key=lambda item: len(item[0])):  # the longest have the last word
        if len(candidate) > 1:
            for start in range(len(words) - len(candidate) + 1):
                if tuple(words[start : start + len(candidate)]) == candidate:
                    result[start : start + len(candidate)] = [mark(number)] * len(candidate)
    return tuple(result)
