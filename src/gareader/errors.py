"""The error tree: every error gareader raises on purpose says what is wrong, where, and the way out."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


class GareaderError(Exception):
    """Base of all; the command line prints its message and exits with 1."""


class ExampleError(GareaderError):
    """Words that do not make a cloze question."""


class CorpusError(GareaderError):
    """A corpus file that cannot be read as what it is."""

    def __init__(self, problem: str, path: Path | str, line: int | None = None) -> None:
        place = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{place}: {problem}")
        self.problem = problem
        self.path = Path(path)
        self.line = line

    def __reduce__(self) -> tuple[type["CorpusError"], tuple[str, Path, int | None]]:
        """How it goes from one process to another."""
        return type(self), (self.problem, self.path, self.line)


class ForeignLineError(CorpusError):
    """A line that is nothing of the format it was read as: the file may be of another one."""


class VectorsError(CorpusError):
    """A word-vector file that cannot be read as one."""


class StoreError(GareaderError):
    """A prepared corpus that cannot be written or opened."""


class ConfigError(GareaderError):
    """A setting with an unknown name or an impossible value."""


class ReaderImportError(GareaderError):
    """A reader from outside gareader that cannot be had."""


class CheckpointError(GareaderError):
    """A reader on disk, or the state of a training run, that cannot be written or loaded."""


class TrainingError(GareaderError):
    """A training run that cannot start or go on."""


class BuildError(GareaderError):
    """A corpus that cannot be made from these texts."""


class WorkerError(GareaderError):
    """A process that was to help and is gone."""


class QuestionError(GareaderError):
    """A question the reader cannot answer."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error message about an unknown name: the nearest known one, then all of them."""
    known = sorted(known)
    near = get_close_matches(name, known, n=1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    return f"{guess}known: {', '.join(known)}"
