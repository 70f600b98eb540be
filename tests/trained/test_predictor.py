"""Answers in words."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from gareader.core.errors import QuestionError
from gareader.data.examples import PLACEHOLDER, Example
from gareader.readers.settings import GatedAttentionConfig
from gareader.trained.predictor import untrained

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


def test_no_candidate_in_the_document():
    lost = Example("lost", ("x",), (PLACEHOLDER,), (("Tom",), ("Ann",)), None)
    with pytest.raises(QuestionError, match="lost: no candidate occurs in the document"):
        untrained().answer_example(lost)
    assert not untrained().predict([lost])[0].answerable


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
