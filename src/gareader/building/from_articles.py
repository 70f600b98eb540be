"""Corpora from articles: questions about news, and about pairs of articles on the same event."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Literal

from gareader.building import articles, news, open_news, pairs
from gareader.building.articles import RawArticle
from gareader.building.baselines import VARIANTS, select_questions, solver
from gareader.building.execution import Execution, Item
from gareader.building.folder import SplitFiles, new_folder, write_card
from gareader.building.similar import Rarity
from gareader.building.story_index import StoryIndex
from gareader.core.errors import BuildError, ConfigError, CorpusError
from gareader.core.parallel import help_with
from gareader.data.corpora import CORPORA, jsonl, question_files, who_did_what
from gareader.data.corpora.files import Report, printable_name

AT_ONCE = 32
"""The number of articles that a worker takes at a time."""


@dataclass(frozen=True)
class Shares:
    validation: float = 0.05
    test: float = 0.05

    def __post_init__(self) -> None:
        if not (self.validation >= 0 <= self.test and self.validation + self.test < 1):
            raise ConfigError(f"shares {self.validation:g} and {self.test:g} leave nothing to train on; lower them")

    def split(self, place: float) -> str:
        if place >= 1 - self.test:
            return "test"
        return "validation" if place >= 1 - self.test - self.validation else "train"


@dataclass(frozen=True)
class NewsBuilder:
    """Builds the questions of some articles; sent to every worker."""

    seed: int = 1
    anonymise: bool = True
    fewest: int = 2
    longest: int | None = None
    """The most words of an article that count: its beginning, up to the end of a sentence."""
    blanks: Literal["names", "all"] = "names"
    """Whether other words than names are blanked too, as people would ask."""
    excluded: StoryIndex | None = None
    """Questions whose stories are left out."""

    def __call__(self, batch: Sequence[RawArticle]) -> list[tuple[str, list[news.NewsQuestion] | None]]:
        """Return the id and the questions of each article; None if it is left out."""
        return [
            (raw.id, None if self.excluded and self.excluded.matches(raw.text) else self.questions(raw))
            for raw in batch
        ]

    def questions(self, raw: RawArticle) -> list[news.NewsQuestion]:
        article = articles.tokenise_article(raw)
        article = article if self.longest is None else article.beginning(self.longest)
        names = news.questions(article, self.seed, self.anonymise, self.fewest)
        return names + open_news.questions(article, self.seed) if self.blanks == "all" else names


def _listed(problems: list[str], report: Report) -> Report:
    """A function that reports a bad article, and lists it for the card."""

    def note(bad: CorpusError) -> None:
        place = f":{bad.line}" if bad.line else ""
        problems.append(f"{printable_name(bad.path)}{place}: {bad.problem}")
        report(bad)

    return note


def build_news(
    paths: Sequence[Path],
    out: Path,
    builder: NewsBuilder,
    execution: Execution,
    *,
    format: str = "question",
    shares: Shares,
) -> Counter[str]:
    """Write the corpus; the seed draws a split for each article. A bad article is reported, the others are built."""
    problems: list[str] = []
    total: Counter[str] = Counter()
    raw = execution.watch(articles.read_raw(paths, "news", _listed(problems, execution.report)))
    stream = execution.map(builder, batches(raw, AT_ONCE))
    if not execution.group.first:
        return help_with(stream)
    with new_folder(out) as folder:
        with SplitFiles(folder, "" if format == "question" else ".jsonl") as files:
            for results in stream:
                for article, questions in results:
                    if questions is None:
                        total.update(excluded=1)
                        continue
                    split = shares.split(Random(f"{builder.seed} part {article}").random())  # noqa: S311
                    total.update(articles=1, questions=len(questions), without=not questions)
                    for question in questions:
                        if format == "question":
                            text = question_files.written(question.example, question.source, question.names)
                            files.write_file(split, question_files.file_name(question.example), text, question.example)
                        else:
                            files.write(split, jsonl.written(question.example), question.example)
        _check_questions(total)
        facts = {
            "settings": {**asdict(replace(builder, excluded=None)), "format": format, **asdict(shares)},
            "counts": dict(total),
            "left out": problems,
        }
        write_card(folder, "Cloze questions from news", facts, files.counts)
    return total


def build_pairs(
    paths: Sequence[Path],
    out: Path,
    settings: pairs.PairSettings,
    execution: Execution,
    *,
    variant: str = "strict",
    format: str = "wdw",
    shares: Shares,
    seed: int = 1,
) -> Counter[str]:
    """Write the corpus; the newest questions are validation and test. All articles are in memory, about 20 kB each."""
    solver()
    problems: list[str] = []
    raw = execution.watch(articles.read_raw(paths, "pairs", _listed(problems, execution.report)))
    stream = execution.map(_tokenised, batches(raw, AT_ONCE))
    if not execution.group.first:
        return help_with(stream)
    with new_folder(out) as folder:
        everything = pairs.by_date(article for batch in stream for article in batch)
        questions = list(pairs.questions(everything, Rarity.of(everything), settings))
        answered, choices = [each.solved for each in questions], [len(each.example.candidates) for each in questions]
        selected = select_questions(answered, choices, VARIANTS[variant], seed)
        total = Counter(articles=len(everything), questions=len(selected), suppressed=len(questions) - len(selected))
        _check_questions(total)
        with SplitFiles(folder, *((".xml", *who_did_what.ROOT) if format == "wdw" else (".jsonl",))) as files:
            for place, number in enumerate(selected):
                example = questions[number].example
                files.write(shares.split(place / len(selected)), CORPORA[format].written(example), example)
        facts = {
            "settings": {**asdict(settings), "variant": variant, "seed": seed, "format": format} | asdict(shares),
            "counts": dict(total),
            "left out": problems,
        }
        write_card(folder, f"Cloze questions from pairs of articles, {variant}", facts, files.counts)
    return total


def _tokenised(batch: Sequence[RawArticle]) -> list[articles.Article]:
    return [articles.tokenise_article(raw) for raw in batch]


def batches(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    while batch := list(islice(items, size)):
        yield batch


def _check_questions(total: Counter[str]) -> None:
    if not total["questions"]:
        raise BuildError("no article gave a question, so nothing was written; see docs/building.md for what is needed")
