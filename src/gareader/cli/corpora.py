"""Commands about corpora: describe, prepare."""

import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from gareader.cli.app import AtLeastOne, Format, Json, SkipBad, Skipped, tell, watch
from gareader.core.distributed import ALONE
from gareader.data import statistics
from gareader.data.sources import read_examples


def describe(corpus: str, *more: str, format: Format = None, skip_bad: SkipBad = False, as_json: Json = False) -> None:
    """Statistics of corpora: the table of the paper's appendix, and the accuracy of guessing by frequency.

    Example: `gareader describe configs/tiny/train.txt`

    Parameters
    ----------
    corpus
        A file or folder of questions, plain, .gz or .xz, or a corpus made by `gareader prepare`.
    more
        Other corpora, for a table with a column each.
    """
    columns = []
    for path in (corpus, *more):
        skipped = Skipped()
        examples = read_examples(path, format=format, on_bad=skipped if skip_bad else None)
        row = asdict(statistics.describe(watch(examples, f"reading {path}")))
        columns.append({"corpus": str(path), **row, "skipped": skipped.count})
    if as_json:
        for column in columns:
            print(json.dumps(column))
    else:
        print_table(columns)


STATISTICS = {
    "examples": ("examples", "{:,}"),
    "vocabulary": ("vocabulary", "{:,}"),
    "vocabulary_lowercase": ("vocabulary, lower case", "{:,}"),
    "document_words_mean": ("document words, mean", "{:.2f}"),
    "document_words_max": ("document words, max", "{:,}"),
    "query_words_mean": ("query words, mean", "{:.2f}"),
    "query_words_max": ("query words, max", "{:,}"),
    "candidates_mean": ("candidates, mean", "{:.2f}"),
    "answers": ("answers known", "{:,}"),
    **statistics.ANSWER_STATISTICS,
    "skipped": ("bad examples skipped", "{:,}"),
}
"""The label and the format of each number of `describe`."""


def print_table(columns: list[dict[str, object]]) -> None:
    """Print a table with a row for each statistic and a column for each corpus."""
    table = Table("", *(Path(str(column["corpus"])).name for column in columns), box=None, header_style="bold")
    for cell in table.columns[1:]:
        cell.justify = "right"
    for key, (label, style) in STATISTICS.items():
        table.add_row(
            label, *("–" if column[key] is None else style.format(column[key], digits=2) for column in columns)
        )
    Console().print(table)


def prepare(
    corpus: Path,
    *,
    out: Path,
    shard: AtLeastOne | None = None,
    workers: AtLeastOne | None = None,
    format: Format = None,
    skip_bad: SkipBad = False,
    as_json: Json = False,
) -> None:
    """Write a corpus as memory-mapped Arrow, which opens at once whatever its size.

    Example: `gareader prepare configs/tiny/train.txt --out tiny.arrow`

    Parameters
    ----------
    corpus
        A file or folder of questions, plain, .gz or .xz.
    out
        The Arrow file to write; pyarrow, polars and datasets read it too.
    shard
        Write a folder of files instead, each with at least so many questions.
    workers
        Processes that read a plain file of CBT or JSON lines; as many as there are cores if not given.
    """
    from gareader.data.store import prepare_corpus

    skipped = Skipped()
    prepared = prepare_corpus(
        corpus,
        out,
        format=format,
        on_bad=skipped if skip_bad else None,
        shard=shard,
        workers=workers or ALONE.workers,
        watch=lambda numbers: watch(numbers, f"preparing {corpus}"),
    )
    count, words = len(prepared), len(prepared.words)
    record = {"out": str(out), "examples": count, "words": words, "skipped": skipped.count}
    tell(record, f"{out}: {count:,} examples, {words:,} words, {skipped.count:,} bad examples skipped", as_json)
