"""Who Did What, the way of Onishi et al. (2016): a lead sentence asks about a person, another article answers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gareader.building.articles import Article
from gareader.building.baselines import Choice, solved
from gareader.building.entities import Entity, compatible
from gareader.building.names import Mention, Tagger, Words
from gareader.building.similar import Known, Rarity, neighbours, shared, shingles
from gareader.errors import ConfigError
from gareader.examples import PLACEHOLDER, Example
from gareader.text import mark_blank

_SHORTEST_QUESTION = 8  # words; less is a headline or a dateline
_LEAD = 3  # sentences in which the lead is looked for


@dataclass(frozen=True, slots=True)
class PairSettings:
    """When two articles make a question."""

    days: int = 14
    """Days between the two articles at most."""
    similarity: float = 0.2
    """Cosine of their rarest words at least."""
    entities: int = 2
    """Names they share at least."""
    overlap: float = 0.3
    """Share of runs of five words that they may have in common; more makes them copies."""
    fewest: int = 2
    """Choices of a question at least."""
    most: int = 5
    """Choices of a question at most; a passage with more persons is passed over."""

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
    """A question, where it comes from, and which simple baselines answer it."""

    example: Example
    asked_by: str
    """Id of the article whose lead sentence is the query."""
    passage: str
    """Id of the article that is the document."""
    solved: tuple[bool, ...]
    """For each of BASELINES whether it gives the answer."""


def questions(
    articles: Iterable[Article], rarity: Rarity, settings: PairSettings, tag: Tagger | None = None
) -> Iterator[PairQuestion]:
    """Every question of these articles, which come in order of date; only those of 2·days are held at a time."""
    for asker, passages in neighbours(articles, rarity, settings.days, settings.similarity, tag):
        lead = _lead(asker)
        if lead is None:
            continue
        usable = [passage for passage in passages if _usable(asker, passage, settings)]
        for person, mention in _persons_once(asker, lead):
            for passage in usable:
                question = _question(asker, lead, person, mention, passage, rarity, settings)
                if question:
                    yield question
                    break  # the passage most like it that has an answer


def in_order(articles: Iterable[Article]) -> list[Article]:
    """All the articles by date, as `questions` needs them; one without a date comes first, to be complained of."""
    return sorted(articles, key=lambda article: (article.date.toordinal() if article.date else 0, article.id))


def _lead(known: Known) -> int | None:
    """The number of the first whole sentence; headlines and datelines before it are passed over."""
    for number, words in enumerate(known.article.sentences[:_LEAD]):
        whole = len(words) >= _SHORTEST_QUESTION and {".", "!", "?"} & set(words[-2:])
        if whole and PLACEHOLDER not in mark_blank(words):
            return number
    return None


def _usable(asker: Known, passage: Known, settings: PairSettings) -> bool:
    """Whether the passage is about the same, and no copy."""
    return (
        len(asker.names & passage.names) >= settings.entities
        and asker.article.words != passage.article.words
        and shared(asker.shingles, passage.shingles) <= settings.overlap
    )


def _persons_once(known: Known, lead: int) -> list[tuple[Entity, Mention]]:
    """The persons that the lead sentence names once, with that mention; named twice, the blank would be told."""
    found = []
    for entity in known.entities:
        here = [mention for mention in entity.mentions if mention.sentence == lead]
        if entity.person and len(here) == 1:
            found.append((entity, here[0]))
    return found


def _question(
    asker: Known, lead: int, person: Entity, mention: Mention, passage: Known, rarity: Rarity, settings: PairSettings
) -> PairQuestion | None:
    """The question about this person that the passage answers, if it can be asked."""
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
    document = passage.article.words
    candidates = tuple(choice.words for choice in choices)
    number = _place(asker, lead, mention)
    name = f"{asker.article.id} {passage.article.id} {number}"
    example = Example(name, document, query, candidates, right[0])
    answers = solved(example, choices, rarity.counts)
    return PairQuestion(example, asker.article.id, passage.article.id, answers)


def _place(known: Known, lead: int, mention: Mention) -> int:
    """Which of the lead's persons it is: one article may ask about several."""
    starts = sorted(other.start for entity in known.entities for other in entity.mentions if other.sentence == lead)
    return starts.index(mention.start) + 1


def _choices(person: Entity, others: Sequence[Entity], passage: Known) -> list[Choice]:
    """The passage's persons in the order of their names, without those that the question itself names."""
    found: dict[Words, Choice] = {}
    for entity in passage.entities:
        named = any(compatible(entity.name, other.name) for other in others)
        if entity.person and (compatible(entity.name, person.name) or not named):
            found.setdefault(entity.name, Choice(entity.name, _starts(passage, entity)))
    return sorted(found.values(), key=lambda choice: choice.words)


def _starts(passage: Known, entity: Entity) -> tuple[tuple[int, int], ...]:
    """Where its mentions begin and end, counted from the document's first word."""
    before = [0]
    for sentence in passage.article.sentences:
        before.append(before[-1] + len(sentence))
    return tuple((before[one.sentence] + one.start, before[one.sentence] + one.end) for one in entity.mentions)
