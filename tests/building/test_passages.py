"""Passages and questions against the rule written plainly."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gareader.building.kinds import RARE
from gareader.building.passages import PassageConfig, questions
from gareader.core.errors import ConfigError
from gareader.data.examples import PLACEHOLDER

WORDS = {"Ann": "NE", "Ben": "NE", "Cay": "NE", "Dot": "NE", "ogre": RARE, "elf": RARE, "boat": "CN", "hill": "CN"}
WORDS |= {"ran": "V", "in": "P", ".": ""}


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
    asked = ("NE", RARE) if kind == "NE" else (kind,)
    expected = []
    for start in range(0, len(rows) - length, stride):
        document = {word for row in rows[start : start + length] for word in row}
        wrong = {word for word in document if WORDS[word] and (kind != "NE" or WORDS[word] in ("NE", RARE, "CN"))}
        for place, word in enumerate(rows[start + length]):
            if WORDS[word] in asked and word in document and len(wrong - {word}) >= 2:
                expected.append((start, place, word))
    assert [(question.start, question.query.index(PLACEHOLDER), question.answer) for question in found] == expected
    for question in found:
        document = {word for row in rows[question.start : question.start + length] for word in row}
        assert set(question.candidates) <= document
        assert question.answer in question.candidates
        assert list(question.candidates) == sorted(set(question.candidates))
        assert len(question.candidates) == 3
        place = question.query.index(PLACEHOLDER)
        assert rows[question.start + length] == (*question.query[:place], question.answer, *question.query[place + 1 :])
        own = {word for word in document if WORDS[word] == kind} - {question.answer}
        of_kind = sum(word in own for word in question.candidates)
        if kind == "NE" and any(WORDS[word] == RARE for word in question.candidates if word != question.answer):
            assert of_kind <= min(2, len(own))
        else:
            assert of_kind == min(2, len(own))


def test_a_word_that_stands_twice_in_the_query_is_asked_twice():
    rows = [("Ann", "Ben", "ran"), ("Ann", "in", "Ann", ".")]
    labels = [[WORDS[word] for word in row] for row in rows]
    found = made(rows, labels, sentences=1, candidates=2)
    assert [question.query for question in found] == [
        (PLACEHOLDER, "in", "Ann", "."),
        ("Ann", "in", PLACEHOLDER, "."),
    ]
    assert [question.answer for question in found] == ["Ann", "Ann"]


def test_rare_nouns_are_asked_for_like_names_and_about_half_count_as_such_among_wrong_answers():
    rare, common = ([f"{kind}{number}" for number in range(size)] for kind, size in (("rare", 6), ("common", 12)))
    rows = [("Ann", "Ben", "ogre", *rare, *common), ("Ann", "ogre")] * 300
    labels = [["NE" if word[0].isupper() else "CN" if word in common else RARE for word in row] for row in rows]
    found = [question for question in made(rows, labels, sentences=1) if question.start % 2 == 0]
    assert {question.answer for question in found} == {"Ann", "ogre"}
    assert all("Ben" in question.candidates for question in found)
    share = sum(word in question.candidates for question in found for word in rare) / len(found) / len(rare)
    assert 0.6 < share < 0.8  # 0.55 of them, and some of the rest among the common nouns that fill up


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
    assert {(q.start, q.query) for q in few} < {(q.start, q.query) for q in free}


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
