"""Articles on the same event: similar in their rarest words, near in time, and not copies of each other."""

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import chain
from math import log, sqrt
from zlib import crc32

from gareader.building.articles import Article
from gareader.core.errors import BuildError
from gareader.data.examples import Words
from gareader.data.language.entities import Entity, find_entities
from gareader.data.language.name_words import STARTERS

_TERMS = 40  # the words of an article's vector, those with the largest tf-idf
_NAME = 2.0  # the factor of a name's weight
_LONGEST_POSTING = 1000  # a word in more articles of the window is no sign of an event
_NEIGHBOURS = 10  # the most passages to try for an article
_SHINGLE = 5  # words in a row, which two writers seldom share


@dataclass(frozen=True, slots=True)
class Rarity:
    """Document frequencies: the number of articles with each word; memory grows with the vocabulary."""

    articles: int
    counts: Counter[str]

    @classmethod
    def of(cls, articles: Collection[Article]) -> "Rarity":
        return cls(len(articles), Counter(chain.from_iterable(map(_terms, articles))))

    def vector(self, article: Article) -> dict[str, float]:
        """The tf-idf vector of the article's strongest words, of length one."""
        weights = {}
        for term, count in _terms(article).items():
            weight = (1 + log(count)) * log((self.articles + 1) / (self.counts[term] or 1))
            weights[term] = weight * (_NAME if term[0].isupper() else 1.0)
        strongest = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:_TERMS]
        length = sqrt(sum(weight * weight for _, weight in strongest))
        return {term: weight / length for term, weight in strongest if weight > 0}


@dataclass(frozen=True, slots=True)
class IndexedArticle:
    """An article with its entities, vector and shingles: about 150 kB for one of 800 words."""

    article: Article
    day: date
    entities: tuple[Entity, ...]
    vector: dict[str, float]
    shingles: frozenset[int]

    @property
    def names(self) -> frozenset[Words]:
        return frozenset(entity.name for entity in self.entities)


def neighbours(
    articles: Iterable[Article], rarity: Rarity, days: int, similarity: float
) -> Iterator[tuple[IndexedArticle, list[IndexedArticle]]]:
    """Yield each article with the most similar ones, best first; articles must be in order of date.

    Only the articles of 2·days are in memory.
    """
    window = _Window(days, similarity)
    for article in articles:
        indexed = _indexed(article, rarity)
        yield from window.complete(before=indexed.day)
        window.add(indexed)
    yield from window.complete(before=None)


def shingles(words: Words) -> frozenset[int]:
    """Hashes of all runs of five words, ignoring case."""
    low = [word.lower() for word in words]
    return frozenset(crc32(" ".join(low[at : at + _SHINGLE]).encode()) for at in range(len(low) - _SHINGLE + 1))


def shared(one: frozenset[int], other: frozenset[int]) -> float:
    """The share of the smaller set that is in the larger."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0


def _terms(article: Article) -> Counter[str]:
    """The article's content words in lower case; those with a capital inside a sentence, probably names, keep it."""
    counts: Counter[str] = Counter()
    for sentence in article.sentences:
        for place, word in enumerate(sentence):
            low = word.lower()
            if len(word) > 2 and word[0].isalpha() and low not in STARTERS:
                counts[word if place and word[0].isupper() else low] += 1
    return counts


def _indexed(article: Article, rarity: Rarity) -> IndexedArticle:
    if article.date is None:
        raise BuildError(f"article {article.id} has no date; pairs are articles of about the same day: give every date")
    entities = tuple(find_entities(article.sentences))
    return IndexedArticle(article, article.date, entities, rarity.vector(article), shingles(article.words))


class _Window:
    """The articles of 2·days, with an inverted index of the words of their vectors."""

    def __init__(self, days: int, similarity: float) -> None:
        self.days, self.similarity = days, similarity
        self.held: dict[int, IndexedArticle] = {}
        self.waiting: deque[int] = deque()  # articles that later ones may still be near
        self.postings: defaultdict[str, deque[int]] = defaultdict(deque)
        self.count = 0
        self.day = date.min

    def add(self, indexed: IndexedArticle) -> None:
        self.held[self.count] = indexed
        self.waiting.append(self.count)
        for term in indexed.vector:
            self.postings[term].append(self.count)
        self.count += 1

    def complete(self, before: date | None) -> Iterator[tuple[IndexedArticle, list[IndexedArticle]]]:
        """Yield every waiting article that no later one can be near, with its neighbours; then drop old articles."""
        if before is not None and before < self.day:
            raise BuildError(f"an article of {before} comes after one of {self.day}; give them in order of date")
        self.day = before or self.day
        while self.waiting and (before is None or (before - self.held[self.waiting[0]].day).days > self.days):
            number = self.waiting.popleft()
            yield self.held[number], self.near(number)
        oldest = self.held[self.waiting[0]].day if self.waiting else before
        while oldest and self.held and (oldest - self.held[first := next(iter(self.held))].day).days > self.days:
            for term in self.held.pop(first).vector:
                self.postings[term].popleft()  # numbers only grow, so that the oldest is the first
                if not self.postings[term]:
                    del self.postings[term]

    def near(self, number: int) -> list[IndexedArticle]:
        """The most similar articles, by the cosine of their vectors."""
        article = self.held[number]
        scores: defaultdict[int, float] = defaultdict(float)
        for term, weight in article.vector.items():
            if len(self.postings[term]) <= _LONGEST_POSTING:
                for other in self.postings[term]:
                    scores[other] += weight * self.held[other].vector[term]
        near = [
            (-score, other)
            for other, score in scores.items()
            if score >= self.similarity
            and other != number
            and abs((self.held[other].day - article.day).days) <= self.days
            and self.held[other].article.id != article.article.id
        ]
        return [self.held[other] for _, other in sorted(near)[:_NEIGHBOURS]]
