"""Questions that arrive together: read together, each with its own answer, and no more than can be answered."""

import asyncio
import os
import socket
from contextlib import asynccontextmanager
from threading import Event
from threading import enumerate as enumerate_threads

import pytest

import synthetic
from gareader.data.examples import Prediction
from gareader.readers.settings import GatedAttentionConfig
from gareader.serve.batcher import OVERHEAD, Batcher, OverloadedError
from gareader.serve.service import ModelService
from gareader.serve.workers import Workers
from gareader.trained.predictor import untrained
from waiting import wait_until

CORPUS = synthetic.corpus(40, seed=1)


class Slow:
    """A predictor that waits to be let go, and notes its batches."""

    def __init__(self):
        self.began, self.go, self.batches, self.attention = Event(), Event(), [], []
        self.asked = 0  # the questions of all batches that have begun

    def predict(self, examples, *, attention):
        self.asked += len(examples)
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


def renamed(example, id, times=1):
    return type(example)(id, example.document * times, example.query, example.candidates, example.answer)


@asynccontextmanager
async def batching(predictor, **settings):
    limits = {"batch_size": 32, "most_words": 500_000, "client_words": 250_000, "overlap": True}
    batcher = Batcher(predictor, **{**limits, "on_batch": lambda questions: None, **settings})
    yield batcher
    await batcher.close()
    assert batcher.unanswered == 0


@asynccontextmanager
async def blocked(slow, **settings):
    """A batcher whose predictor is at work on one question until `slow.go` is set."""
    async with batching(slow, **settings) as batcher:
        first = batcher.ask(renamed(CORPUS[0], "first"))
        await asyncio.to_thread(slow.began.wait, 10)
        yield batcher
        slow.go.set()
        await first


def test_answers_are_those_of_the_reader_alone():
    predictor = untrained(GatedAttentionConfig(hidden=8))

    async def run():
        async with batching(predictor) as batcher:
            return await asyncio.gather(*map(batcher.ask, CORPUS))

    for example, prediction in zip(CORPUS, asyncio.run(run()), strict=True):
        alone = predictor.predict([example])[0]
        assert prediction.log_probabilities == pytest.approx(alone.log_probabilities, abs=1e-5)
        assert prediction.example is example


def test_what_waits_while_one_is_read_is_read_together(slow):
    seen: list[int] = []

    async def run():
        async with blocked(slow, batch_size=8, on_batch=seen.append) as batcher:
            for each in CORPUS[:20]:
                batcher.ask(each)

    asyncio.run(run())
    assert sorted(seen) == sorted(map(len, slow.batches)) == [1, 4, 8, 8]


def test_beside_a_batch_another_begins_if_it_has_half_of_the_largest_size(slow):
    async def run():
        async with blocked(slow, batch_size=8) as batcher:
            for _ in range(3):
                batcher.ask(renamed(CORPUS[0], "long", 10))
                await asyncio.to_thread(int)  # other threads have their turn
            for each in CORPUS[1:5]:
                batcher.ask(each)
            await asyncio.to_thread(wait_until, lambda: slow.asked > 1)
            assert slow.asked == 5

    asyncio.run(run())


def test_without_overlap_no_batch_begins_beside_another(slow):
    async def run():
        async with blocked(slow, batch_size=8, overlap=False) as batcher:
            for each in CORPUS[1:9]:
                batcher.ask(each)
            assert [thread.name for thread in enumerate_threads()].count("gareader-batcher") == 1

    asyncio.run(run())
    assert [*map(len, slow.batches)] == [1, 8]


def test_attention_is_there_for_those_who_asked():
    async def run():
        async with batching(untrained(GatedAttentionConfig(hidden=4))) as batcher:
            return await batcher.ask(CORPUS[0], attention=True)

    assert asyncio.run(run()).attention is not None


def test_a_bad_question_does_not_spoil_the_others(slow):
    async def run():
        async with blocked(slow) as batcher:
            asked = [batcher.ask(renamed(CORPUS[n], name)) for n, name in enumerate(("good", "bad", "other"))]
            slow.go.set()
            return await asyncio.gather(*asked, return_exceptions=True)

    good, bad, other = asyncio.run(run())
    assert (good.example.id, other.example.id) == ("good", "other")
    assert isinstance(bad, ValueError)


@pytest.mark.parametrize("limit", ["most_words", "client_words"])
def test_too_many_words_are_refused_and_later_ones_taken(slow, limit):
    words = len(CORPUS[1].document) + OVERHEAD

    async def run():
        async with blocked(slow, **{limit: 3 * words}) as batcher:
            asked = [batcher.ask(CORPUS[1]) for _ in range(3)]
            with pytest.raises(OverloadedError) as error:
                batcher.ask(CORPUS[1])
            slow.go.set()
            await asyncio.gather(*asked)
            await batcher.ask(CORPUS[1])
            return error.value.own

    assert asyncio.run(run()) == (limit == "client_words")


