"""The same work on many things with all cores, the results in order, no more in memory than the cores can use."""

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, TypeVar

from gareader.errors import BuildError

Item = TypeVar("Item")
Result = TypeVar("Result")

_work: list[Callable[[Any], Any]] = []  # of this process, if it is a worker


def in_order(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """The results of `work`, which must be a thing that can be sent to another process, in the items' order."""
    if workers == 1:
        yield from map(work, items)
        return
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_begin, initargs=(work,))
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(_do, item))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        way_out = "was there enough memory? --workers 1 needs the least"
        raise BuildError(f"a worker process ended before its work was done; {way_out}") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(work: Callable[[Any], Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends the others
    _work.append(work)


def _do(item: Any) -> Any:
    return _work[0](item)
