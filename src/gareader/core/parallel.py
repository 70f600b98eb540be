"""A parallel map over worker processes: results in order, and only a few items per worker in memory."""

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

from gareader.core.distributed import ALONE, Group
from gareader.core.errors import WorkerError

Item = TypeVar("Item")
Result = TypeVar("Result")

_work: list[Callable[[Any], Any]] = []  # the function of this process, if it is a worker


def in_order(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    workers: int,
    group: Group = ALONE,
    *,
    take_part: bool = False,
) -> Iterator[Result]:
    """Yield `work(item)` in the order of the items; `work` must be picklable.

    With `take_part` this process is one of the workers: it begins at once, while the others start.
    A group of processes shares the items, each with so many workers of its own; rank 0 gets all the results.
    """
    own = _with_workers(work, islice(items, group.rank, None, group.size), workers, take_part)
    while group.sum(len(following := [*islice(own, 1)]))[0]:
        for results in group.gather(following):
            yield from results


def help_with(stream: Iterator[Result]) -> Counter[str]:
    """Do the work of a rank other than 0, which gets no results; return empty counts."""
    deque(stream, maxlen=0)
    return Counter()


def _with_workers(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int, take_part: bool
) -> Iterator[Result]:
    if workers == 1:
        yield from map(work, items)
        return
    others = workers - take_part
    pool = ProcessPoolExecutor(others, get_context("spawn"), initializer=_begin, initargs=(work,))
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            if not take_part or sum(not each.done() for each in waiting) < 2 * others:
                waiting.append(pool.submit(_do, item))
            else:
                own: Future[Result] = Future()
                waiting.append(own)
                own.set_result(work(item))
            while len(waiting) > (4 if take_part else 2) * workers or (take_part and waiting and waiting[0].done()):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        way_out = "was there enough memory? --workers 1 needs the least"
        raise WorkerError(f"a worker process ended before its work was done; {way_out}") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def begin_worker() -> None:
    """Let this process leave Ctrl-C to its parent, and end with it even if the parent is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _begin(work: Callable[[Any], Any]) -> None:
    begin_worker()
    _work.append(work)


def _end_with_parent() -> None:
    """End this worker with its parent; if the parent was killed, it would wait for work for ever."""
    if parent := parent_process():
        parent.join()
        os._exit(1)


def _do(item: Any) -> Any:
    return _work[0](item)
