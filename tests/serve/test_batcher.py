"""Questions that arrive together: read together, each with its own answer, and no more than can be answered."""

from concurrent.futures import CancelledError, wait
from functools import partial
from threading import Event

import pytest

import synthetic
from gareader.data.examples import Prediction
from gareader.readers.settings import GatedAttentionConfig
from gareader.serve.batcher import Batcher, OverloadedError
from gareader.trained.predictor import untrained

CORPUS = synthetic.corpus(40, seed=1)


class Slow:
    """A predictor that waits to be let go, and notes its batches."""

    def __init__(self):
        self.began, self.go, self.batches, self.attention = Event(), Event(), [], []

    def predict(self, examples, *, attention):
        self.began.set()
        self.go.wait(10)
        self.attention.append(attention)
        self.batches.append([example.id for example in examples])
        if any(example.id == "bad" for example in examples):
            raise ValueError("bad")
        return [Prediction(example, (0.0,) * len(example.candidates)) for example in examples]


@pytest.fixture
def slow():
    return Slow()


def renamed(example, id):
    return type(example)(id, example.document, example.query, example.candidates, example.answer)


def returning(example):
    return lambda: example


def test_answers_are_those_of_the_reader_alone():
    predictor = untrained(GatedAttentionConfig(hidden=8))
    batcher = Batcher(predictor)
    futures = [batcher.ask(returning(example)) for example in CORPUS]
    for example, future in zip(CORPUS, futures, strict=True):
        alone = predictor.predict([example])[0]
        assert future.result(10).log_probabilities == pytest.approx(alone.log_probabilities, abs=1e-5)
        assert future.result().example is example
    batcher.close()
    assert batcher.waiting == 0


def test_what_waits_while_one_is_read_is_read_together(slow):
    batcher = Batcher(slow, batch_size=8)
    futures = [batcher.ask(returning(example)) for example in CORPUS[:20]]
    slow.go.set()
    wait(futures, 10)
    sizes = [len(batch) for batch in slow.batches]
    assert sum(sizes) == 20
    assert max(sizes) == 8
    assert len(sizes) <= 4  # the first may have begun alone
    batcher.close()


def test_attention_is_there_for_those_who_asked():
    batcher = Batcher(untrained(GatedAttentionConfig(hidden=4)))
    asked = batcher.ask(lambda: CORPUS[0], attention=True)
    assert asked.result(10).attention is not None
    batcher.close()


def test_a_bad_question_does_not_spoil_the_others(slow):
    batcher = Batcher(slow)
    names = ("good", "bad", "other")
    good, bad, other = (batcher.ask(partial(renamed, CORPUS[n], name)) for n, name in enumerate(names))
    slow.go.set()
    assert good.result(10).example.id == "good"
    assert other.result(10).example.id == "other"
    with pytest.raises(ValueError, match="bad"):
        bad.result(10)
    batcher.close()
    assert batcher.waiting == 0


def test_a_text_that_makes_no_question_is_told_to_whoever_asked(slow):
    batcher = Batcher(slow)
    broken = batcher.ask(lambda: CORPUS[1000])
    slow.go.set()
    with pytest.raises(IndexError):
        broken.result(10)
    assert batcher.ask(lambda: CORPUS[0]).result(10)
    batcher.close()


def test_too_many_questions_are_refused_and_later_ones_taken(slow):
    batcher = Batcher(slow, most_waiting=5)
    first = [batcher.ask(returning(example)) for example in CORPUS[:5]]
    with pytest.raises(OverloadedError):
        batcher.ask(lambda: CORPUS[5])
    slow.go.set()
    wait(first, 10)
    assert batcher.ask(lambda: CORPUS[5]).result(10)
    batcher.close()


def test_who_gives_up_is_passed_over(slow):
    batcher = Batcher(slow)
    first = batcher.ask(lambda: CORPUS[0])
    assert slow.began.wait(10)
    second, third = (batcher.ask(returning(example)) for example in CORPUS[1:3])
    assert second.cancel()
    slow.go.set()
    assert first.result(10)
    assert third.result(10)
    with pytest.raises(CancelledError):
        second.result(1)
    batcher.close()
    assert slow.batches == [[CORPUS[0].id], [CORPUS[2].id]]
    assert batcher.waiting == 0


def test_closing_answers_what_was_asked(slow):
    batcher = Batcher(slow)
    futures = [batcher.ask(returning(example)) for example in CORPUS[:10]]
    slow.go.set()
    batcher.close()
    assert all(future.done() for future in futures)


def test_documents_of_very_different_length_are_read_apart(slow):
    short = CORPUS[0]
    long = type(short)("long", short.document * 10, short.query, short.candidates, short.answer)
    batcher = Batcher(slow)
    blocker = batcher.ask(lambda: short)
    futures = [batcher.ask(returning(each)) for each in (short, long, short, long)]
    slow.go.set()
    wait([blocker, *futures], 10)
    assert all(len(set(batch) & {"long"}) == 0 or set(batch) == {"long"} for batch in slow.batches)
    batcher.close()


def test_only_so_many_words_are_read_together(slow):
    short = CORPUS[0]
    long = type(short)("long", ("word",) * 12_000, short.query, short.candidates, short.answer)
    batcher = Batcher(slow)
    blocker = batcher.ask(lambda: short)
    assert slow.began.wait(10)
    futures = [batcher.ask(lambda: long) for _ in range(5)]
    slow.go.set()
    wait([blocker, *futures], 10)
    assert [len(batch) for batch in slow.batches] == [1, 2, 2, 1]
    batcher.close()


def test_those_who_ask_for_attention_are_read_apart(slow):
    batcher = Batcher(slow)
    blocker = batcher.ask(lambda: CORPUS[0])
    assert slow.began.wait(10)
    wishes = (True, False, True, False)
    futures = [batcher.ask(returning(CORPUS[n]), attention=wish) for n, wish in enumerate(wishes, 1)]
    slow.go.set()
    wait([blocker, *futures], 10)
    assert slow.attention == [False, False, True]
    assert [{*batch} for batch in slow.batches[1:]] == [{CORPUS[n].id for n in (2, 4)}, {CORPUS[n].id for n in (1, 3)}]
    batcher.close()
