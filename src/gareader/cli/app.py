"""What all commands share: the app, exit codes, progress, and the options they have in common."""

import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, TypeVar

from cyclopts import App, CycloptsError, Parameter
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from gareader.errors import CorpusError, GareaderError

app = App(
    name="gareader",
    help="Answer cloze questions about a text with the Gated-Attention Reader (Dhingra et al., ACL 2017).",
    help_format="markdown",
    suppress_keyboard_interrupt=False,  # main says what an interrupt means
)

Format = Annotated[str | None, Parameter(help="cbt, question, wdw or jsonl; recognised from the content if not given.")]
SkipBad = Annotated[bool, Parameter(help="List bad examples on stderr and go on, instead of stopping.", negative=())]
Json = Annotated[bool, Parameter(name="--json", help="Print JSON, one object a line.", negative=())]


Modules = Annotated[
    tuple[str, ...],
    Parameter(
        name="--import", help="A module with readers of your own, in its table READERS; may be repeated.", negative=()
    ),
]


def main() -> None:
    """Run the command and exit: 0 done, 1 our error, 2 usage."""
    warnings.showwarning = lambda message, *details: complain(message)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # clean up, as after an error
    try:
        app(exit_on_error=False, result_action="return_value")
        sys.stdout.flush()
    except CycloptsError:
        sys.exit(2)
    except GareaderError as error:
        complain(error)
        sys.exit(1)
    except BrokenPipeError:  # the reader of our output has left, as in `gareader … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        complain(error)
        sys.exit(1)
    except KeyboardInterrupt:
        complain("interrupted; nothing was left half-written")
        sys.exit(130)


def import_modules(modules: Iterable[str]) -> None:
    """Add the readers of modules that the user named."""
    for module in modules:
        from gareader.readers import import_readers

        import_readers(module)


def complain(problem: object) -> None:
    """One line on stderr."""
    print(f"gareader: {problem}", file=sys.stderr)


T = TypeVar("T")


def watch(
    examples: Iterable[T],
    label: str,
    total: int | None = None,
    note: Callable[[], str] = lambda: "",
    unit: str = "examples",
    every: int = 100,
) -> Iterator[T]:
    """The same examples, counted on a terminal's stderr while they pass; `note` says more, such as the accuracy."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield from examples
        return
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(label, total=total)
        for count, example in enumerate(examples, 1):
            yield example
            if count % every == 0:
                speed = count / (progress.tasks[task].elapsed or 1)
                description = f"{label}: {count:,} {unit}, {speed:,.{0 if speed >= 10 else 1}f} a second{note()}"
                progress.update(task, completed=count, description=description)


class Skipped:
    """Bad examples passed over: each is told on stderr, and all are counted."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.count = 0
        self.quiet = quiet

    def __call__(self, error: CorpusError) -> None:
        self.count += 1
        if not self.quiet:
            complain(f"skipped: {error}")


def percent(share: float) -> str:
    """A share for people."""
    return f"{share:.1%}"


def with_interval(measured: Mapping[str, Any]) -> str:
    """An accuracy with its 95 % interval."""
    low, high = measured["interval"]
    return f"{percent(measured['accuracy'])} [{100 * low:.1f}, {100 * high:.1f}]"
