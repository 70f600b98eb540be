"""Known values of the statistics, and what must hold for all."""

import subprocess
import sys
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gareader.core.significance import holm, mcnemar_test, proportion_test, wilson_interval


def test_wilson_interval_of_known_values():
    # Newcombe (1998), table I: 81 of 263 and 15 of 148
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson_interval(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson_interval(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson_interval(0, 0) == (0.0, 1.0)


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_interval_holds_the_share(counts):
    correct, total = counts
    low, high = wilson_interval(correct, total)
    assert 0 <= low <= correct / total <= high <= 1


def test_proportion_test_agrees_with_the_paper():
    """The paper computed from unrounded accuracies; ours are the rounded ones of its tables."""
    assert proportion_test(0.749, 2500, 0.732) == pytest.approx(0.028, abs=1e-3)  # CBT-NE
    assert proportion_test(0.7795, 3198, 0.776) == pytest.approx(0.319, abs=2e-3)  # CNN, printed as 77.9
    assert proportion_test(0.809, 53182, 0.796) < 0.00001  # Daily Mail
    assert proportion_test(0.5, 100, 0.6) > 0.95


def test_mcnemar_known_values():
    assert mcnemar_test(10, 2) == pytest.approx((1 + 12 + 66) / 2**12)
    assert mcnemar_test(0, 0) == 1
    assert mcnemar_test(0, 5) == 1
    assert mcnemar_test(5, 0) == pytest.approx(1 / 32)


def test_a_hundred_thousand_questions():
    """SciPy 1.17.1's values, and at its 13th digit those of exact integers."""
    assert mcnemar_test(50_500, 49_500) == pytest.approx(0.000791179939425797, rel=1e-12)
    assert mcnemar_test(51_500, 48_500) == pytest.approx(1.2192132156717262e-21, rel=1e-12)
    assert mcnemar_test(49_999, 50_001) == pytest.approx(0.5037847, abs=1e-7)
    assert mcnemar_test(100_000, 0) == 0
    assert wilson_interval(75_000, 100_000) == pytest.approx((0.7473066398714165, 0.752674153572292), rel=1e-12)
    assert proportion_test(0.75, 100_000, 0.73) == pytest.approx(2.380502052470303e-46, rel=1e-12)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_sum_of_exact_probabilities(first, second):
    n = first + second
    assert mcnemar_test(first, second) == pytest.approx(sum(comb(n, k) for k in range(first, n + 1)) / 2**n, rel=1e-13)


def test_the_statistics_need_no_other_package():
    code = "import sys, gareader.core.significance; assert not {'numpy', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_holm_known_values():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]
