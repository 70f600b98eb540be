"""What all scripts of this folder share: how one is started, and the options they have in common."""

import sys
from collections.abc import Callable, Sequence

from cyclopts import App, CycloptsError

from gareader.cli.app import Json
from gareader.cli.bench import AtLeastOne, Batch, Busy, Document, Hidden, Repeats
from gareader.errors import GareaderError

__all__ = ["AtLeastOne", "Batch", "Busy", "Document", "Hidden", "Json", "Repeats", "start"]


def start(main: Callable[..., None], arguments: Sequence[str] | None = None) -> None:
    """Run a script with the arguments of its command; as `gareader` it exits with 1 for an error, 2 for usage."""
    script = App(help_format="markdown")
    script.default(main)
    try:
        script(sys.argv[1:] if arguments is None else arguments, exit_on_error=False, result_action="return_value")
    except CycloptsError:
        sys.exit(2)
    except GareaderError as error:
        sys.exit(f"{error}")
