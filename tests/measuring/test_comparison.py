"""Readers compared by their predictions: known values, and every complaint."""

import json
from math import comb

import pytest

from gareader.core.errors import CorpusError, GareaderError
from gareader.measuring.comparison import Outcomes, compare_with_models, compare_with_number, read_outcomes


def outcomes(name, marks):
    """From a text with + for each right answer and - for each wrong one."""
    return Outcomes(name, {str(number): mark == "+" for number, mark in enumerate(marks)})


def written(path, *rows):
    """A file of predictions; a row that is text is written as it is."""
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_outcomes_are_read_from_a_predictions_file(tmp_path):
    path = written(
        tmp_path / "a.jsonl",
        {"id": "one", "ranking": [["a", 1.0]], "answer": "a", "correct": True},
        {"id": 2, "correct": False},
        "",
        {"id": "three", "best": "a", "ranking": [{"answer": "a", "probability": 1.0}], "absent": [], "correct": True},
    )
    found = read_outcomes(path)
    assert found == Outcomes(str(path), {"one": True, "2": False, "three": True})
    assert found.accuracy == 2 / 3


def test_against_a_published_number():
    reader = Outcomes("reader", {str(n): n < 1872 for n in range(2500)})  # 74.9 %
    comparison = compare_with_number(reader, 0.732)
    assert comparison.p_value == pytest.approx(0.028, abs=1e-3)
    assert (comparison.accuracy, comparison.other_accuracy, comparison.examples) == (0.7488, 0.732, 2500)
    assert comparison.other == "the published 73.2 %"
    assert comparison.test == "one-sample proportion test, one-sided"
    assert compare_with_number(reader, 0.7488).p_value == pytest.approx(0.5)
    assert compare_with_number(reader, 0.76).p_value > 0.9


def test_mcnemar_by_hand():
    #          both, only the first, only the second, neither
    first = outcomes("first", "++++++++---")
    second = outcomes("second", "+++-----+--")
    (comparison,) = compare_with_models(first, [second])
    # 5 or 6 of the 6 that one alone got right, by a fair coin
    assert comparison.p_value == pytest.approx((comb(6, 5) + comb(6, 6)) / 2**6)
    assert (comparison.accuracy, comparison.other_accuracy, comparison.examples) == (8 / 11, 4 / 11, 11)
    assert (comparison.other, comparison.test) == ("second", "exact McNemar test, one-sided")
    (reverse,) = compare_with_models(second, [first])
    assert reverse.p_value == pytest.approx(1 - 1 / 2**6)


def test_the_order_of_the_questions_does_not_matter():
    first = Outcomes("first", {"a": True, "b": True, "c": False})
    second = Outcomes("second", {"c": False, "b": False, "a": True})
    (comparison,) = compare_with_models(first, [second])
    assert comparison.p_value == 0.5


def test_several_readers_are_adjusted_by_holm():
    first = outcomes("first", "++++++++")
    others = [outcomes("near", "+++++++-"), outcomes("far", "--------"), outcomes("middle", "++++----")]
    comparisons = compare_with_models(first, others)
    assert [c.other for c in comparisons] == ["near", "far", "middle"]
    assert [c.p_value for c in comparisons] == pytest.approx([1 / 2, 3 / 2**8, 2 / 2**4])
    assert {c.test for c in comparisons} == {"exact McNemar test, one-sided, Holm-adjusted"}


def test_an_equal_reader_is_not_better():
    first = outcomes("first", "++--")
    assert compare_with_models(first, [first])[0].p_value == 1.0


def complaint(path):
    with pytest.raises(CorpusError) as error:
        read_outcomes(path)
    return str(error.value)


GOOD = {"id": "one", "correct": True}


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ("{broken", "not a prediction (Expecting property name"),
        ('"text"', "not a prediction (a text where an object is due)"),
        ("[]", "not a prediction (a list where an object is due)"),
        ("[" * 100_000, "not a prediction (it is nested too deeply)"),
        ('{"id": ' + "1" * 5000 + "}", "not a prediction (a number has thousands of digits"),
        ({"correct": True}, "the key 'id' is missing; a prediction has id and correct"),
        ({"id": "two"}, "the key 'correct' is missing"),
        ({"id": "two", "correct": None}, "whether the answer is right is not known; evaluate questions with answers"),
        ({"id": "two", "correct": "yes"}, "whether the answer is right is not known"),
        (GOOD, "the question 'one' is there twice; give each question an id of its own"),
    ],
)
def test_a_bad_line_is_told_with_its_number(tmp_path, bad, problem):
    path = written(tmp_path / "a.jsonl", GOOD, bad)
    assert complaint(path).startswith(f"{path}:2: {problem}")


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_a_file_without_predictions(tmp_path, text):
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    assert complaint(path) == f"{path}: holds no predictions; make them with gareader evaluate --predictions"


def test_a_file_that_cannot_be_read(tmp_path):
    missing = tmp_path / "missing.jsonl"
    assert complaint(missing).startswith(f"{missing}: cannot be read: ")
    path = tmp_path / "latin.jsonl"
    path.write_bytes(b'{"id": "caf\xe9", "correct": true}\n')
    assert complaint(path).startswith(f"{path}: cannot be read: 'utf-8' codec")


@pytest.mark.parametrize(
    ("marks", "told"), [("++", "1 (2)"), ("", "3 (0, 1, 2)"), ("++++++++", "5 (3, 4, 5, …)")], ids=str
)
def test_different_questions(marks, told):
    with pytest.raises(GareaderError) as error:
        compare_with_models(outcomes("first", "+++"), [outcomes("second", marks)])
    assert str(error.value) == (
        f"first and second do not hold the same questions: in one only are {told}; "
        "evaluate both models on the same corpus"
    )


@pytest.mark.parametrize(
    ("published", "told"), [(73.2, 7320), (0.0, 0), (1.0, 100), (-0.1, -10), (float("nan"), "nan")]
)
def test_a_published_accuracy_is_a_share(published, told):
    with pytest.raises(GareaderError) as error:
        compare_with_number(outcomes("first", "+"), published)
    assert str(error.value) == f"a published accuracy is between 0 and 100 %, not {told}"
