"""The command line: the only place that prints and exits. Results on stdout, everything else on stderr."""

from gareader.cli import (
    answer,
    bench,
    build,
    corpora,
    evaluate,
    plot,
    readers,
    serve,
    study,
    train,
    tune,
    vectors,
)
from gareader.cli.app import app, main

__all__ = [
    "answer",
    "app",
    "bench",
    "build",
    "corpora",
    "evaluate",
    "main",
    "plot",
    "readers",
    "serve",
    "study",
    "train",
    "tune",
    "vectors",
]
