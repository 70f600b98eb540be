"""Who Did What by Onishi et al. (2016): a lead sentence asks about a person, another article answers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from gareader.building.articles import Article
from gareader.building.baselines import Choice, solved
from gareader.building.similar import IndexedArticle, Rarity, neighbours, shared, shingles
from gareader.core.errors import ConfigError
from gareader.data.examples import PLACEHOLDER, Example, Words
from gareader.data.language.entities import Entity, compatible
from gareader.data.language.names import Mention
from gareader.data.text import mark_blank

_SHORTEST_QUESTION = 8  # words; a shorter sentence is a headline or a dateline
_LEAD = 3  # sentences among which the lead may be


@dataclass(frozen=True, slots=True)
class PairSettings:
    """The conditions for a question about two articles."""

    days: int = 14
    """The most days between the two articles."""
    similarity: float = 0.2
    """The least cosine of their tf-idf vectors."""
    entities: int = 2
    """The least number of names they share."""
    overlap: float = 0.3
    """The largest share of runs of five words in common; articles with more are copies."""
    fewest: int = 2
    """The fewest choices of a question."""
    most: int = 5
    """The most choices of a question; a passage with more persons is skipped."""

    def __post_init__(self) -> None:
        if self.days < 0:
            raise ConfigError(f"days = {self.days} is below 0; 0 means the same day")
        if self.entities < 1:
            raise ConfigError(f"entities = {self.entities} is below 1; articles on one event share names")
        for name in ("similarity", "overlap"):
            if not 0 <= (value := getattr(self, name)) <= 1:
                raise ConfigError(f"{name} = {value} is not between 0 and 1")
        if self.fewest < 2:
            raise ConfigError(f"fewest = {self.fewest} is below 2; a question needs something to choose from")
        if self.most < self.fewest:
            raise ConfigError(f"most = {self.most} is below fewest = {self.fewest}; raise it")


@dataclass(frozen=True, slots=True)
class PairQuestion:
    """A question, and the baselines that answer it."""

    example: Example
    """Its id begins with those of the two articles: the one whose lead sentence is the query, then the document."""
    solved: tuple[bool, ...]
    """For each of BASELINES, whether it gives the answer."""


def questions(articles: Iterable[Article], rarity: Rarity, settings: PairSettings) -> Iterator[PairQuestion]:
    """Yield every question of articles in order of date; only those of 2·days are in memory at a time."""
    for asker, passages in neighbours(articles, rarity, settings.days, settings.similarity):
        lead = _lead(asker)
        if lead is None:
            continue
        usable = [passage for passage in passages if _usable(asker, passage, settings)]
        for person, mention in _persons_once(asker, lead):
            for passage in usable:
                question = _question(asker, lead, person, mention, passage, rarity, settings)
                if question:
                    yield question
                    break  # the most similar passage with an answer


def by_date(articles: Iterable[Article]) -> list[Article]:
    """Sort the articles by date, for `questions`; one without a date comes first, so that it soon raises an error."""
    return sorted(articles, key=lambda article: (article.date.toordinal() if article.date else 0, article.id))


def _lead(indexed: IndexedArticle) -> int | None:
    """The number of the first complete sentence, after headlines and datelines; None if there is none."""
    for number, words in enumerate(indexed.article.sentences[:_LEAD]):
        whole = len(words) >= _SHORTEST_QUESTION and {".", "!", "?"} & set(words[-2:])
        if whole and PLACEHOLDER not in mark_blank(words):
            return number
    return None


def _usable(asker: IndexedArticle, passage: IndexedArticle, settings: PairSettings) -> bool:
    """Whether the passage is about the same event, and not a copy."""
    return (
        len(asker.names & passage.names) >= settings.entities
        and asker.article.words != passage.article.words
        and shared(asker.shingles, passage.shingles) <= settings.overlap
    )


def _persons_once(indexed: IndexedArticle, lead: int) -> list[tuple[Entity, Mention]]:
    """The persons with exactly one mention in the lead, with that mention; a second one would reveal the answer."""
    persons = []
    for entity in indexed.entities:
        here = [mention for mention in entity.mentions if mention.sentence == lead]
        if entity.person and len(here) == 1:
            persons.append((entity, here[0]))
    return persons


def _question(
    asker: IndexedArticle,
    lead: int,
    person: Entity,
    mention: Mention,
    passage: IndexedArticle,
    rarity: Rarity,
    settings: PairSettings,
) -> PairQuestion | None:
    """Make the question about this person with this passage; None if the conditions are not met."""
    sentence = asker.article.sentences[lead]
    query = (*sentence[: mention.start], PLACEHOLDER, *sentence[mention.end :])
    if shared(shingles(sentence), passage.shingles) > settings.overlap:
        return None
    others = [
        entity
        for entity in asker.entities
        if entity is not person and any(mention.sentence == lead for mention in entity.mentions)
    ]
    choices = _choices(person, others, passage)
    right = [number for number, choice in enumerate(choices) if compatible(person.name, choice.words)]
    if len(right) != 1 or not settings.fewest <= len(choices) <= settings.most:
        return None
    # one lead may give several questions: the id has the position of the mention among those of the lead
    starts = sorted(other.start for entity in asker.entities for other in entity.mentions if other.sentence == lead)
    name = f"{asker.article.id} {passage.article.id} {starts.index(mention.start) + 1}"
    example = Example(name, passage.article.words, query, tuple(choice.words for choice in choices), right[0])
    return PairQuestion(example, solved(example, choices, rarity.counts))


def _choices(person: Entity, others: Sequence[Entity], passage: IndexedArticle) -> list[Choice]:
    """The passage's persons in the order of their names, without those in the question itself."""
    choices: dict[Words, Choice] = {}
    for entity in passage.entities:
        named = any(compatible(entity.name, other.name) for other in others)
        if entity.person and (compatible(entity.name, person.name) or not named):
            choices.setdefault(entity.name, Choice(entity.name, _starts(passage, entity)))
    return sorted(choices.values(), key=lambda choice: choice.words)


def _starts(passage: IndexedArticle, entity: Entity) -> tuple[tuple[int, int], ...]:
    """Start and end of the entity's mentions, counted from the document's first word."""
    before = [0, *accumulate(map(len, passage.article.sentences))]
    return tuple((before[one.sentence] + one.start, before[one.sentence] + one.end) for one in entity.mentions)
