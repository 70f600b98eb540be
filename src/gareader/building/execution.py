"""How a corpus is built: by which processes, and who hears of bad texts and of the progress."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from gareader.core.distributed import ALONE, Group
from gareader.core.parallel import in_order
from gareader.data.corpora.files import Report, raise_error

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Execution:
    """The processes that build, and functions of the caller."""

    workers: int = 1
    """Processes of each rank of the group."""
    group: Group = ALONE
    report: Report = raise_error
    """Gets the error of a bad text; the others are built."""
    watch: Callable[..., Iterator[Any]] = lambda items, total=None: items
    """Wraps the stream of items, whose number it gets if that is known, for example in a progress bar."""

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield `work(item)` in the order of the items; rank 0 alone gets the results."""
        return in_order(work, items, self.workers, self.group)
