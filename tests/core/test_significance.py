"""Known values of the statistics, and what must hold for all."""

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


def test_holm_known_values():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]
