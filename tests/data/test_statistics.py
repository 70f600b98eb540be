"""Corpus statistics by hand, and on the official questions."""

from statistics import fmean

import pytest

from gareader.data.corpora import read
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.statistics import describe

STORY = tuple("Tom met Ann . Ann met Mary Ann .".split())


def question(query, candidates, answer, document=STORY):
    return Example("1", document, tuple(query.split()), tuple(tuple(c.split()) for c in candidates), answer)


def test_counts_and_lengths():
    one = question(f"{PLACEHOLDER} met", ["Tom", "Ann"], 0)
    two = question(f"{PLACEHOLDER} met tom .", ["Tom", "Mary Ann", "Zoë"], None, ("Tom",))
    got = describe([one, two])
    assert (got.examples, got.answers) == (2, 1)
    assert (got.document_words_mean, got.document_words_max) == (5, 9)
    assert (got.query_words_mean, got.query_words_max) == (3, 4)
    assert got.candidates_mean == 2.5
    assert got.vocabulary == len({"Tom", "met", "Ann", ".", "Mary", PLACEHOLDER, "tom", "Zoë"})
    assert got.vocabulary_lowercase == got.vocabulary - 1
    assert got.answer_in_document == 1


@pytest.mark.parametrize(
    ("query", "candidates", "answer", "plain", "exclusive"),
    [
        (PLACEHOLDER, ["Tom", "Ann"], 1, 1, 1),  # Ann three times
        (f"Ann {PLACEHOLDER}", ["Tom", "Ann"], 0, 0, 1),  # Ann is in the query
        (f"Ann Tom {PLACEHOLDER}", ["Tom", "Ann"], 1, 1, 1),  # all are: nothing to pass over
        (PLACEHOLDER, ["Mary Ann", "Tom"], 1, 1, 1),  # once each, Tom is met first
        (PLACEHOLDER, ["Tom", "Mary Ann"], 0, 1, 1),  # in any order
        (PLACEHOLDER, ["Mary Tom", "Zoë"], 0, 0, 0),  # none occurs: no guess
    ],
)
def test_frequency_baselines(query, candidates, answer, plain, exclusive):
    got = describe([question(query, candidates, answer)])
    assert (got.most_frequent_accuracy, got.most_frequent_not_in_query_accuracy) == (plain, exclusive)


@pytest.mark.parametrize(
    ("query", "candidates", "answer", "before", "after", "named", "above"),
    [
        (f"Ann saw {PLACEHOLDER} .", ["Ann", "Tom"], 0, 1, 0, 0, 0),
        (f"{PLACEHOLDER} saw Ann", ["Ann", "Tom"], 0, 0, 1, 0, 0),
        (f"Ann Tom {PLACEHOLDER} saw Ann Ann", ["Tom", "Ann", "Mary Ann"], 0, 1, 0, 1, 1),
        (f"Mary {PLACEHOLDER} Mary Ann", ["Mary Ann", "Tom"], 0, 0, 1, 0, 0),
        (f"Mary Tom {PLACEHOLDER}", ["Zoë", "Mary Ann", "Tom"], 0, 0, 0, 1, 2),
    ],
)
def test_what_the_query_names(query, candidates, answer, before, after, named, above):
    got = describe([question(query, candidates, answer), question(PLACEHOLDER, candidates, None)])
    assert (got.answer_before_blank, got.answer_after_blank) == (before, after)
    assert (got.distractors_in_query_mean, got.distractors_more_frequent_mean) == (named, above)


def test_an_answer_outside_the_document():
    assert describe([question(PLACEHOLDER, ["Zoë", "Tom"], 0)]).answer_in_document == 0


def test_nothing_to_describe():
    got = describe([])
    assert (got.examples, got.document_words_mean, got.answer_in_document) == (0, 0, None)
    assert (got.answer_before_blank, got.distractors_in_query_mean) == (None, None)


def test_official_validation_questions(cbt_questions):
    got = describe(read(cbt_questions.path))
    assert got.candidates_mean == 10
    assert got.answer_in_document == 1
    if not cbt_questions.whole:
        text = cbt_questions.path.read_text(encoding="utf-8")
        questions = [question.split("\n") for question in text.strip().split("\n\n")]
        documents = [[word for line in lines[:20] for word in line.split()[1:]] for lines in questions]
        assert got.examples == len(questions) == 40
        assert got.document_words_mean == fmean(map(len, documents))
        assert got.document_words_max == max(map(len, documents))
        return
    assert got.examples == 2000
    assert (
        got.document_words_mean == 411.5795
    )  # these, and the lower-case vocabulary, are printed in the corpus's stats
    assert got.document_words_max == 801
    assert got.query_words_mean == 25.688
    assert got.query_words_max == 119
    assert got.vocabulary_lowercase == 9443
    assert got.most_frequent_accuracy == pytest.approx(0.32, abs=0.005)
    assert (got.answer_before_blank, got.answer_after_blank) == (0.0325, 0.0425)
