"""Work on long texts, one after the other in a thread of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

from gareader.serve.batcher import OVERHEAD, SECONDS_PER_WORD, OverloadedError

Result = TypeVar("Result")
CHARACTERS_PER_WORD = 5


@dataclass(frozen=True, eq=False)
class _Turn:
    work: Callable[[], Any]
    client: str
    words: int
    turn: float
    result: asyncio.Future[Any]


class Turns:
    """Does one piece of work at a time; short texts pass long ones, and work whose future is cancelled is left out."""

    def __init__(self, *, most_words: int, client_words: int) -> None:
        """To be made, asked and closed in one event loop."""
        self.most_words, self.client_words = most_words, client_words
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "gareader-texts")
        self._waiting: list[_Turn] = []
        self._busy = False

    async def do(self, work: Callable[[], Result], characters: int, client: str = "") -> Result:
        """Return `work()`, which reads so many characters; raise OverloadedError if too many words wait."""
        words = characters // CHARACTERS_PER_WORD + OVERHEAD
        self._waiting = [each for each in self._waiting if not each.result.done()]
        for own in (True, False):
            before = [each.words for each in self._waiting if not own or each.client == client]
            if words + sum(before) > (self.client_words if own else self.most_words):
                raise OverloadedError(own=own)
        result: asyncio.Future[Result] = self._loop.create_future()
        self._waiting.append(_Turn(work, client, words, monotonic() + words * SECONDS_PER_WORD, result))
        self._next()
        try:
            return await result
        finally:
            result.cancel()

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)

    def _next(self) -> None:
        self._waiting = [each for each in self._waiting if not each.result.done()]
        if self._busy or not self._waiting:
            return
        first = min(self._waiting, key=lambda each: each.turn)
        self._waiting.remove(first)
        self._busy = True
        self._loop.run_in_executor(self._thread, first.work).add_done_callback(lambda done: self._deliver(first, done))

    def _deliver(self, turn: _Turn, done: asyncio.Future[Any]) -> None:
        self._busy = False
        error = done.exception()
        if turn.result.done():  # the client has gone
            pass
        elif error is not None:
            turn.result.set_exception(error)
        else:
            turn.result.set_result(done.result())
        self._next()
