"""Training questions from written texts: their form, their candidates, and the texts that are held out."""

import json

import pytest

from benchmarks.own_text import read as read_benchmark
from benchmarks.written_questions import TEXTS, FormError, examples, main, read, record
from gareader.core.files import opened
from gareader.data.corpora import read as read_corpus

TEXT = """=== a-1 | letter
The ferry lost a bolt on Monday. Idris Vaughan, the engineer, found it under the rusty anchor.

Selma Crane paid for the inn. Her brother Bo waited on the quay with the blankets.
---
persons: Idris Vaughan; Selma Crane; Bo
places: none that the text names
things: bolt; rusty anchor; quay; blankets
person | The ship could sail again because of ___. | Idris Vaughan; Vaughan; the engineer
person? | Who gave money for the night's lodging? | Selma Crane; Mrs. Crane
noun | It was covered by the ___. | anchor; rusty anchor
noun | The quay was where the ___ were. | quay
person | Two ___ in ___ . | Bo
person | Nobody else than ___. | Somebody
"""


def text_and_questions(content=TEXT):
    (text,) = read(content)
    return text, {each.query: each for each in text.questions}


def test_questions_of_a_text_with_the_answers_that_stand_there():
    text, questions = text_and_questions()
    assert (text.id, text.genre) == ("a-1", "letter")
    assert text.document.startswith("The ferry")
    assert text.document.endswith("blankets.")
    assert "\n\n" in text.document
    assert questions["The ship could sail again because of ___."].answers == (
        "Idris Vaughan",
        "Vaughan",
        "the engineer",
    )
    asked = questions["Who gave money for the night's lodging?"]
    assert (asked.form, asked.kind, asked.answers) == ("question", "person", ("Selma Crane", "Crane"))
    assert asked.candidates == ("Bo", "Idris Vaughan", "Selma Crane")


def test_questions_that_cannot_be_asked_are_left_out():
    _, questions = text_and_questions()
    assert len(questions) == 3  # not: the answer in the query, two blanks, an answer that the text does not have


def test_of_two_spellings_of_the_answer_one_is_a_candidate():
    _, questions = text_and_questions()
    assert questions["It was covered by the ___."].candidates == ("anchor", "blankets", "bolt", "quay")


def test_each_question_stands_there_with_proposed_candidates_and_with_those_of_its_kind():
    text, _ = text_and_questions()
    by_id = {example.id: example for example in examples(text)}
    proposed, own = by_id["a-1-1"], by_id["a-1-1-own"]
    for example in (proposed, own):
        assert example.answer == example.candidates.index(("Idris", "Vaughan"))
        assert not example.proposed
    assert own.candidates == (("Bo",), ("Idris", "Vaughan"), ("Selma", "Crane"))
    assert ("engineer",) not in proposed.candidates  # right too, so it is no wrong answer


def test_one_text_of_ten_is_held_out_in_the_form_of_the_benchmark(tmp_path, capsys):
    texts, train, held_out, proposed = (
        tmp_path / name for name in ("texts.txt", "train.jsonl", "held_out.jsonl", "proposed.jsonl")
    )
    texts.write_text("\n".join(TEXT.replace("a-1", f"a-{number}") for number in range(1, 201)), encoding="utf-8")
    main(texts=texts, train=train, held_out=held_out, proposed=proposed)
    trained = {example.id.split("-")[1] for example in read_corpus(train)}
    kept = {each.id.split("-")[1] for each in read_benchmark(held_out)}
    assert trained.isdisjoint(kept)
    assert {example.id.split("-")[1] for example in read_corpus(proposed)} == kept
    assert not any(example.id.endswith("-own") for example in read_corpus(proposed))
    assert trained | kept == {str(number) for number in range(1, 201)}
    assert 10 <= len(kept) <= 30
    assert f"questions about {len(trained)} texts" in capsys.readouterr().out


def test_held_out_questions_have_candidates():
    text, _ = text_and_questions()
    assert all(len(each["candidates"]) >= 3 for each in record(text)["questions"])
    json.dumps(record(text))


def test_a_text_of_another_form_is_told():
    with pytest.raises(FormError, match=r"=== id \| genre"):
        list(read("=== a-1 | letter\nA text without questions."))


def test_the_texts_beside_the_script_are_not_those_of_the_benchmark():
    with opened(TEXTS) as content:
        texts = list(read(content.read().decode()))
    assert len(texts) == len({text.id for text in texts}) == 3870
    assert sum(len(text.questions) for text in texts) == 46413
    benchmark = {words for each in read_benchmark() for words in runs(each.document, 12)}
    assert not any(words in benchmark for text in texts for words in runs(text.document, 12))


def runs(text, length):
    words = text.lower().split()
    return {tuple(words[i : i + length]) for i in range(len(words) - length + 1)}
