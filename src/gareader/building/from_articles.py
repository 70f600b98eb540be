"""Corpora from articles: questions about news, and about pairs of articles on the same event, into a folder."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import TypeVar

from gareader.building import articles, news, pairs
from gareader.building.articles import RawArticle
from gareader.building.baselines import RELAXED, STRICT, kept
from gareader.building.folder import Parts, new_folder, write_card
from gareader.building.names import Tagger
from gareader.building.perceptron import Perceptron
from gareader.building.similar import Rarity
from gareader.corpora import CORPORA, jsonl, question_files, who_did_what
from gareader.corpora.files import Report, file_name
from gareader.distributed import ALONE, Group
from gareader.errors import BuildError, ConfigError, CorpusError
from gareader.parallel import help_with, in_order

Item = TypeVar("Item")

_AT_ONCE = 32
"""Articles that a worker takes at a time."""

VARIANTS = {"strict": STRICT, "relaxed": RELAXED}


@dataclass(frozen=True)
class Shares:
    """How much is held out."""

    validation: float = 0.05
    test: float = 0.05

    def __post_init__(self) -> None:
        if not (self.validation >= 0 <= self.test and self.validation + self.test < 1):
            raise ConfigError(f"shares {self.validation:g} and {self.test:g} leave nothing to train on; lower them")

    def part(self, place: float) -> str:
        """The part for a place between 0 and 1."""
        if place >= 1 - self.test:
            return "test"
        return "validation" if place >= 1 - self.test - self.validation else "train"


@dataclass(frozen=True)
class NewsBuilder:
    """Makes the questions of some articles; sent to every worker."""

    seed: int = 1
    anonymise: bool = True
    fewest: int = 2
    tagger: bool = False

    def __call__(self, some: Sequence[RawArticle]) -> list[tuple[str, list[news.NewsQuestion]]]:
        """Each article's id and questions."""
        tag = _tagger() if self.tagger else None
        return [
            (raw.id, news.questions(articles.in_words(raw), self.seed, self.anonymise, tag, self.fewest))
            for raw in some
        ]


@cache
def _tagger() -> Tagger:
    """NLTK's, a sentence at a time."""
    tag = Perceptron.load().tag
    return lambda words: tag([words])[0]


class _Told:
    """Bad articles: each is reported, and noted for the card."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self.problems: list[str] = []

    def __call__(self, bad: CorpusError) -> None:
        place = f":{bad.line}" if bad.line else ""
        self.problems.append(f"{file_name(bad.path)}{place}: {bad.problem}")
        self._report(bad)


def build_news(
    paths: Sequence[Path],
    out: Path,
    builder: NewsBuilder,
    *,
    format: str = "question",
    shares: Shares,
    workers: int,
    group: Group = ALONE,
    report: Report,
    watch: Callable[[Iterator[RawArticle]], Iterator[RawArticle]],
) -> Counter[str]:
    """Write the corpus; whole articles are held out, drawn by the seed. A bad article is reported, the others built."""
    told = _Told(report)
    total: Counter[str] = Counter()
    raw = watch(_articles(paths, "news", told))
    stream = in_order(builder, _groups(raw, _AT_ONCE), workers, group)
    if not group.first:
        return help_with(stream)
    with new_folder(out) as folder:
        with Parts(folder, "" if format == "question" else ".jsonl") as parts:
            for some in stream:
                for article, questions in some:
                    part = shares.part(Random(f"{builder.seed} part {article}").random())  # noqa: S311
                    total.update(articles=1, questions=len(questions), without=not questions)
                    for question in questions:
                        if format == "question":
                            text = question_files.written(question.example, question.source, question.names)
                            parts.write_file(part, question_files.file_name(question.example), text, question.example)
                        else:
                            parts.write(part, jsonl.written(question.example), question.example)
        _no_question(total)
        facts = {
            "settings": {**asdict(builder), "format": format, **asdict(shares)},
            "counts": dict(total),
            "left out": told.problems,
        }
        write_card(folder, "Cloze questions from news", facts, parts.tallies)
    return total


def build_pairs(
    paths: Sequence[Path],
    out: Path,
    settings: pairs.PairSettings,
    *,
    variant: str = "strict",
    format: str = "wdw",
    shares: Shares,
    seed: int = 1,
    tagger: bool = False,
    workers: int,
    group: Group = ALONE,
    report: Report,
    watch: Callable[[Iterator[RawArticle]], Iterator[RawArticle]],
) -> Counter[str]:
    """Write the corpus; the newest questions are held out. All articles are in memory, about 20 kB of text each."""
    told = _Told(report)
    raw = _groups(watch(_articles(paths, "pairs", told)), _AT_ONCE)
    stream = in_order(_tokenised, raw, workers, group)
    if not group.first:
        return help_with(stream)
    with new_folder(out) as folder:
        everything = pairs.in_order(article for some in stream for article in some)
        found = list(pairs.questions(everything, Rarity.of(everything), settings, _tagger() if tagger else None))
        answered, choices = [each.solved for each in found], [len(each.example.candidates) for each in found]
        chosen = kept(answered, choices, VARIANTS[variant], seed)
        total = Counter(articles=len(everything), questions=len(chosen), suppressed=len(found) - len(chosen))
        _no_question(total)
        with Parts(folder, *((".xml", *who_did_what.ROOT) if format == "wdw" else (".jsonl",))) as parts:
            for place, number in enumerate(chosen):
                example = found[number].example
                parts.write(shares.part(place / len(chosen)), CORPORA[format].written(example), example)
        facts = {
            "settings": {**asdict(settings), "variant": variant, "seed": seed, "tagger": tagger, "format": format}
            | asdict(shares),
            "counts": dict(total),
            "left out": told.problems,
        }
        write_card(folder, f"Cloze questions from pairs of articles, {variant}", facts, parts.tallies)
    return total


def _articles(paths: Iterable[Path], kind: articles.Kind, report: Report) -> Iterator[RawArticle]:
    seen: set[str] = set()
    for path in paths:
        try:
            yield from articles.read_raw(path, kind, report, seen)
        except CorpusError as bad:  # a file that cannot be opened
            report(bad)


def _tokenised(some: Sequence[RawArticle]) -> list[articles.Article]:
    return [articles.in_words(raw) for raw in some]


def _groups(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    while group := list(islice(items, size)):
        yield group


def _no_question(total: Counter[str]) -> None:
    if not total["questions"]:
        raise BuildError("no article gave a question, so nothing was written; see docs/building.md for what is needed")