def test_words_are_counted_for_each_client(slow):
    words = len(CORPUS[1].document) + OVERHEAD

    async def run():
        async with blocked(slow, client_words=2 * words) as batcher:
            for client in "ab":
                batcher.ask(CORPUS[1], client=client)
                batcher.ask(CORPUS[1], client=client)
            with pytest.raises(OverloadedError):
                batcher.ask(CORPUS[1], client="a")
            batcher.ask(CORPUS[1], client="c")

    asyncio.run(run())


def test_a_short_question_passes_long_ones_and_is_not_refused_because_of_them(slow):
    async def run():
        long = [renamed(CORPUS[1], f"long {n}", 100) for n in range(3)]
        async with blocked(slow, client_words=3 * (len(long[0].document) + OVERHEAD), batch_size=1) as batcher:
            for each in long:
                batcher.ask(each)
            with pytest.raises(OverloadedError):
                batcher.ask(long[0])
            batcher.ask(renamed(CORPUS[1], "short"))

    asyncio.run(run())
    assert slow.batches == [["first"], ["short"], ["long 0"], ["long 1"], ["long 2"]]


def test_a_long_question_is_not_passed_for_ever(slow, monkeypatch):
    time = [0.0]
    monkeypatch.setattr("gareader.serve.batcher.monotonic", lambda: time[0])

    async def run():
        async with blocked(slow, batch_size=1) as batcher:
            long = renamed(CORPUS[1], "long", 100)
            batcher.ask(long)
            time[0] += (len(long.document) + OVERHEAD) * 0.001
            batcher.ask(renamed(CORPUS[1], "short"))

    asyncio.run(run())
    assert slow.batches == [["first"], ["long"], ["short"]]


def test_who_gives_up_is_passed_over(slow):
    async def run():
        async with blocked(slow) as batcher:
            second, third = (batcher.ask(example) for example in CORPUS[1:3])
            assert second.cancel()
            slow.go.set()
            await third

    asyncio.run(run())
    assert slow.batches == [["first"], [CORPUS[2].id]]


def test_who_gives_up_while_it_is_read_gets_nothing(slow):
    async def run():
        async with batching(slow) as batcher:
            first = batcher.ask(CORPUS[0])
            await asyncio.to_thread(slow.began.wait, 10)
            first.cancel()
            slow.go.set()
            assert await batcher.ask(CORPUS[1])

    asyncio.run(run())


def test_closing_answers_what_was_asked(slow):
    async def run():
        async with batching(slow) as batcher:
            asked = [batcher.ask(example) for example in CORPUS[:10]]
            slow.go.set()
        return [each.done() for each in asked]

    assert asyncio.run(run()) == [True] * 10


def test_documents_of_very_different_length_are_read_apart(slow):
    async def run():
        async with blocked(slow) as batcher:
            for name, times in (("short", 1), ("long", 10), ("short", 1), ("long", 10)):
                batcher.ask(renamed(CORPUS[0], name, times))

    asyncio.run(run())
    assert slow.batches == [["first"], ["short", "short"], ["long", "long"]]


def test_only_so_many_words_are_read_together(slow):
    short = CORPUS[0]
    long = type(short)("long", ("word",) * 12_000, short.query, short.candidates, short.answer)

    async def run():
        async with blocked(slow) as batcher:
            for _ in range(5):
                batcher.ask(long)

    asyncio.run(run())
    assert [len(batch) for batch in slow.batches] == [1, 2, 2, 1]


def test_neighbours_in_a_batch_have_similar_lengths(slow):
    async def ask():
        async with batching(slow) as batcher:
            first = batcher.ask(renamed(CORPUS[0], "first"))
            await asyncio.to_thread(slow.began.wait, 10)
            times = {"long": 4, "short": 3, "longest": 5}
            later = [batcher.ask(renamed(CORPUS[0], name, count)) for name, count in times.items()]
            slow.go.set()
            await asyncio.gather(first, *later)

    asyncio.run(ask())
    assert slow.batches == [["first"], ["short", "long", "longest"]]


def test_workers_share_the_size_of_a_batch():
    service = ModelService({}, batch_size=32)
    with socket.socket() as listener:
        workers = Workers(service, listener, 3, lambda: None)
    os.close(workers.alive)
    os.close(workers.alive_here)
    assert service.batch_size == 10


def test_those_who_ask_for_attention_are_read_apart(slow):
    async def run():
        async with blocked(slow) as batcher:
            for n, wish in enumerate((True, False, True, False)):
                batcher.ask(renamed(CORPUS[0], str(n)), attention=wish)

    asyncio.run(run())
    assert slow.attention == [False, True, False]
    assert slow.batches == [["first"], ["0", "2"], ["1", "3"]]
