"""CNN and Daily Mail by Hermann et al. (2015): the query is a highlight of an article with one entity blanked."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha1
from random import Random
from unicodedata import normalize

from gareader.building.articles import Article
from gareader.data.examples import PLACEHOLDER, Example, Words
from gareader.data.language.entities import Entity, find_entities
from gareader.data.language.names import Mention, is_compound
from gareader.data.language.sentences import parts
from gareader.data.text import mark_blank

_MARK = re.compile(r"@entity(\d+)")
_SIGNS = dict(zip("`` '' ` -LRB- -RRB- -LSB- -RSB- -LCB- -RCB-".split(), '" " \' ( ) [ ] { }'.split(), strict=True))
"""Treebank signs as the released corpus writes them."""


@dataclass(frozen=True, slots=True)
class NewsQuestion:
    """A question about an article, and the names behind its marks."""

    example: Example
    source: str
    """The article's id."""
    names: tuple[str, ...] | None
    """The name behind each candidate, which is a mark; None if the candidates are the names themselves."""


def questions(article: Article, seed: int, anonymise: bool = True, fewest: int = 2) -> list[NewsQuestion]:
    """Make a question for each mention in a highlight of an entity of the article, if there are `fewest` candidates."""
    if anonymise:
        article = _as_corpus(article)
    text = _Text(article, find_entities((*article.sentences, *article.highlights), len(article.sentences)))
    marks = text.marks(seed) if anonymise else None
    body = range(len(article.sentences))
    document = tuple(word for number in body for word in text.rendered(number, marks))
    candidates = text.candidates(body, marks)
    built: list[NewsQuestion] = []
    for number in range(len(body), len(text.sentences)):
        here = {**text.only_in(number, candidates, marks), **candidates}
        order = sorted(here, key=lambda entity: _order(here[entity]))
        for place, (_, entity) in sorted(text.places[number].items()):
            query = text.rendered(number, marks, blank=place)
            # the highlight may have a blank of its own
            if entity not in candidates or len(here) < max(fewest, 2) or mark_blank(query).count(PLACEHOLDER) != 1:
                continue
            name = sha1(f"{article.id}\n{len(built)}".encode(), usedforsecurity=False).hexdigest()
            choices = tuple(here[other] for other in order)
            names = tuple(" ".join(text.entities[other].name) for other in order) if marks else None
            built.append(NewsQuestion(Example(name, document, query, choices, order.index(entity)), article.id, names))
    return built


def _order(candidate: Words) -> tuple[int, Words]:
    """Sort by the mark's number, or by the name, so that the order is independent of the places in the text."""
    mark = _MARK.fullmatch(candidate[0])
    return int(mark[1]) if mark else 0, candidate


def _as_corpus(article: Article) -> Article:
    """The article with compounds apart, as in the released corpus, so that U.S. is a name in U.S. - led."""

    def apart(words: Words) -> Words:
        if not any("-" in word or "/" in word for word in words):
            return words
        return tuple(
            part
            for place, word in enumerate(words)
            for part in (parts(word) if "/" in word or is_compound(words, place) else (word,))
        )

    sentences, highlights = (tuple(map(apart, rows)) for rows in (article.sentences, article.highlights))
    return replace(article, sentences=sentences, highlights=highlights)


def _corpus_words(word: str) -> Iterator[str]:
    """A word that is no name, as the released corpus has it."""
    if word in _SIGNS:
        yield _SIGNS[word]
    else:
        yield from (normalize("NFC", part.lower()) for part in parts(word))


class _Text:
    """An article and its highlights as one text; an entity is its index in the list."""

    def __init__(self, article: Article, entities: Sequence[Entity]) -> None:
        self.article, self.entities = article, entities
        self.sentences = (*article.sentences, *article.highlights)
        self.places: list[dict[int, tuple[Mention, int]]] = [{} for _ in self.sentences]
        """For each sentence, mention and entity by the place of the mention's first word."""
        for number, entity in enumerate(entities):
            for mention in entity.mentions:
                self.places[mention.sentence][mention.start] = mention, number

    def marks(self, seed: int) -> list[str]:
        """A mark for each entity, with the numbers in a random order for every article and seed."""
        matches = (_MARK.fullmatch(word) for words in self.sentences for word in words)
        taken = {int(mark[1]) for mark in matches if mark}  # marks in the article itself
        count = len(self.entities)
        numbers = [number for number in range(count + len(taken)) if number not in taken][:count]
        Random(f"{seed} {self.article.id}").shuffle(numbers)  # noqa: S311  # seeded by a text: equal in all processes
        return [f"@entity{number}" for number in numbers]

    def candidates(self, body: range, marks: Sequence[str] | None) -> dict[int, Words]:
        """The entities in the article itself, as marks, or as their most complete names there."""
        candidates: dict[int, Words] = {}
        for number, entity in enumerate(self.entities):
            form = entity.form(body)
            if form and marks:
                candidates[number] = (marks[number],)
            elif form and form not in candidates.values():
                candidates[number] = form
        return candidates

    def only_in(self, number: int, others: Mapping[int, Words], marks: Sequence[str] | None) -> dict[int, Words]:
        """The entities in this highlight alone: candidates too, so that every mark of a question has its name."""
        named = {entity for _, entity in self.places[number].values()}
        return {entity: (marks[entity],) for entity in sorted(named - others.keys())} if marks else {}

    def rendered(self, number: int, marks: Sequence[str] | None, blank: int | None = None) -> Words:
        """The sentence with marks and lower case, as in the released corpus; unchanged without marks."""
        words, places = self.sentences[number], self.places[number]
        out: list[str] = []
        place = 0
        while place < len(words):
            if place not in places:
                out.extend(_corpus_words(words[place]) if marks else (words[place],))
                place += 1
                continue
            mention, entity = places[place]
            out.extend((PLACEHOLDER,) if place == blank else (marks[entity],) if marks else mention.words)
            place = mention.end
        return tuple(out)
