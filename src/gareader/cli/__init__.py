"""The command line: the only place that prints and exits. Results on stdout, everything else on stderr."""

import gc


def main() -> None:
    """Run the command and exit; the processes that it starts import this module, and need no command."""
    gc.disable()  # while modules are imported there is no garbage, and to look for it takes a tenth of a quick command
    from gareader.cli import app

    gc.enable()
    app.main()
