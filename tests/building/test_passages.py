"""Passages and questions against the rule written plainly."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gareader.building.passages import PassageConfig, questions
from gareader.errors import ConfigError
from gareader.examples import PLACEHOLDER

WORDS = {"Ann": "NE", "Ben": "NE", "Cay": "NE", "Dot": "NE", "boat": "CN", "hill": "CN", "ran": "V", "in": "P", ".": ""}


def book(seed, sentences=40):
    draw = Random(seed)
    rows = [tuple(draw.choices(list(WORDS), k=draw.randint(1, 6))) for _ in range(sentences)]
    return rows, [[WORDS[word] for word in row] for row in rows]


def made(rows, labels, dropped=frozenset(), **settings):
    return list(questions("title", rows, labels, PassageConfig(**settings), dropped))


@given(st.integers(0, 10_000), st.sampled_from(["NE", "CN", "V", "P"]), st.integers(1, 6), st.integers(1, 9))
def test_every_passage_asks_for_all_its_words_of_the_kind(seed, kind, length, stride):
    rows, labels = book(seed)
    found = made(rows, labels, kind=kind, sentences=length, stride=stride, candidates=3)
    asked = {(question.start, question.answer) for question in found}
    assert len(asked) == len(found)
    expected = set()
    for start in range(0, len(rows) - length, stride):
        document = {word for row in rows[start : start + length] for word in row}
        candidates = (
            {word for word in document if WORDS[word]}
            if kind != "NE"
            else {word for word in document if WORDS[word] in ("NE", "CN")}
        )
        for word in set(rows[start + length]):
            if WORDS[word] == kind and word in document and len(candidates - {word}) >= 2:
                expected.add((start, word))
    assert asked == expected
    for question in found:
        document = {word for row in rows[question.start : question.start + length] for word in row}
        assert set(question.candidates) <= document
        assert question.answer in question.candidates
        assert list(question.candidates) == sorted(set(question.candidates))
        assert len(question.candidates) == 3
        place = question.query.index(PLACEHOLDER)
        assert rows[question.start + length] == (*question.query[:place], question.answer, *question.query[place + 1 :])
        own = {word for word in document if WORDS[word] == kind} - {question.answer}
        of_kind = sum(WORDS[word] == kind for word in question.candidates if word != question.answer)
        assert of_kind == min(2, len(own))


def test_the_same_seed_draws_the_same_questions_and_another_seed_others():
    rows, labels = book(3)
    settings = {"sentences": 5, "candidates": 3}
    assert made(rows, labels, **settings) == made(rows, labels, **settings)
    assert made(rows, labels, **settings) != made(rows, labels, seed=2, **settings)


def test_at_most_so_many_from_a_passage():
    rows, labels = book(4)
    free = made(rows, labels, sentences=8, candidates=3)
    starts = [question.start for question in free]
    assert max(map(starts.count, starts)) > 1
    few = made(rows, labels, sentences=8, candidates=3, most=1)
    assert [question.start for question in few] == sorted(set(starts))
    assert {(q.start, q.answer) for q in few} < {(q.start, q.answer) for q in free}


def test_dropped_passages_give_nothing():
    rows, labels = book(4)
    free = made(rows, labels, sentences=8, candidates=3)
    kept = made(rows, labels, frozenset({free[0].start}), sentences=8, candidates=3)
    assert {question.start for question in kept} == {question.start for question in free} - {free[0].start}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "NEE"}, "kind = 'NEE' is unknown; did you mean 'NE'"),
        ({"sentences": 0}, "sentences = 0 is too small; use 1 or more"),
        ({"stride": 0}, "stride = 0 is too small"),
        ({"candidates": 1}, "candidates = 1 is too small; use 2 or more"),
        ({"most": 0}, "most = 0 is too small"),
    ],
)
def test_impossible_settings(settings, message):
    with pytest.raises(ConfigError, match=message):
        PassageConfig(**settings)
