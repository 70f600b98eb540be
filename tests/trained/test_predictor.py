"""Answers in words."""

import pickle
import random
import re
import shutil
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
import pytest

from gareader.core.errors import ModelError, QuestionError
from gareader.data.examples import PLACEHOLDER, Example, Prediction
from gareader.readers.gated_attention_numpy import GatedAttentionInNumpy
from gareader.readers.settings import GatedAttentionConfig
from gareader.trained.models import BOX
from gareader.trained.predictor import Ensemble, load, untrained
from places import PROJECT

EXAMPLE = Example(
    "story", tuple("Tom saw Mary Ann .".split()), (PLACEHOLDER, "saw"), (("Tom",), ("Mary", "Ann"), ("Zoë",)), None
)


def test_answers_one_question_with_attention():
    prediction = untrained().answer_example(EXAMPLE)
    probabilities = [p for _, p in prediction.ranking]
    assert {c for c, _ in prediction.ranking} == {"Tom", "Mary Ann", "Zoë"}
    assert probabilities == sorted(probabilities, reverse=True)
    assert sum(probabilities) == pytest.approx(1)
    assert prediction.ranking[-1] == ("Zoë", 0.0)
    assert prediction.attention is not None
    assert prediction.attention.query == ("@begin", PLACEHOLDER, "saw", "@end")
    assert [hop.shape for hop in prediction.attention.hops] == [(5, 4), (5, 4)]
    assert prediction.attention.document.shape == (5,)
    assert prediction.attention.document.sum() == pytest.approx(1)


def test_the_seed_decides():
    assert untrained(seed=1).predict([EXAMPLE]) == untrained(seed=1).predict([EXAMPLE])
    assert untrained(seed=1).predict([EXAMPLE]) != untrained(seed=2).predict([EXAMPLE])


def test_many_answers_come_in_order_and_as_if_alone(monkeypatch):
    monkeypatch.setattr("gareader.trained.predictor.WINDOW", 2)  # several windows of six examples
    chance = random.Random(0)
    examples = [
        Example(str(n), tuple(chance.choices("abcd", k=chance.randint(2, 30))), (PLACEHOLDER,), (("a",), ("b",)), 0)
        for n in range(25)
    ]
    reader = untrained(GatedAttentionConfig(hidden=4))
    together = list(reader.answer_many(iter(examples), batch_size=3))
    assert [p.example for p in together] == examples
    for example, prediction in zip(examples, together, strict=True):
        alone = reader.predict([example])[0].log_probabilities
        assert prediction.log_probabilities == pytest.approx(alone, abs=1e-5)


def test_long_documents_are_not_read_together(monkeypatch):
    model = untrained(GatedAttentionConfig(hidden=4))
    sizes: list[int] = []

    def predict(examples):
        sizes.append(len(examples))
        return examples

    monkeypatch.setattr(model, "predict", predict)
    long = replace(EXAMPLE, document=EXAMPLE.document * 80_000)
    wide = replace(EXAMPLE, candidates=EXAMPLE.candidates * 10_000)
    assert len([*model.answer_many([long, EXAMPLE, long, wide, EXAMPLE, wide, long], batch_size=8)]) == 7
    assert sizes == [4, 2, 1]


def test_no_candidate_in_the_document():
    lost = Example("lost", ("x",), (PLACEHOLDER,), (("Tom",), ("Ann",)), None)
    with pytest.raises(QuestionError, match="lost: no candidate occurs in the document"):
        untrained().answer_example(lost)
    assert not untrained().predict([lost])[0].answerable


def test_weights_so_large_that_nothing_can_be_computed():
    model = untrained(GatedAttentionConfig(hidden=8))
    assert isinstance(model.reader, GatedAttentionInNumpy)
    for weights in model.reader.weights.values():
        weights[:] = 1e38 * np.sign(weights)
    with pytest.raises(ModelError, match="its weights are so large that its probabilities are no numbers; take"):
        model.answer_example(EXAMPLE)


def test_threads_share_a_reader():
    reader = untrained(GatedAttentionConfig(hidden=8))
    expected = reader.predict([EXAMPLE])[0].log_probabilities
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: reader.predict([EXAMPLE])[0].log_probabilities, range(32)))
    assert all(answer == expected for answer in answers)


def test_the_attention_of_one_question_does_not_keep_the_batch():
    for prediction in untrained().predict([EXAMPLE, EXAMPLE], attention=True):
        assert prediction.attention is not None
        assert all(hop.flags.owndata for hop in prediction.attention.hops)


STORY = "Tom saw Mary Ann. Mary Ann saw the dog."


