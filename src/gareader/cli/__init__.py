"""The command line: the only place that prints and exits. Results on stdout, everything else on stderr."""

from gareader.cli.app import app as app
from gareader.cli.app import main as main
