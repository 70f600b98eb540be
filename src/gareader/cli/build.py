"""Commands that make corpora: build books, build news, build pairs."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number
from rich.console import Console
from rich.table import Table

from gareader.building.books import BookBuilder
from gareader.building.books import build as build_books
from gareader.building.execution import Execution
from gareader.building.fidelity import Fidelity, measure_fidelity
from gareader.building.from_articles import NewsBuilder, Shares, build_news, build_pairs
from gareader.building.news_fidelity import NewsFidelity, measure_news, official_questions
from gareader.building.overlap import Excluded
from gareader.building.pairs import PairSettings
from gareader.building.passages import PassageConfig
from gareader.building.shelf import texts
from gareader.building.story_index import StoryIndex
from gareader.cli.app import AtLeastOne, Json, Skipped, T, percent, tell, watch
from gareader.core.distributed import ALONE, Group, joined
from gareader.core.errors import BuildError

build = App(name="build", help="Make cloze corpora from one's own text.")

Processes = Annotated[
    int | None, Parameter(validator=Number(gte=1), help="Processes; as many as there are cores if not given.")
]
OutFolder = Parameter(help="The folder to write: the questions of each split, card.md and card.json.")
Seed = Annotated[int, Parameter(help="The same seed gives the same corpus, byte for byte.")]


@build.command
def books(
    file: Path,
    *more: Path,
    out: Annotated[Path | None, OutFolder] = None,
    kind: Literal["NE", "CN", "V", "P"] = "NE",
    sentences: AtLeastOne = 20,
    stride: AtLeastOne = 1,
    candidates: Annotated[int, Parameter(validator=Number(gte=2))] = 10,
    most: AtLeastOne | None = None,
    validation_books: Annotated[int | None, Parameter(validator=Number(gte=0))] = None,
    test_books: Annotated[int | None, Parameter(validator=Number(gte=0))] = None,
    exclude: Annotated[list[Path], Parameter(consume_multiple=True)] = [],  # noqa: B006
    check: Path | None = None,
    format: Literal["cbt", "jsonl"] = "cbt",
    seed: Seed = 1,
    workers: Processes = None,
    as_json: Json = False,
) -> None:
    """Questions as the Children's Book Test has them: a passage, and the next sentence with one word missing.

    Example: `gareader build books configs/tiny/book.txt --out corpus`

    Parameters
    ----------
    file
        A book as raw text (Project Gutenberg files as they come), or tokenised: one sentence a line, `_BOOK_TITLE_`
        before each book. Plain, .gz or .xz.
    more
        Other books.
    kind
        What is asked for: names (NE; also times and rare nouns), common nouns, verbs or prepositions.
    sentences
        Sentences of the document; the next one is the query.
    stride
        Sentences from the beginning of one passage to that of the next.
    candidates
        Possible answers of each question.
    most
        Questions from one passage at most; as many as it gives if not set.
    validation_books
        Books to hold out for validation, drawn by the seed; one in twenty, and at least one of three, if not set.
    test_books
        Books to hold out for the test, likewise.
    exclude
        Texts or question files; a passage that has 12 words in a row in common with one of them is left out.
    check
        An official file of questions from the same books: say which share of its questions is made, and show the
        statistics of both side by side, with a mark where they differ by more than a quarter.
    format
        How to write the questions: as the corpus's own files, or as JSON lines.
    """
    if out is None and check is None:
        raise BuildError("say where to write the corpus with --out FOLDER, or what to compare with, with --check FILE")
    paths = [file, *more]
    excluded = Excluded.from_texts(text for path in exclude for text in texts(path)) if exclude else None
    config = PassageConfig(kind, sentences, stride, candidates, most, seed)
    builder = BookBuilder(config, format, excluded)
    skipped = Skipped()
    if out is not None:
        started = monotonic()
        with joined() as group:
            execution = _execution(workers, group, skipped, "building", "books")
            counts = build_books(paths, out, builder, execution, (validation_books, test_books))
            if not group.first:
                return
        seconds = monotonic() - started
        speed = counts["words"] / seconds / execution.workers / group.size
        text = (
            f"{out}: {counts['questions']:,} questions from {counts['books']:,} books; see {out / 'card.md'}\n"
            f"{counts['words']:,} words in {seconds:,.0f} s, {speed:,.0f} a second and process"
        )
        tell({"out": str(out), **counts, "skipped": skipped.count, "seconds": round(seconds, 2)}, text, as_json)
    if check is not None:
        measured = measure_fidelity(paths, check, builder, _execution(workers, ALONE, skipped, "comparing", "books"))
        text = (
            f"{percent(measured.found)} of {measured.questions:,} official questions are among the "
            f"{measured.built:,} built, {measured.per_passage:.2f} a passage; "
            f"{percent(measured.reproduced)} of {measured.passages:,} official passages are reproduced"
        )
        _print_fidelity(check, measured, text, as_json)


@build.command
def news(
    file: Path,
    *more: Path,
    out: Annotated[Path | None, OutFolder] = None,
    anonymise: Annotated[bool, Parameter(negative="--no-anonymise")] = True,
    validation: float = 0.05,
    test: float = 0.05,
    fewest: Annotated[int, Parameter(validator=Number(gte=2))] = 2,
    longest: AtLeastOne | None = None,
    blanks: Literal["names", "all"] = "names",
    exclude: Annotated[list[Path], Parameter(consume_multiple=True)] = [],  # noqa: B006
    check: Path | None = None,
    format: Literal["question", "jsonl"] = "question",
    seed: Seed = 1,
    workers: Processes = None,
    as_json: Json = False,
) -> None:
    """Questions as CNN and Daily Mail have them: an article, and a summary point with one entity missing.

    Example: `gareader build news configs/tiny/news.jsonl --out news`

    Parameters
    ----------
    file
        Articles, one JSON object a line: {"id": …, "article": …, "highlights": […]}. Plain, .gz or .xz.
    more
        Other files.
    anonymise
        Replace names by marks @entityN, permuted for each article; with --no-anonymise the words stay.
    validation
        Share of the articles to hold out for validation, drawn by the seed.
    test
        Share of the articles to hold out for the test, likewise.
    fewest
        Candidates of a question at least.
    longest
        Words of an article at most: the rest is cut off after a sentence, with its names. Short articles train faster.
    exclude
        Folders or archives of .question files; the stories of these questions are left out, as for a fair test.
    check
        A folder or archive of official .question files: find their stories among the articles, say which share of
        the questions is made, and show the statistics of both side by side.
    blanks
        What is missing: names, as the corpora have it, or also nouns, verbs, numbers, dates and adjectives, with the
        candidates that gareader proposes for a question of your own. For --no-anonymise.
    format
        How to write the questions: a .question file each, as the corpora have them, or JSON lines.
    """
    if out is None and check is None:
        raise BuildError("say where to write the corpus with --out FOLDER, or what to compare with, with --check FILE")
    if blanks == "all" and anonymise:
        raise BuildError("--blanks all asks for words, which marks would hide; add --no-anonymise")
    documents = [example.document for path in exclude for example in official_questions(path)]
    builder = NewsBuilder(seed, anonymise, fewest, longest, blanks, StoryIndex.of(documents) if documents else None)
    paths = [file, *more]
    skipped = Skipped()
    if out is not None:
        with joined() as group:
            execution = _execution(workers, group, skipped, "building", "articles")
            counts = build_news(paths, out, builder, execution, format=format, shares=Shares(validation, test))
            if not group.first:
                return
        _print_counts(out, counts, skipped.count, as_json)
    if check is not None:
        measured = measure_news(paths, check, builder, _execution(workers, ALONE, skipped, "searching", "articles"))
        text = (
            f"{percent(measured.found)} of {measured.questions:,} official questions are among the "
            f"{measured.built:,} built from their {measured.stories:,} stories, "
            f"{measured.built / measured.stories:.2f} a story; the stories of {percent(measured.matched)} are given\n"
            f"{percent(measured.mentions_found)} of the official mentions are found, "
            f"{percent(measured.mentions_official)} of those found are official; "
            f"{percent(measured.split)} of the official entities are split, "
            f"{percent(measured.joined)} of the built ones join several"
        )
        _print_fidelity(check, measured, text, as_json)


@build.command
def pairs(
    file: Path,
    *more: Path,
    out: Annotated[Path, OutFolder],
    variant: Literal["strict", "relaxed"] = "strict",
    days: int = 14,
    similarity: float = 0.2,
    most: int = 5,
    validation: float = 0.05,
    test: float = 0.05,
    format: Literal["wdw", "jsonl"] = "wdw",
    seed: int = 1,
    workers: Processes = None,
    as_json: Json = False,
) -> None:
    """Questions as Who Did What has them: a sentence of one article about another; needs the extra `pairs`.

    Example: `gareader build pairs configs/tiny/dated.jsonl --out pairs`

    Parameters
    ----------
    file
        Articles, one JSON object a line: {"id": …, "date": "YYYY-MM-DD", "article": …}. Plain, .gz or .xz.
    more
        Other files.
    variant
        How many questions that simple baselines answer are thinned out: strict until no baseline is better than
        chance, relaxed until none is better than half as much again.
    days
        Days between the two articles at most.
    similarity
        How alike the two articles are at least, from 0 to 1.
    most
        Choices of a question at most.
    validation
        Share of the questions to hold out for validation: the newest but for the test's.
    test
        Share of the questions to hold out for the test: the newest.
    format
        How to write the questions: as the corpus's own XML, or as JSON lines.
    seed
        Draws which questions are thinned out.
    """
    skipped = Skipped()
    with joined() as group:
        counts = build_pairs(
            [file, *more],
            out,
            PairSettings(days=days, similarity=similarity, most=most),
            _execution(workers, group, skipped, "reading", "articles"),
            variant=variant,
            format=format,
            shares=Shares(validation, test),
            seed=seed,
        )
        if group.first:
            _print_counts(out, counts, skipped.count, as_json)


def _execution(workers: int | None, group: Group, skipped: Skipped, label: str, unit: str) -> Execution:
    """Work on all cores if no number is given, with errors and progress on stderr; only rank 0 of a group prints."""
    if not group.first:
        return Execution(workers or group.workers, group, lambda bad: None)

    def watched(items: Iterable[T], total: int | None = None) -> Iterator[T]:
        return watch(items, label, total, unit=unit, every=1 if unit == "books" else 100)

    return Execution(workers or group.workers, group, skipped, watched)


def _print_counts(out: Path, counts: Mapping[str, int], skipped: int, as_json: bool) -> None:
    text = f"{out}: {counts['questions']:,} questions from {counts['articles']:,} articles; see {out / 'card.md'}"
    tell({"out": str(out), **counts, "skipped": skipped}, text, as_json)


def _print_fidelity(check: Path, measured: Fidelity | NewsFidelity, text: str, as_json: bool) -> None:
    """Print official and built questions side by side, with a mark where they differ by more than a quarter."""
    rows = measured.statistics
    if as_json:
        records = [{**asdict(row), "ratio": row.ratio, "differs": row.differs} for row in rows]
        print(json.dumps({"check": str(check), **asdict(measured), "statistics": records}))
        return
    print(text)
    table = Table("", "official", "built", "ratio", "", box=None, header_style="bold")
    for column in table.columns[1:4]:
        column.justify = "right"
    for row in rows:
        style = "{:.3f}" if row.name.endswith(("mean", "per_passage")) else "{:.2%}"
        ratio = "–" if row.ratio is None else f"{row.ratio:.2f}"
        mark = "differs" if row.differs else ""
        table.add_row(row.label, style.format(row.official), style.format(row.built), ratio, mark)
    Console().print(table)
