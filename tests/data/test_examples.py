"""What makes a cloze question, and how an answer to it looks."""

from dataclasses import replace
from math import inf, log
from typing import Any

import numpy as np
import pytest

from gareader.core.errors import ExampleError, did_you_mean
from gareader.data.examples import PLACEHOLDER, Attention, Example, Prediction

GOOD: dict[str, Any] = {
    "id": "1",
    "document": ("a", "b"),
    "query": (PLACEHOLDER,),
    "candidates": (("a",), ("b",)),
    "answer": 0,
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"document": ()}, "the document is empty"),
        ({"query": ("a",)}, "the query has no placeholder; mark one blank"),
        ({"query": (PLACEHOLDER, PLACEHOLDER)}, "the query has 2 placeholders"),
        ({"candidates": (("a",),), "answer": 0}, "1 candidate answer; give at least two"),
        ({"candidates": ()}, "no candidate answer; give at least two"),
        ({"candidates": (("a",), ())}, "a candidate answer is empty"),
        ({"answer": 2}, "answer 2 is not an index into 2 candidates"),
        ({"answer": -1}, "answer -1 is not an index"),
        ({"document": ("a",) * 1_000_001}, "a document of 1,000,001 words, and 1,000,000 are the most; give a part"),
        (
            {"document": ("a",) * 20_000, "candidates": (("a",), ("b",) * 10_000)},
            "10,002 words of query and candidates are too many for a document of 20,000; give fewer, or a part",
        ),
    ],
)
def test_what_is_not_a_question(change, message):
    with pytest.raises(ExampleError, match=message):
        Example(**GOOD | change)


def test_an_answer_may_be_unknown():
    assert Example(**GOOD | {"answer": None}).answer is None


def prediction(*probabilities, answer=0):
    candidates = (("Tom",), ("Mary", "Ann"), ("Zoë",))[: len(probabilities)]
    example = Example("1", ("Tom", "Mary"), (PLACEHOLDER,), candidates, answer)
    return Prediction(example, tuple(log(p) if p else -inf for p in probabilities))


def test_a_prediction_ranks_and_prints_as_a_table():
    got = prediction(0.25, 0.75, 0.0)
    assert got.best == "Mary Ann"
    assert [name for name, _ in got.ranking] == ["Mary Ann", "Tom", "Zoë"]
    assert [p for _, p in got.ranking] == pytest.approx([0.75, 0.25, 0])
    assert str(got) == "Mary Ann   75.0%\nTom        25.0%\nZoë         0.0%"


def test_candidates_that_are_not_in_the_document_or_only_in_part():
    got = prediction(0.25, 0.75, 0.0)
    assert (got.absent, got.in_part) == ([2], [1])
    assert (prediction(0.5, 0.5).absent, prediction(0.0, 0.0).absent) == ([], [0, 1])


@pytest.mark.parametrize(
    ("probabilities", "answer", "correct", "answerable"),
    [
        ((0.75, 0.25), 0, True, True),
        ((0.25, 0.75), 0, False, True),
        ((0.5, 0.5), 0, True, True),
        ((0.5, 0.5), 1, False, True),
        ((0.5, 0.5), None, None, True),
        ((0.0, 0.0), 0, False, False),
    ],
)
def test_when_a_prediction_is_correct(probabilities, answer, correct, answerable):
    got = prediction(*probabilities, answer=answer)
    assert got.correct is correct
    assert got.answerable is answerable


def test_did_you_mean():
    assert did_you_mean("multipy", ["multiply", "add"]) == "did you mean 'multiply'? known: add, multiply"
    assert did_you_mean("zzz", ["add"]) == "known: add"


def test_reprs_are_short():
    example = Example("a" * 500, ("b",) * 5000, (PLACEHOLDER, *["b"] * 500), (("b",), ("c",) * 500, *[("d",)] * 90), 1)
    attention = Attention(example.query, (np.zeros((5000, 501), np.float32),), np.zeros(5000, np.float32))
    prediction = Prediction(example, (0.0, *[-inf] * 91), attention)
    assert all(len(repr(each)) < 250 for each in (example, attention, prediction))
    assert repr(replace(example, id="q1", query=("`` Who", PLACEHOLDER, "n't", "?"), answer=0)) == (
        "<Example 'q1': '`` Who ___n’t?', 5,000 words, 92 candidates, answer 'b'>"
    )
    assert repr(Example(**GOOD)) == "<Example '1': '___', 2 words, 2 candidates, answer 'a'>"
    assert repr(attention) == "<Attention over 5,000 words, 1 hop with 501 words of the query>"
    assert repr(Prediction(Example(**GOOD), (log(0.25), log(0.75)))) == "<Prediction 'b' 75.0%, 'a' 25.0% for '___'>"
    assert repr(prediction).startswith("<Prediction 'b' 100.0%, 'c c c")
    assert "89 more for '___ b b b" in repr(prediction)
