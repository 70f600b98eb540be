"""The command line: the only place that prints and exits. Results on stdout, everything else on stderr."""

import gc

gc.disable()  # while modules are imported there is no garbage, and to look for it takes a tenth of a quick command
from gareader.cli.app import app as app  # noqa: E402
from gareader.cli.app import main as main  # noqa: E402

gc.enable()
