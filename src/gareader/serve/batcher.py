"""Questions that arrive together are read together."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, Queue
from threading import Lock, Thread

from gareader.examples import Example, Prediction
from gareader.predictor import Answering

WORDS = 32_000
"""The most document words read together, padding counted: with queries of 1,000 words, 128 MB of attention a hop."""


class OverloadedError(Exception):
    """More questions wait than can be answered soon."""


@dataclass(frozen=True)
class _Waiting:
    make: Callable[[], Example]
    attention: bool
    answer: Future[Prediction] = field(default_factory=Future)


class Batcher:
    """One thread reads for all who ask its reader: what waits when it is free becomes its next batch.

    Nobody waits for a batch to fill. A question that comes alone is read alone, and the more come, the more share a
    batch. The same thread makes the words of a text: Python lets one thread work at a time, and where sixty split
    their texts while one reads, each of its steps waits for them.
    """

    def __init__(self, predictor: Answering, *, batch_size: int = 32, most_waiting: int = 256) -> None:
        self.predictor = predictor
        self.batch_size = batch_size
        self.most_waiting = most_waiting
        self.waiting = 0
        self._lock = Lock()
        self._queue: Queue[_Waiting | None] = Queue()
        self._thread = Thread(target=self._work, name="gareader-batcher", daemon=True)
        self._thread.start()

    def ask(self, make: Callable[[], Example], *, attention: bool = False) -> Future[Prediction]:
        """The answer-to-be of the question that `make` makes, or the error it raises."""
        asked = _Waiting(make, attention)
        with self._lock:
            if self.waiting >= self.most_waiting:
                raise OverloadedError
            self.waiting += 1
        asked.answer.add_done_callback(self._done)
        self._queue.put(asked)
        return asked.answer

    def close(self) -> None:
        """Answer what has been asked, then stop."""
        self._queue.put(None)
        self._thread.join()

    def _done(self, answer: Future[Prediction]) -> None:  # noqa: ARG002
        with self._lock:
            self.waiting -= 1

    def _work(self) -> None:
        open_ = True
        while open_:
            batch = [self._queue.get()]
            while len(batch) < self.batch_size and batch[-1] is not None:
                try:
                    batch.append(self._queue.get_nowait())
                except Empty:
                    break
            open_ = batch[-1] is not None
            # whoever has given up meanwhile is passed over
            wanted = [each for each in batch if each is not None and each.answer.set_running_or_notify_cancel()]
            for some in similar_lengths(self._made(wanted)):
                self._answer(some)

    def _made(self, wanted: Iterable[_Waiting]) -> list[tuple[_Waiting, Example]]:
        made = []
        for each in wanted:
            try:
                made.append((each, each.make()))
            except Exception as error:  # noqa: BLE001 - it belongs to whoever asked
                each.answer.set_exception(error)
        return made

    def _answer(self, some: list[tuple[_Waiting, Example]]) -> None:
        try:
            predictions = self.predictor.predict([example for _, example in some], attention=some[0][0].attention)
        except Exception as error:  # noqa: BLE001 - it belongs to whoever asked
            if len(some) == 1:
                some[0][0].answer.set_exception(error)
                return
            for one in some:  # one question must not spoil the others'
                self._answer([one])
            return
        for (each, _), prediction in zip(some, predictions, strict=True):
            each.answer.set_result(prediction)


def similar_lengths(made: list[tuple[_Waiting, Example]]) -> list[list[tuple[_Waiting, Example]]]:
    """The questions in groups to be read together: little is padding, and no more is kept than was asked for."""
    groups: list[list[tuple[_Waiting, Example]]] = []
    for each in sorted(made, key=lambda pair: (pair[0].attention, len(pair[1].document))):
        if groups and _fits(groups[-1], *each):
            groups[-1].append(each)
        else:
            groups.append([each])
    return groups


def _fits(group: list[tuple[_Waiting, Example]], asked: _Waiting, longest: Example) -> bool:
    first, shortest = group[0]
    return (
        asked.attention == first.attention
        and len(longest.document) <= 2 * len(shortest.document)
        and len(longest.document) * (len(group) + 1) <= WORDS
    )
