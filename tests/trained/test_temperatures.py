"""Temperatures by the kind of the candidates and the length of the text."""

from math import log

import pytest

from gareader.core.errors import ConfigError
from gareader.data.examples import PLACEHOLDER, Example, Prediction
from gareader.trained.temperatures import AS_TRAINED, Temperatures


def example(words, proposed=False):
    return Example("e", ("a", "b") * (words // 2), (PLACEHOLDER,), (("a",), ("b",)), 0, proposed=proposed)


def test_given_and_proposed_candidates_have_their_own():
    temperatures = Temperatures(1.5, 2.0)
    assert temperatures.of_example(example(400)) == 1.5
    assert temperatures.of_example(example(40, proposed=True)) == 2.0


@pytest.mark.parametrize(("words", "factor"), [(400, 1), (200, 2), (800, 0.5), (20, 4), (4000, 0.4)])
def test_the_slope_raises_those_of_short_texts_between_two_bounds(words, factor):
    assert Temperatures(1.5, 2.0, slope=1).of_example(example(words)) == pytest.approx(1.5 * factor)
    assert Temperatures(1.5, slope=0.5).of_example(example(words)) == pytest.approx(1.5 * factor**0.5)


def test_the_temperature_divides_the_logarithms():
    prediction = Prediction(example(200), (log(0.8), log(0.2)))
    one, other = Temperatures(1.0, slope=1).tempered(prediction).log_probabilities
    assert one - other == pytest.approx((log(0.8) - log(0.2)) / 2)


def test_settings_without_temperatures_leave_the_answers_as_trained():
    assert Temperatures.of({}) == AS_TRAINED
    assert Temperatures.of(Temperatures(1.1, 1.2, 0.3).record()) == Temperatures(1.1, 1.2, 0.3)


@pytest.mark.parametrize("slope", [float("nan"), 2.5, -3])
def test_a_slope_out_of_bounds_is_refused(slope):
    with pytest.raises(ConfigError, match=r"temperature_slope = .* is not between -2\.0 and 2\.0"):
        Temperatures.of({"temperature_slope": slope})
