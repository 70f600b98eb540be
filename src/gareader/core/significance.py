"""Confidence intervals and significance tests. Numbers in, numbers out."""

from collections.abc import Sequence
from math import sqrt

from scipy.stats import binom, norm


def wilson_interval(correct: int, total: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a proportion: `correct` of `total`."""
    if total == 0:
        return 0.0, 1.0
    z = float(norm.ppf((1 + 0.95) / 2))
    share = correct / total
    centre = share + z * z / (2 * total)
    spread = z * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    # at 0 and 1 the formula gives the end itself, up to rounding
    low = 0.0 if correct == 0 else (centre - spread) / scale
    high = 1.0 if correct == total else (centre + spread) / scale
    return low, high


def proportion_test(accuracy: float, total: int, published: float) -> float:
    """One-sided p-value that `accuracy` on `total` questions is no better than a published accuracy."""
    return float(norm.sf((accuracy - published) / sqrt(published * (1 - published) / total)))


def mcnemar_test(only_first: int, only_second: int) -> float:
    """Exact one-sided p-value that the first model is no better, from the questions that only one model got right."""
    return float(binom.sf(only_first - 1, only_first + only_second, 0.5))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of several comparisons, adjusted by Holm's method."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted
