"""The questions of benchmarks/own_text.jsonl are sound, and the benchmark counts as it says."""

import json
import re
from collections import Counter
from math import log

import pytest

from benchmarks.own_text import QUESTIONS, Question, measure, normalised, outcome, read
from gareader.core.errors import QuestionError
from gareader.data.examples import Prediction
from gareader.data.text import question

TEXTS = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
ASKED = list(read())
KINDS = {"person", "place", "organisation", "name", "noun", "date", "number", "verb", "adjective"}


def words(text):
    return re.findall(r"\w+", text.lower())


def stands_in(phrase, text):
    return f" {' '.join(words(phrase))} " in f" {' '.join(words(text))} "


def test_texts_and_genres():
    assert len(TEXTS) >= 30
    assert len({text["genre"] for text in TEXTS}) >= 12
    assert all(set(text) == {"id", "genre", "document", "questions"} for text in TEXTS)
    assert all(120 <= len(text["document"].split()) <= 450 for text in TEXTS)
    assert all(5 <= len(text["questions"]) <= 8 for text in TEXTS)


def test_names_are_unique():
    assert len({text["id"] for text in TEXTS}) == len({text["document"] for text in TEXTS}) == len(TEXTS)
    assert len({each.id for each in ASKED}) == len({each.query for each in ASKED}) == len(ASKED)


def test_kinds_have_their_shares():
    assert len(ASKED) >= 180
    kinds = Counter(each.kind for each in ASKED)
    assert set(kinds) == KINDS
    shares = {
        ("person",): 0.45,
        ("place", "organisation", "name"): 0.2,
        ("noun",): 0.2,
        ("date", "number"): 0.1,
        ("verb", "adjective"): 0.05,
    }
    for some, expected in shares.items():
        assert sum(kinds[kind] for kind in some) / len(ASKED) == pytest.approx(expected, abs=0.03)


def test_ordinary_questions_are_spread_over_the_texts():
    with_one = [text for text in TEXTS if any(each["form"] == "question" for each in text["questions"])]
    assert len(with_one) >= 20


def test_persons_compete_for_the_answer():
    """In most texts four or more choices stand beside each other in a question about persons or names."""
    kinds = {"person", "place", "organisation", "name"}
    crowded = [
        text
        for text in TEXTS
        if any(each["kind"] in kinds and len(each["candidates"]) > 4 for each in text["questions"])
    ]
    assert len(crowded) >= 25


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.id)
def test_a_question_is_sound(asked):
    if asked.form == "cloze":
        assert asked.query.count("___") == 1
        assert len(re.findall("_+", asked.query)) == 1
    else:
        assert asked.form == "question"
        assert "_" not in asked.query
        assert asked.query.endswith("?")
    for phrase in (*asked.answers, *asked.candidates):
        assert stands_in(phrase, asked.document), phrase
    acceptable = {normalised(answer) for answer in asked.answers}
    spelled = [normalised(candidate) for candidate in asked.candidates]
    assert 4 <= len(spelled) == len(set(spelled)) <= 8
    assert sum(candidate in acceptable for candidate in spelled) == 1
    assert list(asked.candidates) == sorted(asked.candidates, key=str.lower)  # their order says nothing
    for part in asked.query.split("___"):  # nothing is copied from the text, but for common turns of five words
        run = words(part)
        assert not any(stands_in(" ".join(run[i : i + 6]), asked.document) for i in range(len(run) - 5))
    assert not any(stands_in(answer, asked.query) for answer in asked.answers)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the Lighthouse", "lighthouse"),
        ("Mrs. Tully", "tully"),
        ("Samir 's father", "Samir's father"),
        ("His father , Dr. Low", "father, Dr Low"),
        ("the doctor", "Doctor"),
        ("$ 1,400", "1400"),
    ],
)
def test_spellings_of_one_answer_are_equal(one, other):
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Maria Lopez", "Lopez"), ("old man", "man"), ("theatre", "atre"), ("Anna", "Anne"), ("the", "")]
)
def test_nothing_looser_is_equal(one, other):
    assert normalised(one) != normalised(other)


def asked(id, form="cloze", kind="person"):
    answers, candidates = ("Ann Lee", "Lee"), ("Ann Lee", "Bob", "Cid", "Dot")
    return Question(
        id, form, "___ sings.", answers, candidates, kind, "news", "Ann Lee met Bob, Cid and Dot. Bob left."
    )


def singer(name, probability):
    """A system that has one answer; without candidates it proposes Bob and Cid."""

    def answer(document, query, candidates):
        if name == "nobody":
            raise QuestionError("who?")
        example = question(document, query, candidates or ["Bob", "Cid"])
        rest = (1 - probability) / (len(example.candidates) - 1)
        best = example.candidates.index(tuple(name.split())) if candidates else 0
        shares = (log(probability if i == best else rest) for i in range(len(example.candidates)))
        return Prediction(example, tuple(shares))

    return answer


def test_outcomes_of_a_question():
    right = outcome(singer("Ann Lee", 0.7), asked("1"), given=True)
    assert (right.answer, right.correct, right.among, right.error) == ("Ann Lee", True, True, None)
    assert right.confidence == pytest.approx(0.7)
    wrong = outcome(singer("Ann Lee", 0.7), asked("1"), given=False)
    assert (wrong.answer, wrong.correct, wrong.among, wrong.error) == ("Bob", False, False, None)
    broken = outcome(singer("nobody", 0.7), asked("1"), given=True)
    assert (broken.answer, broken.correct, broken.confidence, broken.error) == (None, False, None, "QuestionError")


def test_groups_and_calibration():
    questions = [asked("1"), asked("2", kind="noun"), asked("3", form="question")]
    result = measure("singer", singer("Ann Lee", 0.7), questions, calibrated=True)
    rows = {row.group: (row.given.correct, row.proposed.correct, row.given.questions) for row in result.rows}
    assert rows == {
        "cloze": (2, 0, 2),
        "ordinary questions": (1, 0, 1),
        "all": (3, 0, 3),
        "person": (1, 0, 1),
        "noun": (1, 0, 1),
        "news": (2, 0, 2),
    }
    assert {row.guess for row in result.rows} == {0.25}
    assert (result.calibration_given, result.calibration_proposed) == pytest.approx((0.3, 0.7))
    assert (result.errors_given, result.errors_proposed) == (0, 0)
    broken = measure("nobody", singer("nobody", 0.7), questions, calibrated=True)
    assert (broken.errors_given, broken.calibration_given) == (2, None)
