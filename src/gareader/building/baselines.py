"""Simple baselines for questions about persons, and the suppression of questions they answer."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import ModuleType

import numpy as np

from gareader.core.errors import ConfigError, extras_told
from gareader.data.examples import PLACEHOLDER, Example, Words
from gareader.data.language.names import last_name

BASELINES = ("first person", "most frequent person", "n-gram", "unigram")
"""First or most frequent in the passage; most context in common with the blank; last name in the most articles."""

VARIANTS = {"strict": 1.0, "relaxed": 1.5}
"""How many times the accuracy of chance each baseline may reach on the selected questions."""

Stratum = tuple[tuple[bool, ...], int]
"""For each baseline whether it answers a question, and the number of choices."""

_AROUND = 4  # words on each side that the n-gram baseline compares


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate and its mentions in the document, by any part of its name."""

    words: Words
    places: tuple[tuple[int, int], ...]
    """Start and end (the place after the last word) of each mention, in order."""


def solved(example: Example, choices: Sequence[Choice], articles_with: Mapping[str, int]) -> tuple[bool, ...]:
    """For each of BASELINES whether it gives the answer; `articles_with` counts the articles with a word."""
    numbers = range(len(choices))
    first = min(numbers, key=lambda i: choices[i].places[0])
    frequent = max(numbers, key=lambda i: (len(choices[i].places), -choices[i].places[0][0]))
    ngram = _single_best([_in_common(example, choice) for choice in choices])
    unigram = _single_best([articles_with.get(last_name(choice.words)[0], 0) for choice in choices])
    return tuple(pick == example.answer for pick in (first, frequent, ngram, unigram))


def _single_best(scores: Sequence[int]) -> int | None:
    """The index of the highest score; None for a tie, where the baseline has no answer."""
    best = max(scores)
    return scores.index(best) if scores.count(best) == 1 else None


def _in_common(example: Example, choice: Choice) -> int:
    """The largest number of context words that a mention shares with the blank, on both sides together."""
    blank = example.query.index(PLACEHOLDER)
    left, right = example.query[:blank][::-1][:_AROUND], example.query[blank + 1 :][:_AROUND]
    document = example.document
    return max(
        _alike(document[max(0, start - _AROUND) : start][::-1], left) + _alike(document[end : end + _AROUND], right)
        for start, end in choice.places
    )


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the common beginning of two sequences of words, ignoring case."""
    count = 0
    for word, another in zip(one, other, strict=False):
        if word.lower() != another.lower():
            break
        count += 1
    return count


def select_questions(
    answered: Sequence[tuple[bool, ...]], choices: Sequence[int], factor: float, seed: int
) -> list[int]:
    """Select as many questions as possible so that each baseline's accuracy is at most `factor` times that of chance.

    Return the numbers of the questions, sorted. Questions with the same number of choices and the same baselines that
    answer them form a stratum. An integer program (as in Onishi et al.) gives the size of the selection from each
    stratum; the seed draws its questions.
    """
    if factor < 0:
        raise ConfigError(f"factor = {factor} is negative; it says how far above chance a baseline may be")
    members: defaultdict[Stratum, list[int]] = defaultdict(list)
    for number, stratum in enumerate(zip(answered, choices, strict=True)):
        members[stratum].append(number)
    strata = sorted(members)
    selected = []
    for stratum, size in zip(strata, _sizes(strata, [len(members[each]) for each in strata], factor), strict=True):
        drawn = list(members[stratum])
        Random(f"{seed} {stratum}").shuffle(drawn)  # noqa: S311  # seeded by a text: equal in all processes
        selected.extend(drawn[:size])
    return sorted(selected)


def solver() -> ModuleType:
    """SciPy's solver of integer programs, which only this selection needs; call it before long work."""
    with extras_told():
        from scipy import optimize  # takes half a second
    return optimize  # type: ignore[no-any-return]


def _sizes(strata: Sequence[Stratum], available: Sequence[int], factor: float) -> list[int]:
    """How many of each stratum to select: maximise Σ n with Σ n·(answered − factor/choices) ≤ 0 for each baseline."""
    if not strata:
        return []
    optimize = solver()
    surplus = np.array([[right - factor / choices for right in answered] for answered, choices in strata]).T
    solution = optimize.milp(
        c=-np.ones(len(strata)),
        integrality=np.ones(len(strata)),
        bounds=optimize.Bounds(0, np.array(available, dtype=float)),
        constraints=optimize.LinearConstraint(surplus, -np.inf, 0),
    )
    return [round(size) for size in solution.x]
