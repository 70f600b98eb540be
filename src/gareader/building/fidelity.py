"""The fidelity of built questions to the Children's Book Test's own: equal questions, and similar statistics."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from pathlib import Path

from gareader.building.books import BookBuilder
from gareader.building.likeness import Profile, Row, side_by_side
from gareader.building.shelf import Book, books
from gareader.core.errors import BuildError, CorpusError
from gareader.core.parallel import in_order
from gareader.data.corpora import read
from gareader.data.corpora.files import Report
from gareader.data.examples import PLACEHOLDER, Example, Words

Key = tuple[Words, Words, Words]
"""A question's document, query and answer."""


@dataclass(frozen=True)
class Fidelity:
    """Shares of the official questions and passages that are built too, and statistics of both sets of questions."""

    questions: int
    """The number of official questions."""
    found: float
    """Share of the official questions that were built too: the same passage, the same blank."""
    passages: int
    """The number of distinct official passages."""
    reproduced: float
    """Share of the official passages that the books have word for word, sentence by sentence."""
    built: int
    """The number of built questions."""
    per_passage: float
    """Built questions per passage with any question, on average."""
    statistics: list[Row]


@dataclass(frozen=True)
class BookMatches:
    """The official questions and passages of one book, and the profile of all its questions."""

    keys: set[Key] = field(default_factory=set)
    """The official questions among its own."""
    passages: set[Words] = field(default_factory=set)
    """The official passages among its own."""
    profile: Profile = field(default_factory=Profile)
    problem: CorpusError | None = None


@dataclass(frozen=True)
class FidelityCheck:
    """Builds a book's questions and looks them up among the official ones; sent to every worker."""

    builder: BookBuilder
    keys: frozenset[Key]
    passages: frozenset[Words]

    def __call__(self, book: Book) -> BookMatches:
        """Build and compare the questions of one book."""
        try:
            sentences, questions, _ = self.builder.questions(book)
        except CorpusError as bad:
            return BookMatches(problem=bad)
        length = self.builder.config.sentences + 1
        windows = (sentences[start : start + length] for start in range(len(sentences) - length + 1))
        matches = BookMatches(passages={tuple(chain.from_iterable(window)) for window in windows} & self.passages)
        pairs = zip(questions, self.builder.examples(book, sentences, questions), strict=True)
        for _, group in groupby(pairs, lambda pair: pair[0].start):
            examples = [example for _, example in group]
            matches.profile.add(examples)
            matches.keys.update(key for key in map(_key, examples) if key in self.keys)
        return matches


def measure_fidelity(
    paths: Sequence[Path],
    official: Path,
    builder: BookBuilder,
    *,
    workers: int,
    report: Report,
    watch: Callable[[Iterator[BookMatches], int], Iterator[BookMatches]],
) -> Fidelity:
    """Build every book's questions and compare them with the official ones; report a bad book."""
    passages = _official(official)
    keys = [_key(example) for example in chain.from_iterable(passages.values())]  # some are in the file twice
    built_keys: set[Key] = set()
    built_passages: set[Words] = set()
    profile = Profile()
    count = sum(1 for _ in books(paths, lambda bad: None))
    work = FidelityCheck(builder, frozenset(keys), frozenset(passages))
    for matches in watch(in_order(work, books(paths, report), workers), count):
        if matches.problem:
            report(matches.problem)
        built_keys |= matches.keys
        built_passages |= matches.passages
        profile.merge(matches.profile)
    if not profile.questions:
        raise BuildError("no book gave a question; see what was said about each")
    return Fidelity(
        questions=len(keys),
        found=sum(key in built_keys for key in keys) / len(keys),
        passages=len(passages),
        reproduced=len(built_passages) / len(passages),
        built=profile.questions,
        per_passage=profile.per_passage(profile.questions),
        statistics=side_by_side(_profile(passages.values()), profile),
    )


def _official(path: Path) -> dict[Words, list[Example]]:
    """Return the questions of the file by passage: the words of document and query, with the answer in its blank."""
    passages: dict[Words, list[Example]] = {}
    for example in read(path):
        if example.answer is None:
            raise CorpusError(f"{example.id} has no answer; --check takes questions whose answers are known", path)
        blank = example.query.index(PLACEHOLDER)
        query = (*example.query[:blank], *example.candidates[example.answer], *example.query[blank + 1 :])
        passages.setdefault((*example.document, *query), []).append(example)
    if not passages:
        raise CorpusError("no question is in here; --check takes a file of questions", path)
    return passages


def _profile(passages: Iterable[Sequence[Example]]) -> Profile:
    profile = Profile()
    for examples in passages:
        profile.add(examples)
    return profile


def _key(example: Example) -> Key:
    return example.document, example.query, example.candidates[example.answer or 0]
