"""Groups and calibration counted by hand."""

from math import exp, inf, log

import numpy as np
import pytest

from gareader.core.errors import GareaderError
from gareader.core.significance import wilson_interval
from gareader.data.examples import PLACEHOLDER, Example, Prediction
from gareader.measuring.analysis import (
    calibration,
    cross_fitted,
    fitted_temperature,
    groups,
    kind_of_answer,
    occurrences,
    rank_by_frequency,
    shares_neighbour,
    words_after,
)

DOCUMENT = tuple("Tom met Mary Ann . Tom saw Ann and the cat . The cat saw Tom .".split())


def example(*candidates, document=DOCUMENT, query=f"then {PLACEHOLDER} ran", answer=0):
    return Example("q", document, tuple(query.split()), tuple(tuple(c.split()) for c in candidates), answer)


def prediction(*probabilities, answer=0, **settings):
    names = ["Tom", "cat", "Ann", "nobody"][: len(probabilities)]
    return Prediction(example(*names, answer=answer, **settings), tuple(log(p) if p else -inf for p in probabilities))


@pytest.mark.parametrize(
    ("answer", "count", "rank", "after"),
    [("Tom", 3, 1, 1), ("cat", 2, 2, 3), ("Mary Ann", 1, 3, 13), ("Ann", 2, 2, 9), ("dog", 0, 0, -1)],
)
def test_where_the_answer_stands(answer, count, rank, after):
    asked = example(answer, *({"Tom", "cat"} - {answer}), "the")
    assert (occurrences(asked), rank_by_frequency(asked), words_after(asked)) == (count, rank, after)


@pytest.mark.parametrize(
    ("answer", "query", "shared"),
    [
        ("Tom", f"{PLACEHOLDER} saw it", "yes"),
        ("Tom", f"she saw {PLACEHOLDER} run", "yes"),
        ("Ann", f"{PLACEHOLDER} met it", "no"),
        ("Mary Ann", f"he met {PLACEHOLDER}", "yes"),
        ("Tom", PLACEHOLDER, "no"),  # nothing beside the blank is nothing shared with the edge of the document
        ("dog", f"the {PLACEHOLDER} ran", "no"),
    ],
)
def test_a_neighbour_of_the_blank_beside_the_answer(answer, query, shared):
    assert shares_neighbour(example(answer, "cat", query=query)) == shared


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("Tom", "capitalised"),
        ("cat", "lower case"),
        ("TOM", "all capitals"),
        ("I", "capitalised"),
        ("Mary Ann", "several words"),
        ("@entity5", "lower case"),
        ("|", "other"),
        ("1984", "other"),
    ],
)
def test_kinds_of_answer(answer, kind):
    assert kind_of_answer(example(answer, "other")) == kind


def test_every_aspect_counts_every_question_once():
    right, wrong = prediction(0.6, 0.3, 0.1), prediction(0.2, 0.7, 0.1)
    lost = prediction(0.5, 0.5, 0.0, 0.0, answer=3)
    unknown = prediction(0.5, 0.5, answer=None)
    found = groups([right, wrong, wrong, lost, unknown])
    aspects = {group.aspect for group in found}
    assert len(aspects) == 6
    for aspect in aspects:
        members = [group for group in found if group.aspect == aspect]
        assert (sum(g.examples for g in members), sum(g.correct for g in members)) == (4, 1)
    by_count = [(g.name, g.examples, g.correct) for g in found if g.aspect == "occurrences of the answer"]
    assert by_count == [("not in the document", 1, 0), ("3–4", 3, 1)]
    (three,) = [g for g in found if g.name == "3–4"]
    assert (three.accuracy, three.interval) == (1 / 3, wilson_interval(1, 3))


def test_documents_fall_into_quarters():
    found = groups([prediction(0.6, 0.4, document=("Tom", "cat", *["and"] * n)) for n in range(98)])
    sizes = [(g.name, g.examples) for g in found if g.aspect == "document words"]
    assert [name for name, _ in sizes] == ["up to 25", "26–50", "51–75", "76 or more"]
    assert sum(count for _, count in sizes) == 98


def test_one_question_and_none_fall_into_groups():
    assert groups([prediction(0.6, 0.4)])
    assert groups([]) == groups([prediction(0.6, 0.4, answer=None)]) == []


@pytest.mark.parametrize(("asked", "least"), [(calibration, 1), (fitted_temperature, 1), (cross_fitted, 2)])
def test_too_few_answers_that_can_be_pointed_at_are_told(asked, least):
    lost, unknown, found = prediction(1.0, 0.0, answer=1), prediction(0.6, 0.4, answer=None), prediction(0.6, 0.4)
    for count in range(least):
        with pytest.raises(GareaderError, match=rf"in their document \({count}; calibration needs {least} or more\)"):
            asked([lost, unknown, *[found] * count])
    assert asked([lost, unknown, *[found] * least])


def test_calibration_counted_by_hand():
    found = calibration(
        [
            prediction(0.95, 0.05),  # right
            prediction(0.91, 0.09, answer=1),  # wrong
            prediction(0.55, 0.45),  # right
            prediction(1.0, 0.0),  # right, and sure: it falls into the last bin
            prediction(0.9, 0.1, 0.0, answer=2),  # cannot be pointed at, and does not count
        ]
    )
    half, sure = found.bins
    assert (half.examples, half.accuracy) == (1, 1.0)
    assert (sure.examples, sure.accuracy) == (3, 2 / 3)
    assert (half.confidence, sure.confidence) == pytest.approx((0.55, 2.86 / 3))
    assert found.error == pytest.approx((0.45 + 3 * (2.86 / 3 - 2 / 3)) / 4)
    assert found.loss == pytest.approx(-(log(0.95) + log(0.09) + log(0.55)) / 4)


def drawn(count, sharpness, seed=0):
    """Questions whose answers are drawn from probabilities that the reader then states too boldly."""
    chance = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        true = chance.dirichlet([1, 1, 1])
        stated = true**sharpness / (true**sharpness).sum()
        made.append(prediction(*stated, answer=int(chance.choice(3, p=true))))
    return made


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 2.5])
def test_the_temperature_that_was_hidden_is_found(sharpness):
    assert fitted_temperature(drawn(4000, sharpness)) == pytest.approx(sharpness, rel=0.08)


@pytest.mark.parametrize(
    ("sharpness", "expected"), [(0.5, 0.411702), (1.0, 0.823405), (2.5, 2.058514), (0.05, 0.100005), (40.0, 9.999996)]
)
def test_the_same_temperature_as_scipy(sharpness, expected):
    """SciPy 1.17.1's bounded minimum, and the bounds where there is none between them."""
    assert fitted_temperature(drawn(200, sharpness)) == pytest.approx(expected, abs=1e-4)


def test_fitting_on_the_other_half_mends_what_is_too_bold():
    bold = drawn(4000, 2.5)
    mended = cross_fitted(bold)
    assert len(mended) == len(bold)
    assert calibration(bold).error > 0.1
    assert calibration(mended).error < 0.03
    assert calibration(mended).loss < calibration(bold).loss


def test_a_temperature_changes_probabilities_and_no_ranking():
    before = prediction(0.6, 0.3, 0.1, 0.0)
    shy = before.tempered(2.0)
    roots = np.sqrt([0.6, 0.3, 0.1, 0.0])
    assert [exp(value) for value in shy.log_probabilities] == pytest.approx(roots / roots.sum())
    assert shy.log_probabilities[3] == -inf
    assert shy.order == before.order
    assert before.tempered(1) is before
    nowhere = prediction(0.0, 0.0)
    assert nowhere.tempered(3.0) == nowhere
