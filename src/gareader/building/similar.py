"""Articles on the same event: alike in their rarest words, near in time, and not copies of each other."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from math import log, sqrt
from zlib import crc32

from gareader.building.articles import Article
from gareader.building.entities import Entity, find_entities
from gareader.building.name_words import STARTERS
from gareader.building.names import Tagger, Words
from gareader.errors import BuildError

_TERMS = 40  # the rarest and most frequent words of an article are its vector
_NAME = 2.0  # a name weighs so much more than another word
_LONGEST_POSTING = 1000  # a word of more articles than this in the window tells nothing of an event
_NEIGHBOURS = 10  # passages tried for an article
_SHINGLE = 5  # words in a row that two writers seldom share


@dataclass(frozen=True, slots=True)
class Rarity:
    """In how many articles each word stands; its memory is the vocabulary's."""

    articles: int
    counts: Counter[str]

    @classmethod
    def of(cls, articles: Iterable[Article]) -> "Rarity":
        """Counted in one pass, nothing of an article kept."""
        counts: Counter[str] = Counter()
        number = 0
        for article in articles:
            number += 1
            counts.update(set(_terms(article)))
        return cls(number, counts)

    def vector(self, article: Article) -> dict[str, float]:
        """The article's strongest words by tf-idf, of length one."""
        weights = {}
        for term, count in _terms(article).items():
            weight = (1 + log(count)) * log((self.articles + 1) / (self.counts[term] or 1))
            weights[term] = weight * (_NAME if term[0].isupper() else 1.0)
        strongest = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:_TERMS]
        length = sqrt(sum(weight * weight for _, weight in strongest))
        return {term: weight / length for term, weight in strongest if weight > 0}


@dataclass(frozen=True, slots=True)
class Known:
    """An article and what is known of it while it is in the window: about 150 kB for one of 800 words."""

    article: Article
    day: date
    entities: tuple[Entity, ...]
    vector: dict[str, float]
    shingles: frozenset[int]

    @property
    def names(self) -> frozenset[Words]:
        """Its entities' names."""
        return frozenset(entity.name for entity in self.entities)


def neighbours(
    articles: Iterable[Article], rarity: Rarity, days: int, similarity: float, tag: Tagger | None = None
) -> Iterator[tuple[Known, list[Known]]]:
    """Each article with those most like it, best first; the articles come in order of date, and 2·days are held."""
    window = _Window(days, similarity)
    for article in articles:
        known = _known(article, rarity, tag)
        yield from window.complete(before=known.day)
        window.add(known)
    yield from window.complete(before=None)


def shingles(words: Words) -> frozenset[int]:
    """Its runs of five words, as numbers."""
    low = [word.lower() for word in words]
    return frozenset(crc32(" ".join(low[at : at + _SHINGLE]).encode()) for at in range(len(low) - _SHINGLE + 1))


def shared(one: frozenset[int], other: frozenset[int]) -> float:
    """How much of the smaller is in the larger."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0


def _terms(article: Article) -> Counter[str]:
    """Its content words; a word is a name's where it has a capital inside a sentence, and then keeps it."""
    counts: Counter[str] = Counter()
    for sentence in article.sentences:
        for place, word in enumerate(sentence):
            low = word.lower()
            if len(word) > 2 and word[0].isalpha() and low not in STARTERS:
                counts[word if place and word[0].isupper() else low] += 1
    return counts


def _known(article: Article, rarity: Rarity, tag: Tagger | None) -> Known:
    if article.date is None:
        raise BuildError(f"article {article.id} has no date; pairs are articles of about the same day: give every date")
    entities = tuple(find_entities(article.sentences, tag))
    return Known(article, article.date, entities, rarity.vector(article), shingles(article.words))


class _Window:
    """The articles of 2·days, indexed by the words of their vectors."""

    def __init__(self, days: int, similarity: float) -> None:
        self.days, self.similarity = days, similarity
        self.held: dict[int, Known] = {}
        self.waiting: deque[int] = deque()  # those whose time after is not yet all in
        self.postings: defaultdict[str, deque[int]] = defaultdict(deque)
        self.count = 0
        self.day = date.min

    def add(self, known: Known) -> None:
        """The next article in order of date."""
        self.held[self.count] = known
        self.waiting.append(self.count)
        for term in known.vector:
            self.postings[term].append(self.count)
        self.count += 1

    def complete(self, before: date | None) -> Iterator[tuple[Known, list[Known]]]:
        """Every waiting article that none to come can be near, with its neighbours; then those of no more use go."""
        if before is not None and before < self.day:
            raise BuildError(f"an article of {before} comes after one of {self.day}; give them in order of date")
        self.day = before or self.day
        while self.waiting and (before is None or (before - self.held[self.waiting[0]].day).days > self.days):
            number = self.waiting.popleft()
            yield self.held[number], self.near(number)
        oldest = self.held[self.waiting[0]].day if self.waiting else before
        while oldest and self.held and (oldest - self.held[first := next(iter(self.held))].day).days > self.days:
            for term in self.held.pop(first).vector:
                self.postings[term].popleft()  # numbers only grow, so the oldest is the first
                if not self.postings[term]:
                    del self.postings[term]

    def near(self, number: int) -> list[Known]:
        """The articles most like this one, by the cosine of their vectors."""
        asked = self.held[number]
        scores: defaultdict[int, float] = defaultdict(float)
        for term, weight in asked.vector.items():
            if len(self.postings[term]) <= _LONGEST_POSTING:
                for other in self.postings[term]:
                    scores[other] += weight * self.held[other].vector[term]
        alike = [
            (-score, other)
            for other, score in scores.items()
            if score >= self.similarity
            and other != number
            and abs((self.held[other].day - asked.day).days) <= self.days
            and self.held[other].article.id != asked.article.id
        ]
        return [self.held[other] for _, other in sorted(alike)[:_NEIGHBOURS]]
