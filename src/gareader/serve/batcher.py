"""Batching of questions that arrive at the same time."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Condition, Thread
from time import monotonic

from gareader.data.examples import Example, Prediction
from gareader.trained.predictor import Answering

BATCH_WORDS = 32_000
"""The most document words of a batch, with padding: with queries of 1,000 words, 128 MB of attention per hop."""
OVERHEAD = 50
"""A question counts as its document's words and so many more."""
SECONDS_PER_WORD = 0.001
"""A question lets others pass that come less than this later for each word that they are shorter."""


class OverloadedError(Exception):
    """Too many words wait; `own` if they are those of the client that has asked."""

    def __init__(self, *, own: bool) -> None:
        super().__init__()
        self.own = own


@dataclass(frozen=True, eq=False)
class _Waiting:
    example: Example
    attention: bool
    client: str
    words: int
    turn: float
    answer: asyncio.Future[Prediction]


class Batcher:
    """Threads answer the questions to one model: the next batch is the first question in turn and those like it.

    No question waits for a batch to fill: a single question is read at once, and batches grow with the load. Under
    load two overlap: one is in the native kernel, without Python's lock, while the words of the other become arrays.
    The second must have half of the largest size: long texts, of which few go into a batch, never keep both threads
    busy. Short questions pass long ones, but not for ever. A question whose future is cancelled is not read.
    """

    def __init__(
        self,
        predictor: Answering,
        *,
        batch_size: int,
        most_words: int,
        client_words: int,
        overlap: bool,
        on_batch: Callable[[int], None],
    ) -> None:
        """To be made, asked and closed in one event loop.

        With `overlap` a second batch may begin beside another; `on_batch` gets the size of each.
        """
        self.predictor, self.batch_size, self.on_batch = predictor, batch_size, on_batch
        self.most_words, self.client_words = most_words, client_words
        self.unanswered = 0
        """The questions without an answer, those that are being read among them."""
        self._loop = asyncio.get_running_loop()
        self._changed = Condition()
        self._waiting: list[_Waiting] = []
        self._reading = 0
        self._closed = False
        self._threads = [
            Thread(target=self._work, args=[second], name="gareader-batcher", daemon=True)
            for second in ((False, True) if overlap else (False,))
        ]
        for thread in self._threads:
            thread.start()

    def ask(self, example: Example, *, attention: bool = False, client: str = "") -> asyncio.Future[Prediction]:
        """Queue a question; raise OverloadedError if too many words of questions no longer than it wait before it."""
        words = len(example.document) + OVERHEAD
        turn = monotonic() + words * SECONDS_PER_WORD
        question = _Waiting(example, attention, client, words, turn, self._loop.create_future())
        with self._changed:
            before = [each for each in self._waiting if each.words <= words and not each.answer.done()]
            if words + sum(each.words for each in before if each.client == client) > self.client_words:
                raise OverloadedError(own=True)
            if words + sum(each.words for each in before) > self.most_words:
                raise OverloadedError(own=False)
            self._waiting.append(question)
            self._changed.notify_all()
        self.unanswered += 1
        question.answer.add_done_callback(self._done)
        return question.answer

    async def close(self) -> None:
        """Answer the questions in the queue, then stop the threads."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            await asyncio.to_thread(thread.join)
        await asyncio.sleep(0)  # the answers of the last batch

    def _done(self, answer: asyncio.Future[Prediction]) -> None:  # noqa: ARG002
        self.unanswered -= 1

    def _work(self, second: bool) -> None:
        while batch := self._next(second):
            self._answer(batch)
            with self._changed:
                self._reading -= 1
                self._changed.notify_all()

    def _next(self, second: bool) -> list[_Waiting]:
        """Wait for the next batch; it is empty after `close`. The second thread, with memory of its own, only helps."""
        with self._changed:
            while True:
                self._waiting = [each for each in self._waiting if not each.answer.done()]
                batch = next_batch(self._waiting, self.batch_size)
                least = max(2, self.batch_size // 2) if self._reading else 1
                if len(batch) >= least and (self._reading or not second):
                    break
                if self._closed and not self._waiting:
                    return []
                self._changed.wait()
            chosen = set(batch)
            self._waiting = [each for each in self._waiting if each not in chosen]
            self._reading += 1
            return batch

    def _answer(self, batch: list[_Waiting]) -> None:
        try:
            results: Sequence[Prediction | Exception] = self.predictor.predict(
                [each.example for each in batch], attention=batch[0].attention
            )
        except Exception as error:  # noqa: BLE001 - the client gets it
            if len(batch) > 1:
                for each in batch:  # an error of one question must not fail the others
                    self._answer([each])
                return
            results = [error]
        self._loop.call_soon_threadsafe(self._deliver, batch, results)

    def _deliver(self, batch: list[_Waiting], results: Sequence[Prediction | Exception]) -> None:
        self.on_batch(len(batch))
        for each, result in zip(batch, results, strict=True):
            if each.answer.done():  # the client has gone
                continue
            if isinstance(result, Exception):
                each.answer.set_exception(result)
            else:
                each.answer.set_result(result)


def next_batch(waiting: Sequence[_Waiting], size: int) -> list[_Waiting]:
    """The first question in turn, and the next ones of similar length, for little padding; the shortest is first."""
    batch: list[_Waiting] = []
    shortest = longest = 0
    for each in sorted(waiting, key=lambda each: each.turn):
        length = len(each.example.document)
        low, high = min(shortest or length, length), max(longest, length)
        little_padding = high <= 2 * low and high * (len(batch) + 1) <= BATCH_WORDS
        if not batch or (little_padding and each.attention == batch[0].attention):
            batch.append(each)
            shortest, longest = low, high
        if len(batch) == size:
            break
    return sorted(batch, key=lambda each: len(each.example.document))  # the kernel reads neighbours together
