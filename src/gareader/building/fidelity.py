"""How near built questions come to the Children's Book Test's own: the same questions found, the same statistics."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from pathlib import Path

from gareader.building.books import BookBuilder
from gareader.building.kinds import Words
from gareader.building.likeness import Profile, Row, side_by_side
from gareader.building.shelf import Book, books
from gareader.corpora import read
from gareader.corpora.files import Report
from gareader.errors import BuildError, CorpusError
from gareader.examples import PLACEHOLDER, Example
from gareader.parallel import in_order

Key = tuple[Words, Words, Words]
"""A question's document, query and answer."""


@dataclass(frozen=True)
class Fidelity:
    """Shares of the official questions and passages, and statistics of both sets of questions."""

    questions: int
    """Official ones."""
    found: float
    """Share of them that was built too: the same passage, the same blank."""
    passages: int
    """Official ones, each counted once."""
    reproduced: float
    """Share of them that the books have word for word, sentence by sentence."""
    built: int
    """Questions built."""
    per_passage: float
    """Questions built from a passage that gives any, on average."""
    statistics: list[Row]


@dataclass(frozen=True)
class Seen:
    """What a book gives."""

    keys: set[Key] = field(default_factory=set)
    """Official questions among its own."""
    passages: set[Words] = field(default_factory=set)
    """Official passages among its own."""
    profile: Profile = field(default_factory=Profile)
    problem: CorpusError | None = None


@dataclass(frozen=True)
class Comparison:
    """Makes a book's questions and looks them up among the official ones; sent to every worker."""

    builder: BookBuilder
    keys: frozenset[Key]
    passages: frozenset[Words]

    def __call__(self, book: Book) -> Seen:
        """What the book gives."""
        try:
            sentences, questions, _ = self.builder.questions(book)
        except CorpusError as bad:
            return Seen(problem=bad)
        length = self.builder.config.sentences + 1
        windows = (sentences[start : start + length] for start in range(len(sentences) - length + 1))
        seen = Seen(passages={tuple(chain.from_iterable(window)) for window in windows} & self.passages)
        asked = zip(questions, self.builder.examples(book, sentences, questions), strict=True)
        for _, some in groupby(asked, lambda pair: pair[0].start):
            examples = [example for _, example in some]
            seen.profile.add(examples)
            seen.keys.update(key for key in map(_key, examples) if key in self.keys)
        return seen


def compare(
    paths: Sequence[Path],
    official: Path,
    builder: BookBuilder,
    *,
    workers: int,
    report: Report,
    watch: Callable[[Iterator[Seen], int], Iterator[Seen]],
) -> Fidelity:
    """Build every book's questions and look for the official ones; a bad book is reported."""
    theirs = _official(official)
    keys = [_key(example) for example in chain.from_iterable(theirs.values())]  # some are in the file twice
    found: set[Key] = set()
    reproduced: set[Words] = set()
    profile = Profile()
    count = sum(1 for _ in books(paths, lambda bad: None))
    work = Comparison(builder, frozenset(keys), frozenset(theirs))
    for seen in watch(in_order(work, books(paths, report), workers), count):
        if seen.problem:
            report(seen.problem)
        found |= seen.keys
        reproduced |= seen.passages
        profile.merge(seen.profile)
    if not profile.questions:
        raise BuildError("no book gave a question; see what was said about each")
    return Fidelity(
        questions=len(keys),
        found=sum(key in found for key in keys) / len(keys),
        passages=len(theirs),
        reproduced=len(reproduced) / len(theirs),
        built=profile.questions,
        per_passage=profile.per_passage(profile.questions),
        statistics=side_by_side(_profile(theirs.values()), profile),
    )


def _official(path: Path) -> dict[Words, list[Example]]:
    """The questions of the file by their passages, whose words are those of document and query with the answer."""
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
