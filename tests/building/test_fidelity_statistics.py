"""The table of official and built questions, by hand."""

import pytest

from gareader.building.fidelity import Profile, Row, side_by_side, word_class
from gareader.data.examples import PLACEHOLDER, Example

DOCUMENT = tuple("Ann met Ben and Ben met an ogre one day in the house .".split())


def question(query, answer, *wrong):
    candidates = tuple((word,) for word in (answer, *wrong))
    return Example("q", DOCUMENT, tuple(query.replace("XXXXX", PLACEHOLDER).split()), candidates, 0)


def profile(*passages):
    made = Profile()
    for passage in passages:
        made.add(passage)
    return made


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("Ann", "capitalised"),
        ("A", "capitalised"),
        ("ANN", "capitals"),
        ("day", "listed"),
        ("first", "listed"),
        ("fire", "listed"),
        ("old", "listed"),
        ("house", "often"),
        ("ogre", "seldom"),
        ("princesses", "seldom"),
        ("''", None),
        ("1984", None),
    ],
)
def test_classes_of_words(word, name):
    assert word_class(word) == name


def test_a_row_differs_by_more_than_a_quarter():
    assert [Row("", "", 0.4, built).differs for built in (0.29, 0.31, 0.49, 0.51)] == [True, False, False, True]
    assert Row("", "", 0.4, 0.3).ratio == pytest.approx(0.75)
    assert (Row("", "", 0, 0.1).ratio, Row("", "", 0, 0.1).differs, Row("", "", 0, 0).differs) == (None, True, False)


def test_the_table_by_hand():
    official = profile(
        [question("Ben saw XXXXX", "Ann", "Ben", "house")], [question("XXXXX ran", "ogre", "day", "Ben")]
    )
    built = profile(
        [question("XXXXX ran", "Ben", "Ann", "ANN"), question("so XXXXX and Ann ran", "Ann", "day", "ogre")]
    )
    rows = {row.name: (row.official, row.built) for row in side_by_side(official, built)}
    assert rows["answer_before_blank"] == (0, 0)
    assert rows["answer_after_blank"] == (0, 0.5)
    assert rows["distractors_in_query_mean"] == (0.5, 0)
    assert rows["distractors_more_frequent_mean"] == (1, 0)
    assert rows["most_frequent_accuracy"] == (0, 1)
    assert rows["answers_capitalised"] == (0.5, 1)
    assert rows["answers_seldom"] == (0.5, 0)
    assert rows["distractors_capitalised"] == (0.5, 0.25)
    assert rows["distractors_capitals"] == (0, 0.25)
    assert rows["distractors_listed"] == (0.25, 0.25)
    assert rows["distractors_often"] == (0.25, 0)
    assert rows["questions_per_passage"] == (1, 2)


def test_questions_per_passage_are_those_of_as_many_questions():
    one = question("XXXXX ran", "Ann", "Ben")
    many = profile(*[[one, one]] * 50)
    assert many.per_passage(100) == 2
    assert many.per_passage(50) == pytest.approx(4 / 3)  # of two one is drawn twice as often as both
    assert profile([one]).per_passage(100) == 1


def test_a_profile_grows_by_another():
    passages = [[question("XXXXX ran", "Ann", "Ben")], [question("XXXXX ran", "ogre", "Ben")] * 2]
    whole, part = profile(*passages), profile(passages[0])
    part.merge(profile(passages[1]))
    assert side_by_side(whole, part) == side_by_side(whole, whole)
    assert part.questions == 3
