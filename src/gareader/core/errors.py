"""The error tree: every message names the problem, the place and the way out."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class GareaderError(Exception):
    """Base of all errors; the command line prints its message and exits with 1."""


class ExampleError(GareaderError):
    """Words that do not make a cloze question."""


class CorpusError(GareaderError):
    """A corpus file that cannot be read in its format."""

    def __init__(self, problem: str, path: Path | str, line: int | None = None) -> None:
        place = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{place}: {problem}")
        self.problem = problem
        self.path = Path(path)
        self.line = line

    def __reduce__(self) -> tuple[type["CorpusError"], tuple[str, Path, int | None]]:
        """Pickle the error, to send it from one process to another."""
        return type(self), (self.problem, self.path, self.line)


class ForeignLineError(CorpusError):
    """A line that is not in the format of the file: the file may have another format."""


class VectorsError(CorpusError):
    """A file of word vectors that cannot be read."""


class StoreError(GareaderError):
    """A prepared corpus that cannot be written or opened."""


class ConfigError(GareaderError):
    """A setting with an unknown name or an impossible value."""


class ReaderImportError(GareaderError):
    """A reader from outside gareader that cannot be imported."""


class ModelError(GareaderError):
    """A trained reader on disk that cannot be written or loaded."""


class CheckpointError(GareaderError):
    """The state of a training run that cannot be written or loaded."""


class TrainingError(GareaderError):
    """A training run that cannot start or continue."""


class BuildError(GareaderError):
    """A corpus that cannot be built from these texts."""


class WorkerError(GareaderError):
    """A worker process that ended too early."""


class QuestionError(GareaderError):
    """A question that the model cannot answer."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error message about an unknown name: the nearest known name, then all of them."""
    from difflib import get_close_matches  # only for errors

    known = sorted(known)
    near = get_close_matches(name, known, n=1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    return f"{guess}known: {', '.join(known)}"


EXTRAS = {
    "torch": "train",
    "pyarrow": "train",
    "fsspec": "share",
    "filelock": "train",
    "matplotlib": "plot",
    "scipy": "pairs",
    "optuna": "tune",
    "sqlalchemy": "tune",
    "gensim": "vectors",
    "onnx": "export",
    "onnxruntime": "export",
    "tensorboard": "tensorboard",
}
"""The extra that installs a package which gareader needs for some of its commands only."""


@contextmanager
def extras_told() -> Iterator[None]:
    """Raise GareaderError with the line to type where a package of an extra is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        line = line_to_install(EXTRAS[package])
        raise GareaderError(f"this needs {package}, which is not installed; type: {line}") from error


CLONE = Path(__file__).parents[3]
"""The clone of the project, if gareader is not installed from a wheel."""


def line_to_install(extra: str) -> str:
    """The line that installs an extra for the Python that runs now: from the clone, if there is one."""
    import shlex  # both cost every start of gareader milliseconds, and this runs before the end
    import shutil

    def brief(path: Path) -> str:
        return shlex.quote(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))

    program = Path(sys.executable).with_name("pip")
    pip = f"{brief(Path(sys.executable))} -m pip"
    if program.exists():
        pip = "pip" if shutil.which("pip") == str(program) else brief(program)
    if not (CLONE / "constraints.txt").exists():
        return f"{pip} install 'gareader[{extra}]'"
    folder = "." if Path.cwd() == CLONE else str(CLONE)
    return f"{pip} install -c {brief(CLONE / 'constraints.txt')} -e {shlex.quote(f'{folder}[{extra}]')}"
