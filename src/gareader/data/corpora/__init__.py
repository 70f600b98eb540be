"""Corpora: a file in any known format becomes a stream of Examples."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gareader.core.errors import CorpusError, did_you_mean
from gareader.data.corpora import cbt, jsonl, question_files, who_did_what
from gareader.data.corpora.delta import Delta, deltas_of
from gareader.data.corpora.files import WHOLE, Item, Report, Span, beginning, raise_error
from gareader.data.corpora.files import spans as file_spans
from gareader.data.examples import Example


@dataclass(frozen=True)
class CorpusFormat:
    read: Callable[..., Iterator[Example]]
    """Streams the examples of a file; reports a bad example, raises damage that ends the reading."""
    written: Callable[..., str]
    """Returns the text of an example in such a file; for `.question`, the text of the whole file."""
    looks_like: Callable[[str], bool]
    """Whether the beginning of a file is in this format."""
    shape: str
    """A short description of such a file."""
    beginning: bytes | None = None
    """The first bytes of a question, with the line break before it; None if a file cannot be cut into spans."""
    deltas: Callable[..., Iterator[Delta]] | None = None
    """Streams the examples as they differ from their neighbours, where that is less work."""


CORPORA = {
    "cbt": CorpusFormat(cbt.read, cbt.written, cbt.looks_like, cbt.SHAPE, cbt.BEGINNING, cbt.deltas),
    "question": CorpusFormat(
        question_files.read, question_files.written, question_files.looks_like, question_files.SHAPE
    ),
    "wdw": CorpusFormat(who_did_what.read, who_did_what.written, who_did_what.looks_like, who_did_what.SHAPE),
    "jsonl": CorpusFormat(jsonl.read, jsonl.written, jsonl.looks_like, f"lines {jsonl.SHAPE}", jsonl.BEGINNING),
}
"""The formats by their names for `--format`."""


def read(
    path: Path | str, *, format: str | None = None, on_bad: Report | None = None, span: Span = WHOLE
) -> Iterator[Example]:
    """Stream the examples of a file or folder; raise the error of a bad one, or pass it to `on_bad` and skip it."""
    return _streamed(_corpus(Path(path), format).read, Path(path), format, on_bad, span)


def deltas(
    path: Path | str, *, format: str | None = None, on_bad: Report | None = None, span: Span = WHOLE
) -> Iterator[Delta]:
    """Stream the same examples as they differ from their neighbours."""
    path = Path(path)
    corpus = _corpus(path, format)
    if corpus.deltas:
        return _streamed(corpus.deltas, path, format, on_bad, span)
    return deltas_of(_streamed(corpus.read, path, format, on_bad, span))


def spans(path: Path | str, size: int, *, format: str | None = None) -> Iterator[Span]:
    """Cut the corpus into spans of at least `size` bytes, each readable by itself; one span if it cannot be cut."""
    path = Path(path)
    start = _corpus(path, format).beginning
    return iter([WHOLE]) if start is None or path.is_dir() else file_spans(path, start, size)


def recognise(path: Path | str) -> str:
    """Return the name of the format, recognised by the content."""
    path = Path(path)
    if path.is_dir():
        return "question"
    text = beginning(path)
    for name, corpus in CORPORA.items():
        if corpus.looks_like(text):
            return name
    shapes = "; ".join(f"{name} ({corpus.shape})" for name, corpus in CORPORA.items())
    raise CorpusError(f"cannot tell the format; looked for {shapes}. Name it with --format", path)


def _corpus(path: Path, format: str | None) -> CorpusFormat:
    if format is not None and format not in CORPORA:
        raise CorpusError(f"unknown format {format!r}; {did_you_mean(format, CORPORA)}", path)
    return CORPORA[format or recognise(path)]


def _streamed(
    read: Callable[..., Iterator[Item]], path: Path, format: str | None, on_bad: Report | None, span: Span
) -> Iterator[Item]:
    if format is not None and span == WHOLE and not path.is_dir():
        beginning(path)  # raises at once for a file that cannot be read at all
    report = on_bad or raise_error
    return _until_damage(read(path, report, *([] if span == WHOLE else [span])), report)


def _until_damage(items: Iterator[Item], report: Report) -> Iterator[Item]:
    try:
        yield from items
    except CorpusError as damage:
        report(damage)
