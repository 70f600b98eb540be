"""Reports counted by hand, ensembles, and the lines of a predictions file."""

import json
from math import exp, inf, log

import pytest

from gareader.core.significance import wilson_interval
from gareader.data.examples import PLACEHOLDER, Example, Prediction, mean_prediction
from gareader.measuring.evaluation import RECALL_AT, Tally, evaluate, prediction_record


def prediction(*probabilities, answer=0, id="q"):
    """Candidates a, b, c … with these probabilities; None is a candidate that is not in the document."""
    names = tuple((name,) for name in "abcdefgh"[: len(probabilities)])
    example = Example(id, ("a", "b"), (PLACEHOLDER,), names, answer)
    return Prediction(example, tuple(-inf if p is None else log(p) for p in probabilities))


def test_a_report_counted_by_hand():
    report = evaluate(
        [
            prediction(0.7, 0.2, 0.1, answer=0),  # right
            prediction(0.7, 0.2, 0.1, answer=1),  # second
            prediction(0.1, 0.3, 0.6, answer=0),  # third
            prediction(0.25, 0.25, 0.2, 0.15, 0.1, 0.05, answer=4),  # fifth
            prediction(0.25, 0.25, 0.2, 0.15, 0.1, 0.05, answer=5),  # sixth
        ]
    )
    assert (report.examples, report.correct, report.accuracy) == (5, 1, 0.2)
    assert report.interval == wilson_interval(1, 5)
    assert report.interval == pytest.approx((0.0362, 0.6245), abs=5e-5)
    assert report.recall == {"2": 2 / 5, "3": 3 / 5, "5": 4 / 5}
    assert report.loss == pytest.approx(-(log(0.7) + log(0.2) + log(0.1) + log(0.1) + log(0.05)) / 5)
    assert (report.answer_not_in_document, report.no_candidate_in_document) == (0, 0)


def test_the_loss_is_over_the_answers_in_the_document():
    report = evaluate([prediction(0.5, 0.5), prediction(None, 1.0), prediction(None, None)])
    assert (report.examples, report.correct) == (3, 1)
    assert report.loss == pytest.approx(log(2))
    assert report.recall == {"2": 1 / 3, "3": 1 / 3, "5": 1 / 3}
    assert (report.answer_not_in_document, report.no_candidate_in_document) == (2, 1)


def test_no_candidate_in_the_document_is_a_miss_even_where_the_answer_is_listed_first():
    report = evaluate([prediction(None, None, None, answer=0)])
    assert (report.examples, report.correct, report.accuracy) == (1, 0, 0.0)
    assert report.loss is None
    assert set(report.recall.values()) == {0.0}


def test_unknown_answers_do_not_count():
    report = evaluate([prediction(0.9, 0.1, answer=None), prediction(None, None, answer=None), prediction(0.9, 0.1)])
    assert (report.examples, report.correct, report.accuracy) == (1, 1, 1.0)
    assert (report.answer_not_in_document, report.no_candidate_in_document) == (0, 0)


def test_equals_are_counted_in_the_order_of_the_candidates():
    assert evaluate([prediction(0.5, 0.5, answer=0), prediction(0.5, 0.5, answer=1)]).correct == 1


def test_a_report_on_nothing():
    report = Tally().report()
    assert (report.examples, report.accuracy, report.interval, report.loss) == (0, 0.0, (0.0, 1.0), None)
    assert report.recall == {str(k): 0.0 for k in RECALL_AT}


def test_a_tally_goes_on():
    tally = Tally()
    tally.add(prediction(0.9, 0.1))
    assert tally.report().accuracy == 1.0
    tally.add(prediction(0.1, 0.9))
    assert tally.report().accuracy == 0.5


def test_an_ensemble_averages_probabilities():
    one, other = prediction(0.6, 0.4, None, answer=1), prediction(0.1, 0.9, None, answer=1)
    together = mean_prediction([one, other])
    assert [exp(value) for value in together.log_probabilities] == pytest.approx([0.35, 0.65, 0.0])
    assert together.log_probabilities[2] == -inf
    assert together.example is one.example
    assert together.correct
    thrice = mean_prediction([one, one, other])  # a vote by heads would say a
    assert [exp(value) for value in thrice.log_probabilities] == pytest.approx([1.3 / 3, 1.7 / 3, 0.0])


def test_an_ensemble_holds_what_one_reader_cannot_point_at():
    together = mean_prediction([prediction(None, 1.0), prediction(0.5, 0.5)])
    assert [exp(value) for value in together.log_probabilities] == pytest.approx([0.25, 0.75])
    assert not mean_prediction([prediction(None, None), prediction(None, None)]).answerable


def test_an_ensemble_keeps_the_most_improbable_apart_from_the_impossible():
    example = prediction(0.5, 0.5).example
    together = mean_prediction([Prediction(example, (-2000.0, 0.0)), Prediction(example, (-2001.0, 0.0))])
    assert together.log_probabilities == pytest.approx((-2000 + log((1 + exp(-1)) / 2), 0.0))


def test_the_line_of_a_predictions_file():
    found = prediction(0.25, 0.75, None, answer=1, id="cbt:7")
    line = json.dumps(prediction_record(found), allow_nan=False)
    assert json.loads(line) == {
        "id": "cbt:7",
        "query": "___",
        "best": "b",
        "ranking": [
            {"answer": "b", "probability": pytest.approx(0.75)},
            {"answer": "a", "probability": pytest.approx(0.25)},
            {"answer": "c", "probability": 0.0},
        ],
        "absent": ["c"],
        "unsure": False,
        "answer": "b",
        "correct": True,
    }


def test_the_line_of_a_question_without_a_known_answer():
    record = prediction_record(prediction(None, None, answer=None))
    assert (record["answer"], record["correct"]) == (None, None)
    found = json.loads(json.dumps(record, allow_nan=False))
    assert found["ranking"] == [{"answer": "a", "probability": 0.0}, {"answer": "b", "probability": 0.0}]
    assert (found["best"], found["absent"]) == (None, ["a", "b"])


def test_the_line_of_an_answer_of_several_words():
    example = Example("q", ("Mary", "Ann"), (PLACEHOLDER,), (("Tom",), ("Mary", "Ann")), 1)
    record = prediction_record(Prediction(example, (-inf, 0.0)))
    assert record["answer"] == record["best"] == record["ranking"][0]["answer"] == "Mary Ann"