def test_raw_questions():
    reader = untrained(GatedAttentionConfig(hidden=4))
    Row = namedtuple("Row", "Index document query")  # as DataFrame.itertuples has it
    given = reader.answer(STORY, "___ saw the dog.", ["Tom", "Mary Ann"])
    proposed = reader.answer(STORY, "Who saw the dog?")
    assert proposed.example.proposed
    cloze, choices = "___ saw the dog.", ["Tom", "Mary Ann"]
    questions: list[tuple[Any, Prediction, str]] = [
        ((STORY, cloze, ("Tom", "Mary Ann")), given, "question:1"),
        ((STORY, "Who saw the dog?"), proposed, "question:2"),
        ([STORY, "Who saw the dog?", None], proposed, "question:3"),
        ({"document": STORY, "query": cloze, "candidates": choices, "answer": "Tom", "id": 7}, given, "7"),
        ({"document": STORY, "query": "Who saw the dog?", "candidates": nan, "other": 5}, proposed, "question:5"),
        ({"document": STORY, "query": cloze, "candidates": np.array(choices), "answer": None}, given, "question:6"),
        (Row(3, STORY, "Who saw the dog?"), proposed, "question:7"),
        (given.example, given, "question"),
    ]
    answers = list(reader.answer_many(question for question, _, _ in questions))
    for answer, (_, expected, name) in zip(answers, questions, strict=True):
        answered = answer.example.answer
        assert answer.example == replace(expected.example, id=name, answer=answered)
        assert answered == (0 if name == "7" else None)
        assert answer.log_probabilities == pytest.approx(expected.log_probabilities, abs=1e-5)


def test_an_examples_record_is_a_question_again():
    example = replace(EXAMPLE, answer=1)
    (answer,) = untrained(GatedAttentionConfig(hidden=4)).answer_many([example.record()])
    assert answer.example == example


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("text", "this is str; give an Example, (document, query)"),
        ((STORY,), "this is tuple; give an Example"),
        ((STORY, None), "query: NoneType where text is due"),
        ((STORY, "___ saw.", 5), "candidates: int where text is due"),
        ((STORY, "___ saw.", "Tom"), "candidates = 'Tom' is one text"),
        ((STORY, "___ saw ___.", ["Tom", "dog"]), "the query has 2 placeholders"),
        (("", "___ saw."), "the document is empty"),
        ({"document": STORY}, "the key 'query' is missing"),
        ({"document": STORY, "qeury": "___ saw."}, "unknown key 'qeury'; did you mean 'query'?"),
        ({"document": 5, "query": "___ saw."}, "the key 'document' holds a number"),
        ({"document": STORY, "query": "___ saw.", "candidates": ["Tom"]}, "1 candidate answer; give at least two"),
    ],
)
def test_an_error_names_the_number_of_the_question_after_the_answers_before_it(question, message):
    answers = untrained(GatedAttentionConfig(hidden=4)).answer_many([EXAMPLE, (STORY, "Who saw the dog?"), question])
    assert [next(answers).example.id for _ in range(2)] == ["story", "question:2"]
    with pytest.raises(QuestionError, match=f"^question 3: {re.escape(message)}"):
        next(answers)


def test_progress_counts_the_answers_and_questions_are_read_as_they_are_needed(monkeypatch):
    monkeypatch.setattr("gareader.trained.predictor.WINDOW", 2)
    taken: list[int] = []
    counts: list[int] = []

    def questions():
        for number in range(10):
            taken.append(number)
            yield EXAMPLE

    answers = untrained(GatedAttentionConfig(hidden=4)).answer_many(questions(), batch_size=2, progress=counts.append)
    assert (taken, counts) == ([], [])
    next(answers)
    assert (len(taken), counts) == (4, [2, 4])
    assert len(list(answers)) == 9
    assert counts == [2, 4, 6, 8, 10]


@pytest.mark.parametrize("name", ["general", "stories-ensemble"])
def test_a_pickle_has_the_name_of_a_model_in_the_box(name):
    model = load(name)
    content = pickle.dumps(model)
    assert len(content) < 200
    assert str(PROJECT).encode() not in content
    assert pickle.loads(content) is model  # noqa: S301
    assert repr(name) in repr(model)
    assert len(repr(model)) < 100


def test_a_pickle_has_the_folder_of_any_other_model(tmp_path):
    shutil.copytree(BOX / "words", tmp_path / "words")
    shutil.copytree(BOX / "cnn", tmp_path / "mine")
    model = load(tmp_path / "mine")
    assert str(tmp_path / "mine") in repr(model)
    content, many = pickle.dumps(model), pickle.dumps(Ensemble([model.permuted(3), load("stories")]))
    assert max(len(content), len(many)) < 1000
    assert pickle.loads(content) is model  # noqa: S301
    again = pickle.loads(many)  # noqa: S301
    assert isinstance(again, Ensemble)
    assert repr(again) == "<Ensemble without a folder of 2 models>"
    assert repr(again.members[0]) == repr(model.permuted(3))
    assert "3 permutations" in repr(again.members[0])
    shutil.rmtree(tmp_path / "mine")
    with pytest.raises(
        ModelError, match=r"mine: the model that was pickled is not there any more; .* put the folder back"
    ):
        pickle.loads(content)  # noqa: S301


def test_a_model_without_a_folder_is_not_pickled():
    assert repr(untrained()) == "<Predictor without a folder, 0 words>"
    with pytest.raises(ModelError, match="this model was not loaded from a folder"):
        pickle.dumps(untrained())
