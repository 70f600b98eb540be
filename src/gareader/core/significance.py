"""Confidence intervals and significance tests. Numbers in, numbers out."""

from collections.abc import Sequence
from math import comb, erfc, sqrt

_Z = 1.959963984540054
"""The standard normal distribution has 2.5 % above it."""


def wilson_interval(correct: int, total: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a proportion: `correct` of `total`."""
    if total == 0:
        return 0.0, 1.0
    share = correct / total
    centre = share + _Z * _Z / (2 * total)
    spread = _Z * sqrt(share * (1 - share) / total + _Z * _Z / (4 * total * total))
    scale = 1 + _Z * _Z / total
    # at 0 and 1 the formula gives the end itself, up to rounding
    low = 0.0 if correct == 0 else (centre - spread) / scale
    high = 1.0 if correct == total else (centre + spread) / scale
    return low, high


def proportion_test(accuracy: float, total: int, published: float) -> float:
    """One-sided p-value that `accuracy` on `total` questions is no better than a published accuracy."""
    z = (accuracy - published) / sqrt(published * (1 - published) / total)
    return erfc(z / sqrt(2)) / 2


def mcnemar_test(only_first: int, only_second: int) -> float:
    """Exact one-sided p-value that the first model is no better, from the questions that only one model got right."""
    if only_first > only_second:
        return _heads(only_first, only_first + only_second)
    return 1 - _heads(only_second + 1, only_first + only_second)


def _heads(least: int, tosses: int) -> float:
    """The probability of at least so many heads, more than half of the tosses of a fair coin."""
    total = term = float(least <= tosses)  # in units of the first term, which may be far below the smallest float
    for heads in range(least, tosses):
        term *= (tosses - heads) / (heads + 1)
        if term < 1e-18 * total:
            break
        total += term
    return total * (comb(tosses, least) / (1 << tosses))  # the quotient of integers is exact


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of several comparisons, adjusted by Holm's method."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted
