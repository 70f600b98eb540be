"""Questions as they differ from the one before: neighbours share their document, or its window moves on in a text.

Words are the lines of a text here: Python makes none of them where a corpus becomes numbers.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from gareader.core.errors import StoreError
from gareader.data.examples import Example, Words
from gareader.data.text import SEPARATOR


class Delta(NamedTuple):
    """A question without the words that its document shares with the document before."""

    id: str
    size: int
    """How many words the document has."""
    new: int
    """How many of them, the last ones, are not in the document before, which ends with all the others."""
    document: str
    """The new words."""
    query: str
    candidates: str
    """The words of all candidates."""
    lengths: Sequence[int]
    """How many words each candidate has."""
    answer: int | None


def deltas_of(examples: Iterable[Example]) -> Iterator[Delta]:
    """The examples without the words that neighbours share."""
    before: Words = ()
    for example in examples:
        shared = overlap(before, example.document)
        parts = example.document[shared:], example.query, tuple(chain.from_iterable(example.candidates))
        document, query, candidates = texts = [*map(SEPARATOR.join, parts)]
        if any(text.count(SEPARATOR) >= max(1, len(part)) for text, part in zip(texts, parts, strict=True)):
            raise StoreError(f"example {example.id!r} has a word with a line break in it; make it two words")
        size, new, lengths = len(example.document), len(parts[0]), tuple(map(len, example.candidates))
        yield Delta(example.id, size, new, document, query, candidates, lengths, example.answer)
        before = example.document


def overlap(before: Words, document: Words) -> int:
    """The length of the longest beginning of `document` that `before` ends with, if it is eight words or more."""
    if before is document:
        return len(document)
    beginning, start, tries = document[:8], -1, 16  # few, for text that repeats itself would take quadratic time
    try:
        while tries:
            start = before.index(beginning[0], start + 1)
            if before[start : start + 8] == beginning:
                if before[start:] == document[: len(before) - start]:
                    return len(before) - start
                tries -= 1
    except ValueError:
        pass
    return 0
