"""CNN and Daily Mail, the way of Hermann et al. (2015): a highlight of an article, one of its entities blanked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha1
from random import Random
from unicodedata import normalize

from gareader.building.articles import Article
from gareader.building.entities import Entity, find_entities
from gareader.building.names import Mention, Tagger, Words
from gareader.examples import PLACEHOLDER, Example
from gareader.text import mark_blank

_MARK = re.compile(r"@entity(\d+)")


@dataclass(frozen=True, slots=True)
class NewsQuestion:
    """A question about an article and what its marks stand for."""

    example: Example
    source: str
    """The article's id."""
    names: tuple[str, ...] | None
    """The name behind each candidate, which is a mark; None where the candidates are the names themselves."""


def questions(
    article: Article, seed: int, anonymise: bool = True, tag: Tagger | None = None, fewest: int = 2
) -> list[NewsQuestion]:
    """A question for each entity of each highlight that the article names too; none below `fewest` candidates."""
    text = _Text(article, find_entities((*article.sentences, *article.highlights), tag, len(article.sentences)))
    marks = text.marks(seed) if anonymise else None
    body = range(len(article.sentences))
    document = tuple(word for number in body for word in text.written(number, marks))
    candidates = text.candidates(body, marks)
    made: list[NewsQuestion] = []
    for number in range(len(body), len(text.sentences)):
        here = {**text.only_in(number, candidates, marks), **candidates}
        order = sorted(here, key=lambda entity: _order(here[entity]))
        for place, entity in text.first_mentions(number).items():
            query = text.written(number, marks, blank=place)
            # the highlight may have a blank of its own
            if entity not in candidates or len(here) < max(fewest, 2) or mark_blank(query).count(PLACEHOLDER) != 1:
                continue
            name = sha1(f"{article.id}\n{len(made)}".encode(), usedforsecurity=False).hexdigest()
            choices = tuple(here[other] for other in order)
            names = tuple(" ".join(text.entities[other].name) for other in order) if marks else None
            made.append(NewsQuestion(Example(name, document, query, choices, order.index(entity)), article.id, names))
    return made


def _order(candidate: Words) -> tuple[int, Words]:
    """By the mark's number, else by the name: the place in the list says nothing about the place in the text."""
    mark = _MARK.fullmatch(candidate[0])
    return int(mark[1]) if mark else 0, candidate


class _Text:
    """An article and its highlights as one text, entities known by their place in the list."""

    def __init__(self, article: Article, entities: Sequence[Entity]) -> None:
        self.article, self.entities = article, entities
        self.sentences = (*article.sentences, *article.highlights)
        self.places: list[dict[int, tuple[Mention, int]]] = [{} for _ in self.sentences]
        """For each sentence the mentions by the place of their first word, each with its entity."""
        for number, entity in enumerate(entities):
            for mention in entity.mentions:
                self.places[mention.sentence][mention.start] = mention, number

    def marks(self, seed: int) -> list[str]:
        """A mark for each entity, the numbers in an order of their own for every article and seed."""
        written = (_MARK.fullmatch(word) for words in self.sentences for word in words)
        taken = {int(mark[1]) for mark in written if mark}  # marks that are the article's own
        count = len(self.entities)
        numbers = [number for number in range(count + len(taken)) if number not in taken][:count]
        Random(f"{seed} {self.article.id}").shuffle(numbers)  # noqa: S311  # a text as seed: alike in all processes
        return [f"@entity{number}" for number in numbers]

    def candidates(self, body: range, marks: Sequence[str] | None) -> dict[int, Words]:
        """The entities that the article itself names: by their marks, or by their most complete names there."""
        found: dict[int, Words] = {}
        for number, entity in enumerate(self.entities):
            form = entity.form(body)
            if form and marks:
                found[number] = (marks[number],)
            elif form and form not in found.values():
                found[number] = form
        return found

    def only_in(self, number: int, others: Mapping[int, Words], marks: Sequence[str] | None) -> dict[int, Words]:
        """Entities that this highlight alone names: listed too, so that every mark of a question has its name."""
        named = {entity for _, entity in self.places[number].values()}
        return {entity: (marks[entity],) for entity in sorted(named - others.keys())} if marks else {}

    def first_mentions(self, number: int) -> dict[int, int]:
        """Where each entity stands first in a sentence; that place is blanked, further ones stay, as released."""
        firsts: dict[int, int] = {}
        for place, (_, entity) in sorted(self.places[number].items()):
            firsts.setdefault(entity, place)
        return {place: entity for entity, place in firsts.items()}

    def written(self, number: int, marks: Sequence[str] | None, blank: int | None = None) -> Words:
        """The sentence with marks for names and all else in lower case, as released; without marks, as it is."""
        words, places = self.sentences[number], self.places[number]
        out: list[str] = []
        place = 0
        while place < len(words):
            if place not in places:
                out.append(normalize("NFC", words[place].lower()) if marks else words[place])
                place += 1
                continue
            mention, entity = places[place]
            out.extend((PLACEHOLDER,) if place == blank else (marks[entity],) if marks else mention.words)
            place = mention.end
        return tuple(out)
