"""Where real corpora are: a few questions and vectors beside the tests, and the whole files where somebody has them."""

import os
from dataclasses import dataclass
from pathlib import Path

from places import PROJECT, SAMPLES

VARIABLE = "GAREADER_DATA"
PIECES = SAMPLES
TAGGER = "averaged_perceptron_tagger_eng"


@dataclass(frozen=True)
class RealFile:
    """A file of a real corpus."""

    path: Path
    whole: bool
    """Whether it is all of the corpus's file; numbers that are known of it hold only then."""


def folder() -> Path:
    """Of the whole files; it may not be there."""
    return Path(os.environ.get(VARIABLE) or PROJECT.parent / "shared" / "data")


def missing(name: str) -> str:
    """Why a test of a whole file is skipped, and what to do about it."""
    return (
        f"needs {folder() / name}: docs/formats.md#getting-the-data says what to download and where it must lie; "
        f"another folder is named by {VARIABLE}"
    )


def tagger_data() -> Path | None:
    """A folder that NLTK finds its tagger in, if there is one."""
    from nltk import data

    for place in (folder() / "nltk_data", *map(Path, data.path)):
        if (place / "taggers" / TAGGER).is_dir():
            return place
    return None


NO_TAGGER = (
    f"needs the data of NLTK's tagger; type: python -m nltk.downloader {TAGGER}, "
    f"or put them into the folder nltk_data of {VARIABLE}"
)
