"""Files of questions in each format, and reading with what is bad."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from gareader.core.errors import CorpusError
from gareader.data.corpora import CORPORA, question_files, read, who_did_what
from gareader.data.examples import Example


def read_all(path: Path, format: str | None = None) -> tuple[list[Example], list[str]]:
    """The good examples and what was said about the bad things."""
    bad: list[CorpusError] = []
    examples = list(read(path, format=format, on_bad=bad.append))
    return examples, [str(error) for error in bad]


def write(format: str, examples: Sequence[Example], path: Path) -> None:
    """A file of the format, or a folder of `.question` files."""
    texts = [CORPORA[format].written(example) for example in examples]
    if format == "question":
        path.mkdir()
        for example, text in zip(examples, texts, strict=True):
            (path / question_files.file_name(example)).write_text(text, encoding="utf-8")
    else:
        begin, end = who_did_what.ROOT if format == "wdw" else ("", "")
        path.write_text(f"{begin}{''.join(texts)}{end}", encoding="utf-8")


write_cbt, write_question_files, write_who_did_what, write_jsonl = (partial(write, name) for name in CORPORA)
