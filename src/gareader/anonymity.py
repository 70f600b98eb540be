"""Candidates behind marks: each becomes @entityN wherever it stands, so that a reader cannot know it by its name."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count, islice
from random import Random
from typing import Literal, get_args

from gareader.examples import Example

Way = Literal["none", "permuted", "ordered"]
WAYS: tuple[Way, ...] = get_args(Way)
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
    names = _by_first_occurrence(example)
    document, query = (_claimed(words, names) for words in (example.document, example.query))
    order = dict.fromkeys([*filter(None, document), *filter(None, query), *names])
    plain = {
        word for word, name in zip((*example.document, *example.query), (*document, *query), strict=True) if not name
    }
    free = (number for number in count() if mark(number) not in plain)  # a text may have marks of its own
    numbers = list(islice(free, max(marks, len(order))))
    if way == "permuted":
        Random(f"{seed} {draw} {example.id}").shuffle(numbers)  # noqa: S311
    mark_of = {name: mark(number) for name, number in zip(order, numbers, strict=False)}

    def marked(words: Words, claimed: Sequence[Words | None]) -> Words:
        return tuple(mark_of[name] if name else word for word, name in zip(words, claimed, strict=True))

    return replace(
        example,
        document=marked(example.document, document),
        query=marked(example.query, query),
        candidates=tuple((mark_of[candidate],) for candidate in example.candidates),
    )


def _by_first_occurrence(example: Example) -> list[Words]:
    """The distinct candidates, those with the earliest word in front, in the document, then in the query."""
    text = (*example.document, *example.query)
    first: dict[str, int] = {}
    for place, word in enumerate(text):
        first.setdefault(word, place)

    def rank(words: Words) -> tuple[int, int, Words]:
        return min(first.get(word, len(text)) for word in words), -len(words), words

    return sorted(set(example.candidates), key=rank)


def _claimed(words: Words, names: Sequence[Words]) -> list[Words | None]:
    """Whose name each word belongs to: the longest that stands there whole, else the first that has the word."""
    owner: dict[str, Words] = {}
    for name in names:
        for word in name:
            owner.setdefault(word, name)
    claimed = [owner.get(word) for word in words]
    for name in sorted(names, key=len):  # the longest have the last word
        for start in range(len(words) - len(name) + 1):
            if words[start : start + len(name)] == name:
                claimed[start : start + len(name)] = [name] * len(name)
    return claimed
