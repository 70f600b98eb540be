"""The start of a script of this folder, and the options that the scripts have in common."""

import sys
from collections.abc import Callable, Sequence

from cyclopts import App, CycloptsError, Parameter

from gareader.cli.app import AtLeastOne, Json
from gareader.cli.bench import Batch, Busy, Document, Hidden, Repeats
from gareader.core.errors import GareaderError

__all__ = ["AtLeastOne", "Batch", "Busy", "Document", "Hidden", "Json", "Repeats", "start"]


def start(main: Callable[..., None], arguments: Sequence[str] | None = None) -> None:
    """Run a script with its command-line arguments; exit with 1 after an error, 2 after wrong usage."""
    script = App(help_format="markdown", default_parameter=Parameter(negative=()))
    script.default(main)
    try:
        script(sys.argv[1:] if arguments is None else arguments, exit_on_error=False, result_action="return_value")
    except CycloptsError:
        sys.exit(2)
    except GareaderError as error:
        sys.exit(f"{error}")
