"""Simple baselines, and the suppression of questions they answer."""

from collections import Counter
from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gareader.building.baselines import BASELINES, VARIANTS, Choice, select_questions, solved
from gareader.core.errors import ConfigError
from gareader.data.examples import PLACEHOLDER, Example

DOCUMENT = tuple("Bo Ek met Al Dee . Dee said Dee won the race . Cy Fox lost the cup .".split())
CHOICES = (
    Choice(("Al", "Dee"), ((3, 5), (6, 7), (8, 9))),
    Choice(("Bo", "Ek"), ((0, 2),)),
    Choice(("Cy", "Fox"), ((13, 15),)),
)


def answered(query: str, known: dict[str, int]) -> list[str | None]:
    """The answer of each baseline, found by asking whether it gives it."""
    answers: list[str | None] = [None] * len(BASELINES)
    for number, choice in enumerate(CHOICES):
        example = Example("q", DOCUMENT, tuple(query.split()), tuple(one.words for one in CHOICES), number)
        for baseline, right in enumerate(solved(example, CHOICES, known)):
            if right:
                assert answers[baseline] is None
                answers[baseline] = " ".join(choice.words)
    return answers


def test_each_baseline_has_its_answer() -> None:
    counts = {"Dee": 2, "Ek": 9, "Fox": 3}
    assert answered(f"Then {PLACEHOLDER} lost the match .", counts) == ["Bo Ek", "Al Dee", "Cy Fox", "Bo Ek"]
    assert answered(f"and {PLACEHOLDER} met him", counts)[2] == "Bo Ek"
    assert answered(f"she saw that he met {PLACEHOLDER} again", counts)[2] == "Al Dee"
    assert answered(f"they met {PLACEHOLDER} . again", counts)[2] == "Al Dee"


def test_a_baseline_that_knows_nothing_answers_nothing() -> None:
    assert answered(f"Then {PLACEHOLDER} slept", {})[2:] == [None, None]


PATTERNS = list(product((False, True), repeat=2))


def accuracy(answers: Sequence[tuple[bool, ...]], chosen: list[int], baseline: int) -> float:
    """The share of the chosen questions that a baseline answers."""
    return sum(answers[number][baseline] for number in chosen) / len(chosen)


def within(answers: Sequence[tuple[bool, ...]], most: float, seed: int = 1) -> list[int]:
    """The questions that are kept where a baseline may answer this share of them."""
    return select_questions(answers, [10] * len(answers), 10 * most, seed)


def test_the_largest_selection_within_the_share() -> None:
    # 6 for both, 2 for the first alone, 3 for the second alone, 4 for none: at a half, 2 + 3 + 4 and 3 of both fit
    answers = [(True, True)] * 6 + [(True, False)] * 2 + [(False, True)] * 3 + [(False, False)] * 4
    chosen = within(answers, 0.5)
    assert chosen == sorted(set(chosen))
    assert Counter(answers[number] for number in chosen) == {
        (True, True): 3, (True, False): 2, (False, True): 3, (False, False): 4,
    }  # fmt: skip


def test_nothing_or_everything_is_kept() -> None:
    assert within([], 0.5) == []
    assert within([(True, True)] * 3, 0.5) == []
    assert within([(True, True)] * 3, 1.0) == [0, 1, 2]
    assert within([(False, False)] * 3, 0.0) == [0, 1, 2]


def test_a_baseline_may_not_be_below_nothing() -> None:
    with pytest.raises(ConfigError, match="factor = -1 is negative; it says how far above chance a baseline may be"):
        select_questions([(True,)], [2], -1, seed=1)


def test_chance_is_that_of_the_questions_that_are_kept() -> None:
    answers, choices = [(True,)] * 10 + [(False,)] * 10, [2] * 10 + [5] * 10  # a guess is right in 35 % of all
    chosen = select_questions(answers, choices, VARIANTS["strict"], seed=1)
    assert accuracy(answers, chosen, 0) <= sum(1 / choices[number] for number in chosen) / len(chosen)
    assert len(chosen) == 14


def test_the_seed_draws() -> None:
    answers = [(True,)] * 40 + [(False,)] * 20
    assert within(answers, 0.4) == within(answers, 0.4)
    assert within(answers, 0.4) != within(answers, 0.4, seed=2)


def test_relaxed_keeps_what_strict_keeps_and_more() -> None:
    answers = [((number * 7) % 10 < 6, (number * 3) % 7 < 4) for number in range(300)]
    strict, relaxed = (within(answers, share * 0.3) for share in VARIANTS.values())
    assert len(strict) < len(relaxed) < len(answers)
    assert set(strict) < set(relaxed)


def largest(sizes: list[int], most: float) -> int:
    """The best total of all selections, by trying each."""
    best = 0
    for numbers in product(*(range(size + 1) for size in sizes)):
        total = sum(numbers)
        right = [sum(n for n, pattern in zip(numbers, PATTERNS, strict=True) if pattern[i]) for i in range(2)]
        if all(part <= most * total + 1e-9 for part in right):
            best = max(best, total)
    return best


@given(st.lists(st.integers(0, 5), min_size=4, max_size=4), st.sampled_from([0.1, 0.25, 0.3, 0.5, 0.7]))
def test_no_selection_within_the_share_is_larger(sizes: list[int], most: float) -> None:
    answers = [pattern for size, pattern in zip(sizes, PATTERNS, strict=True) for _ in range(size)]
    chosen = within(answers, most)
    assert len(chosen) == largest(sizes, most)
    assert not chosen or all(accuracy(answers, chosen, baseline) <= most + 1e-9 for baseline in range(2))
