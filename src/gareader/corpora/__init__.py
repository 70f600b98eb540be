"""Corpora, the one door for files: any format users have becomes a stream of Examples."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gareader.corpora import cbt, jsonl, question_files, who_did_what
from gareader.corpora.files import WHOLE, Report, Span, beginning
from gareader.corpora.files import spans as file_spans
from gareader.errors import CorpusError, did_you_mean
from gareader.examples import Example


@dataclass(frozen=True)
class Corpus:
    """What to know about a format."""

    read: Callable[..., Iterator[Example]]
    """Its examples one by one; a bad one goes to the report, damage that ends the reading is raised."""
    written: Callable[..., str]
    """The text of an example in such a file; of a `.question` file, the whole of it."""
    looks_like: Callable[[str], bool]
    """Whether a file that begins with this text is of the format."""
    shape: str
    """What such a file looks like, in a few words."""
    beginning: bytes | None = None
    """What a question begins with, line break included, if a part of a file can be read by itself, as a Span."""


CORPORA = {
    "cbt": Corpus(cbt.read, cbt.written, cbt.looks_like, cbt.SHAPE, cbt.BEGINNING),
    "question": Corpus(question_files.read, question_files.written, question_files.looks_like, question_files.SHAPE),
    "wdw": Corpus(who_did_what.read, who_did_what.written, who_did_what.looks_like, who_did_what.SHAPE),
    "jsonl": Corpus(jsonl.read, jsonl.written, jsonl.looks_like, jsonl.SHAPE, jsonl.BEGINNING),
}
"""The formats by the names that `--format` takes."""


def read(
    path: Path | str,
    *,
    format: str | None = None,
    on_bad: Callable[[CorpusError], None] | None = None,
    span: Span = WHOLE,
) -> Iterator[Example]:
    """The examples of a file or folder, streamed; what is bad is raised, or handed to `on_bad` and passed over."""
    path = Path(path)
    corpus = _corpus(path, format)
    if format is not None and not path.is_dir():
        beginning(path)  # complains at once about a file that cannot be read at all
    report = on_bad or _raise
    return _until_damage(corpus.read(path, report, *([] if span == WHOLE else [span])), report)


def spans(path: Path | str, size: int, *, format: str | None = None) -> Iterator[Span]:
    """The corpus in stretches of at least so many bytes, each readable by itself; one if it cannot be cut."""
    path = Path(path)
    start = _corpus(path, format).beginning
    return iter([WHOLE]) if start is None or path.is_dir() else file_spans(path, start, size)


def recognise(path: Path | str) -> str:
    """The format's name, told from the content."""
    path = Path(path)
    if path.is_dir():
        return "question"
    text = beginning(path)
    for name, corpus in CORPORA.items():
        if corpus.looks_like(text):
            return name
    shapes = "; ".join(f"{name} ({corpus.shape})" for name, corpus in CORPORA.items())
    raise CorpusError(f"cannot tell the format; looked for {shapes}. Name it with --format", path)


def _corpus(path: Path, format: str | None) -> Corpus:
    if format is not None and format not in CORPORA:
        raise CorpusError(f"unknown format {format!r}; {did_you_mean(format, CORPORA)}", path)
    return CORPORA[format or recognise(path)]


def _until_damage(examples: Iterator[Example], report: Report) -> Iterator[Example]:
    try:
        yield from examples
    except CorpusError as damage:
        report(damage)


def _raise(error: CorpusError) -> None:
    raise error
