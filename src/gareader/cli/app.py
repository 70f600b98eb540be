"""The app with its commands, exit codes, progress, and the options and checks that commands share."""

import gc
import json
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from cyclopts import App, CycloptsError, Parameter
from cyclopts.validators import Number

from gareader.core.errors import CorpusError, GareaderError, extras_told
from gareader.core.presets import located
from gareader.core.terminal import shortened, shown
from gareader.data.examples import Example
from gareader.data.sources import read_examples
from gareader.trained import ensembles, models

app = App(
    name="gareader",
    help="Answer cloze questions about a text with the Gated-Attention Reader (Dhingra et al., ACL 2017).",
    help_format="markdown",
    default_parameter=Parameter(negative=()),  # no --no-… and --empty-… but where a command names one
    suppress_keyboard_interrupt=False,  # main handles it
)
COMMANDS = """
    answer:answer answer:demo bench:bench build:build corpora:describe corpora:prepare evaluate:analyse evaluate:compare
    evaluate:evaluate models:ensemble models:models models:pack plot:plot presets:presets readers:readers serve:serve
    share:export share:push study:study train:train tune:tune vectors:vectors
"""
"""The module in this folder and the function of each command."""
for command in COMMANDS.split():
    app.command(f"gareader.cli.{command}")  # its module is imported when the command runs

AtLeastOne = Annotated[int, Parameter(validator=Number(gte=1))]
DocumentFile = Annotated[
    str | None, Parameter(help="The text file that holds the answer; - for standard input.", allow_leading_hyphen=True)
]
Query = Annotated[
    str | None,
    Parameter(
        help="A sentence with one blank (XXXXX, ___, @placeholder, [MASK], `<mask>` or ...), or a question such as "
        '"Who has the lamp?", which is rewritten as such a sentence.'
    ),
]
Candidates = Annotated[
    str | None,
    Parameter(help="Possible answers, of one or more words, separated by |; proposed from the document if not given."),
]
Format = Annotated[str | None, Parameter(help="cbt, question, wdw or jsonl; recognised from the content if not given.")]
SkipBad = Annotated[bool, Parameter(help="List bad examples on stderr and go on, instead of stopping.")]
Json = Annotated[bool, Parameter(name="--json", help="Print JSON, one object a line.")]
ModelName = Annotated[
    str,
    Parameter(
        name=("--model", "--reader"),
        help="A model in the box (see `gareader models`), the folder of a trained one, or an address: https://….",
    ),
]
Modules = Annotated[
    tuple[str, ...],
    Parameter(name="--import", help="A module with readers of your own, in its table READERS; may be repeated."),
]


def main() -> None:
    """Run the command and exit: 0 done, 1 our error, 2 usage."""
    gc.freeze()  # what was imported is no garbage
    if all(word.startswith("-") for word in sys.argv[1:]) and "--version" not in sys.argv:
        app.resolved_commands()  # the overview has the first line of every command's docstring
    warnings.showwarning = lambda message, *details: complain(message)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # clean up, as after an error
    try:
        with extras_told():
            app(exit_on_error=False, result_action="return_value")
        sys.stdout.flush()
    except CycloptsError:
        sys.exit(2)
    except BrokenPipeError:  # nobody reads our output any more, as in `gareader … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (GareaderError, OSError) as error:
        complain(error)
        sys.exit(1)
    except MemoryError as error:
        complain(f"there is not enough memory ({error or 'none is left'}); give a smaller text, or smaller batches")
        sys.exit(1)
    except KeyboardInterrupt:
        complain("interrupted; nothing was left half-written")
        sys.exit(130)


def import_modules(modules: Iterable[str]) -> None:
    """Add the readers of these modules; call it after quick checks, because it imports torch."""
    for module in modules:
        from gareader.readers.registry import import_readers

        import_readers(module)


def model_folder(model: str) -> Path:
    """The folder of a model, given by name or path; raise ModelError if there is none or it names a missing folder."""
    folder = models.folder(model)
    ensembles.files(folder)
    return folder


def check_corpus(corpus: str | Path, way_out: str = "check the path") -> None:
    """Raise CorpusError if there is no such corpus; addresses such as s3://… are not looked up."""
    if "://" not in str(corpus) and not located(corpus).exists():
        raise CorpusError(f"there is no such file or folder; {way_out}", corpus)


def read_with_answers(corpus: str, format: str | None = None) -> list[Example]:
    """Read a corpus; raise GareaderError if no question has a known answer."""
    examples = list(read_examples(corpus, format=format))
    if all(example.answer is None for example in examples):
        raise GareaderError(f"{corpus}: no question has a known answer, so there is nothing to measure")
    return examples


def complain(problem: object) -> None:
    """Print one line on stderr."""
    print(f"gareader: {shown(shortened(str(problem)))}", file=sys.stderr)


def tell(record: Mapping[str, Any], text: str, as_json: bool) -> None:
    """Print the result of a command."""
    print(json.dumps(record) if as_json else text)


T = TypeVar("T")


def watch(
    examples: Iterable[T],
    label: str,
    total: int | None = None,
    note: Callable[[], str] = lambda: "",
    unit: str = "examples",
    every: int = 100,
) -> Iterator[T]:
    """Yield the examples and count them on a terminal's stderr; `note` adds a text, such as the accuracy."""
    from rich.console import Console  # answers do not wait for it
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

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
    """Prints each skipped example on stderr, unless `quiet`, and counts them."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.count = 0
        self.quiet = quiet

    def __call__(self, error: CorpusError) -> None:
        self.count += 1
        if not self.quiet:
            complain(f"skipped: {error}")


def percent(share: float) -> str:
    return f"{share:.1%}"


def with_interval(measured: Mapping[str, Any]) -> str:
    """An accuracy with its 95 % interval."""
    low, high = measured["interval"]
    return f"{percent(measured['accuracy'])} [{100 * low:.1f}, {100 * high:.1f}]"
