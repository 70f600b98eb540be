"""Batching of questions that arrive at the same time."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, Queue
from threading import Lock, Thread

from gareader.data.examples import Example, Prediction
from gareader.trained.predictor import Answering

WORDS = 32_000
"""The most document words of a batch, with padding: with queries of 1,000 words, 128 MB of attention per hop."""


class OverloadedError(Exception):
    """Too many questions are waiting."""


@dataclass(frozen=True)
class _Request:
    make: Callable[[], Example]
    attention: bool
    answer: Future[Prediction] = field(default_factory=Future)


class Batcher:
    """One thread answers the questions to one model: all questions that wait when it is free are its next batch.

    No question waits for a batch to fill: a single question is read at once, and batches grow with the load. The same
    thread tokenises the texts. Python runs one thread at a time, so sixty threads that tokenise would delay every step
    of the one that reads.
    """

    def __init__(self, predictor: Answering, *, batch_size: int = 32, most_waiting: int = 256) -> None:
        self.predictor = predictor
        self.batch_size = batch_size
        self.most_waiting = most_waiting
        self.waiting = 0
        self._lock = Lock()
        self._queue: Queue[_Request | None] = Queue()
        self._thread = Thread(target=self._work, name="gareader-batcher", daemon=True)
        self._thread.start()

    def ask(self, make: Callable[[], Example], *, attention: bool = False) -> Future[Prediction]:
        """Queue the question that `make` returns; the future holds its answer, or the error that `make` raises."""
        request = _Request(make, attention)
        with self._lock:
            if self.waiting >= self.most_waiting:
                raise OverloadedError
            self.waiting += 1
        request.answer.add_done_callback(self._done)
        self._queue.put(request)
        return request.answer

    def close(self) -> None:
        """Answer the questions in the queue, then stop the thread."""
        self._queue.put(None)
        self._thread.join()

    def _done(self, answer: Future[Prediction]) -> None:  # noqa: ARG002
        with self._lock:
            self.waiting -= 1

    def _work(self) -> None:
        closed = False
        while not closed:
            batch = [self._queue.get()]
            while len(batch) < self.batch_size and batch[-1] is not None:
                try:
                    batch.append(self._queue.get_nowait())
                except Empty:
                    break
            closed = batch[-1] is None
            # cancelled requests are left out
            requests = [each for each in batch if each is not None and each.answer.set_running_or_notify_cancel()]
            for group in similar_lengths(self._with_examples(requests)):
                self._answer(group)

    def _with_examples(self, requests: Iterable[_Request]) -> list[tuple[_Request, Example]]:
        pairs = []
        for request in requests:
            try:
                pairs.append((request, request.make()))
            except Exception as error:  # noqa: BLE001 - the client gets it
                request.answer.set_exception(error)
        return pairs

    def _answer(self, group: list[tuple[_Request, Example]]) -> None:
        try:
            predictions = self.predictor.predict([example for _, example in group], attention=group[0][0].attention)
        except Exception as error:  # noqa: BLE001 - the client gets it
            if len(group) == 1:
                group[0][0].answer.set_exception(error)
                return
            for pair in group:  # an error of one question must not fail the others
                self._answer([pair])
            return
        for (request, _), prediction in zip(group, predictions, strict=True):
            request.answer.set_result(prediction)


def similar_lengths(pairs: list[tuple[_Request, Example]]) -> list[list[tuple[_Request, Example]]]:
    """Split the questions into batches with little padding, those with attention apart from those without."""
    groups: list[list[tuple[_Request, Example]]] = []
    for pair in sorted(pairs, key=lambda pair: (pair[0].attention, len(pair[1].document))):
        if groups and _fits(groups[-1], *pair):
            groups[-1].append(pair)
        else:
            groups.append([pair])
    return groups


def _fits(group: list[tuple[_Request, Example]], request: _Request, longest: Example) -> bool:
    first, shortest = group[0]
    return (
        request.attention == first.attention
        and len(longest.document) <= 2 * len(shortest.document)
        and len(longest.document) * (len(group) + 1) <= WORDS
    )
