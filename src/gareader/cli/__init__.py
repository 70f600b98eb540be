"""The command line: the only place that prints and exits. Results on stdout, everything else on stderr."""

from gareader.cli import answer, bench, corpora
from gareader.cli.app import app, main

__all__ = ["answer", "app", "bench", "corpora", "main"]
