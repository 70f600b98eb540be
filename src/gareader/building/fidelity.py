"""The fidelity of built questions to the Children's Book Test's own: equal questions, and similar statistics."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby
from pathlib import Path

from gareader.building.books import BookBuilder
from gareader.building.execution import Execution
from gareader.building.kinds import LISTED, TIMES, often_in_news
from gareader.building.shelf import Book, books
from gareader.core.errors import BuildError, CorpusError
from gareader.data.corpora import read
from gareader.data.examples import Example, Words, filled
from gareader.data.statistics import ANSWER_STATISTICS, CorpusCounts

Key = tuple[Words, Words, Words]
"""A question's document, query and answer."""

CLASSES = {
    "capitalised": "capitalised",
    "capitals": "in capitals",
    "listed": "times, ordinals and listed words",
    "often": "other words, often in the news",
    "seldom": "other words, seldom in the news",
}
"""Classes of words: their names in JSON and their labels in the table."""

_GENERAL = (
    "answer_before_blank",
    "answer_after_blank",
    "distractors_in_query_mean",
    "most_frequent_accuracy",
    "most_frequent_not_in_query_accuracy",
    "distractors_more_frequent_mean",
)


@dataclass(frozen=True)
class Row:
    """A statistic of the official questions and of the built ones."""

    name: str
    label: str
    official: float
    built: float

    @property
    def ratio(self) -> float | None:
        return self.built / self.official if self.official else None

    @property
    def differs(self) -> bool:
        """Whether the two differ by more than a quarter of the official value."""
        return abs(self.built - self.official) > self.official / 4


def word_class(word: str) -> str | None:
    """The word's class in CLASSES; None for punctuation and numbers."""
    if not word[0].isalpha():
        return None
    if word[0].isupper():
        return "capitals" if word.isupper() and len(word) > 1 else "capitalised"
    if word in LISTED or word in TIMES:
        return "listed"
    return "often" if often_in_news(word) else "seldom"


class Profile:
    """The counts behind the table."""

    def __init__(self, passages: Iterable[Sequence[Example]] = ()) -> None:
        self.corpus_counts = CorpusCounts()
        self.answers: Counter[str | None] = Counter()
        self.distractors: Counter[str | None] = Counter()
        self.passages: Counter[int] = Counter()
        """The number of passages by their number of questions."""
        for questions in passages:
            self.add(questions)

    def add(self, questions: Sequence[Example]) -> None:
        self.passages[len(questions)] += 1
        for example in questions:
            self.corpus_counts.add(example)
            for number, words in enumerate(example.candidates):
                (self.answers if number == example.answer else self.distractors)[word_class(words[-1])] += 1

    def merge(self, other: "Profile") -> None:
        self.corpus_counts.merge(other.corpus_counts)
        self.answers += other.answers
        self.distractors += other.distractors
        self.passages += other.passages

    @property
    def questions(self) -> int:
        return self.answers.total()

    def per_passage(self, questions: int) -> float:
        """Expected questions per passage with any, in a sample of `questions` of all questions."""
        share = min(1.0, questions / self.questions)
        sampled_passages = sum(count * (1 - (1 - share) ** size) for size, count in self.passages.items())
        return share * self.questions / sampled_passages


def side_by_side(official: Profile, built: Profile) -> list[Row]:
    """Return the table; questions per passage are those of a sample of the official number of questions."""
    general = official.corpus_counts.statistics(), built.corpus_counts.statistics()
    rows = [Row(name, ANSWER_STATISTICS[name][0], *(getattr(one, name) for one in general)) for name in _GENERAL]
    for what in ("answers", "distractors"):
        counts = getattr(official, what), getattr(built, what)
        rows += [
            Row(f"{what}_{name}", f"{what}: {label}", *(count[name] / count.total() for count in counts))
            for name, label in CLASSES.items()
        ]
    drawn = (one.per_passage(official.questions) for one in (official, built))
    return [*rows, Row("questions_per_passage", "questions per passage that gives any, of as many", *drawn)]


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


def _matches(builder: BookBuilder, keys: frozenset[Key], passages: frozenset[Words], book: Book) -> BookMatches:
    """Build a book's questions and look them up among the official ones."""
    try:
        sentences, questions, _ = builder.questions(book)
    except CorpusError as bad:
        return BookMatches(problem=bad)
    length = builder.config.sentences + 1
    windows = (sentences[start : start + length] for start in range(len(sentences) - length + 1))
    matches = BookMatches(passages={tuple(chain.from_iterable(window)) for window in windows} & passages)
    pairs = zip(questions, builder.examples(book, sentences, questions), strict=True)
    for _, group in groupby(pairs, lambda pair: pair[0].start):
        examples = [example for _, example in group]
        matches.profile.add(examples)
        matches.keys.update(keys.intersection(map(_key, examples)))
    return matches


def measure_fidelity(paths: Sequence[Path], official: Path, builder: BookBuilder, execution: Execution) -> Fidelity:
    """Build every book's questions and compare them with the official ones; report a bad book."""
    passages = _official(official)
    keys = [_key(example) for example in chain.from_iterable(passages.values())]  # some are in the file twice
    built_keys: set[Key] = set()
    built_passages: set[Words] = set()
    profile = Profile()
    count = sum(1 for _ in books(paths, lambda bad: None))
    work = partial(_matches, builder, frozenset(keys), frozenset(passages))
    for matches in execution.watch(execution.map(work, books(paths, execution.report)), count):
        if matches.problem:
            execution.report(matches.problem)
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
        statistics=side_by_side(Profile(passages.values()), profile),
    )


def _official(path: Path) -> dict[Words, list[Example]]:
    """Return the questions of the file by passage: the words of document and query, with the answer in its blank."""
    passages: dict[Words, list[Example]] = {}
    examples = [*read(path)]
    check_answered(examples, path)
    for example in examples:
        passages.setdefault((*example.document, *filled(example)), []).append(example)
    if not passages:
        raise CorpusError("no question is in here; --check takes a file of questions", path)
    return passages


def check_answered(examples: Iterable[Example], path: Path) -> None:
    """Raise CorpusError for a question without a known answer."""
    if unknown := next((example.id for example in examples if example.answer is None), None):
        raise CorpusError(f"{unknown} has no answer; --check takes questions whose answers are known", path)


def _key(example: Example) -> Key:
    return example.document, example.query, example.candidates[example.answer or 0]
