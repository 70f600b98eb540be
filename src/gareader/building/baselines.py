"""Simple baselines for questions about persons, and the suppression of questions they answer."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from gareader.building.names import last_name
from gareader.errors import ConfigError
from gareader.examples import PLACEHOLDER, Example

BASELINES = ("first person", "most frequent person", "n-gram", "unigram")
"""First or most often named in the passage; the most words in common around it; the last name in most articles."""

STRICT, RELAXED = 1.0, 1.5
"""How far above chance each baseline may answer the questions that are kept."""

Sort = tuple[tuple[bool, ...], int]
"""Which baselines answer a question, and among how many choices."""

_AROUND = 4  # words on each side that the n-gram baseline compares


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate and where the document mentions it, by whatever part of the name."""

    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    """First word and the place after the last, of each mention in order."""


def solved(example: Example, choices: Sequence[Choice], articles_with: Mapping[str, int]) -> tuple[bool, ...]:
    """For each of BASELINES whether it gives the answer; `articles_with` counts the articles that hold a word."""
    numbers = range(len(choices))
    first = min(numbers, key=lambda i: choices[i].places[0])
    frequent = max(numbers, key=lambda i: (len(choices[i].places), -choices[i].places[0][0]))
    ngram = _single_best([_in_common(example, choice) for choice in choices])
    unigram = _single_best([articles_with.get(last_name(choice.words)[0], 0) for choice in choices])
    return tuple(pick == example.answer for pick in (first, frequent, ngram, unigram))


def _single_best(scores: Sequence[int]) -> int | None:
    """Where the highest score stands; with equals the baseline does not know."""
    best = max(scores)
    return scores.index(best) if scores.count(best) == 1 else None


def _in_common(example: Example, choice: Choice) -> int:
    """The most words in a row that a mention's neighbours share with the blank's, both sides together."""
    blank = example.query.index(PLACEHOLDER)
    left, right = example.query[:blank][::-1][:_AROUND], example.query[blank + 1 :][:_AROUND]
    document = example.document
    return max(
        _alike(document[max(0, start - _AROUND) : start][::-1], left) + _alike(document[end : end + _AROUND], right)
        for start, end in choice.places
    )


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words they have in common from their beginnings on."""
    count = 0
    for word, another in zip(one, other, strict=False):
        if word.lower() != another.lower():
            break
        count += 1
    return count


def kept(answered: Sequence[tuple[bool, ...]], choices: Sequence[int], factor: float, seed: int) -> list[int]:
    """The largest selection of which each baseline answers at most `factor` times what a guess among the choices would.

    Numbers of questions, sorted. Questions with as many choices that the same baselines answer are alike; how many of
    each sort stay is an integer program (as Onishi et al. optimise it), which of them is drawn by the seed.
    """
    if factor < 0:
        raise ConfigError(f"factor = {factor} is negative; it says how far above chance a baseline may be")
    sorts: defaultdict[Sort, list[int]] = defaultdict(list)
    for number, sort in enumerate(zip(answered, choices, strict=True)):
        sorts[sort].append(number)
    kinds = sorted(sorts)
    chosen = []
    for kind, size in zip(kinds, _sizes(kinds, [len(sorts[kind]) for kind in kinds], factor), strict=True):
        drawn = list(sorts[kind])
        Random(f"{seed} {kind}").shuffle(drawn)  # noqa: S311  # a text as seed: alike in all processes
        chosen.extend(drawn[:size])
    return sorted(chosen)


def _sizes(sorts: Sequence[Sort], there: Sequence[int], factor: float) -> list[int]:
    """How many of each sort to keep: Σ n as large as can be, with Σ n·(answered − factor/choices) ≤ 0 for each."""
    if not sorts:
        return []
    from scipy.optimize import Bounds, LinearConstraint, milp  # takes half a second

    surplus = np.array([[right - factor / choices for right in answered] for answered, choices in sorts]).T
    found = milp(
        c=-np.ones(len(sorts)),
        integrality=np.ones(len(sorts)),
        bounds=Bounds(0, np.array(there, dtype=float)),
        constraints=LinearConstraint(surplus, -np.inf, 0),
    )
    return [round(size) for size in found.x]
