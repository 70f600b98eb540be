"""The same work on many things with all cores, the results in order, no more in memory than the cores can use."""

import os
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any, TypeVar

from gareader.distributed import ALONE, Group
from gareader.errors import WorkerError

Item = TypeVar("Item")
Result = TypeVar("Result")

_work: list[Callable[[Any], Any]] = []  # of this process, if it is a worker


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int, group: Group = ALONE
) -> Iterator[Result]:
    """The results of `work`, which must be a thing that can be sent to another process, in the items' order.

    Where a group of processes shares the items, each with so many workers of its own, the first gets all the results.
    """
    mine = _with_workers(work, islice(items, group.rank, None, group.size), workers)
    while group.summed(len(now := [*islice(mine, 1)]))[0]:
        for results in group.gathered(now):
            yield from results


def help_with(stream: Iterator[Result]) -> Counter[str]:
    """What a process does that is not the first of its group: its share of the work; there is nothing to count."""
    deque(stream, maxlen=0)
    return Counter()


def _with_workers(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
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
        raise WorkerError(f"a worker process ended before its work was done; {way_out}") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(work: Callable[[Any], Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends the others
    Thread(target=_end_with_the_first, daemon=True).start()
    _work.append(work)


def _end_with_the_first() -> None:
    """A worker whose first process was killed would wait for work for ever."""
    if first := parent_process():
        first.join()
        os._exit(1)


def _do(item: Any) -> Any:
    return _work[0](item)
