"""Two sets of questions of the Children's Book Test side by side: statistics of their answers and distractors."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gareader.building.kinds import LISTED, TIMES, often_in_news
from gareader.data.examples import Example
from gareader.data.statistics import Tally

CLASSES = {
    "capitalised": "capitalised",
    "capitals": "in capitals",
    "listed": "times, ordinals and listed words",
    "often": "other words, often in the news",
    "seldom": "other words, seldom in the news",
}
"""Classes of words: their names in JSON and their labels in the table."""

_GENERAL = {
    "answer_before_blank": "answer also before the blank",
    "answer_after_blank": "answer also after the blank",
    "distractors_in_query_mean": "distractors in the query, mean",
    "most_frequent_accuracy": "most frequent candidate is right",
    "most_frequent_not_in_query_accuracy": "… that is not in the query",
    "distractors_more_frequent_mean": "distractors more frequent than the answer, mean",
}


@dataclass(frozen=True)
class Row:
    """A statistic of the official questions and of the built ones."""

    name: str
    label: str
    official: float
    built: float

    @property
    def ratio(self) -> float | None:
        """The ratio of built to official."""
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

    def __init__(self) -> None:
        self.tally = Tally()
        self.answers: Counter[str | None] = Counter()
        self.distractors: Counter[str | None] = Counter()
        self.passages: Counter[int] = Counter()
        """The number of passages by their number of questions."""

    def add(self, questions: Sequence[Example]) -> None:
        """Count the questions of one passage."""
        self.passages[len(questions)] += 1
        for example in questions:
            self.tally.add(example)
            for number, words in enumerate(example.candidates):
                (self.answers if number == example.answer else self.distractors)[word_class(words[-1])] += 1

    def merge(self, other: "Profile") -> None:
        """Add the counts of another profile."""
        self.tally.merge(other.tally)
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
    general = official.tally.statistics(), built.tally.statistics()
    rows = [Row(name, label, *(getattr(one, name) for one in general)) for name, label in _GENERAL.items()]
    for what in ("answers", "distractors"):
        counts = getattr(official, what), getattr(built, what)
        rows += [
            Row(f"{what}_{name}", f"{what}: {label}", *(count[name] / count.total() for count in counts))
            for name, label in CLASSES.items()
        ]
    drawn = (one.per_passage(official.questions) for one in (official, built))
    return [*rows, Row("questions_per_passage", "questions per passage that gives any, of as many", *drawn)]
