"""Questions about news as people ask them: blanks of all kinds in a highlight, with proposed candidates."""

from hashlib import sha1
from random import Random

from gareader.building.articles import Article
from gareader.building.news import NewsQuestion
from gareader.data.examples import PLACEHOLDER, Example, Words
from gareader.data.language.blanks import Kind
from gareader.data.language.candidates import find_candidates, of_kind
from gareader.data.text import mark_blank

_KINDS = (Kind.NOUN, Kind.VERB, Kind.NUMBER, Kind.DATE, Kind.ADJECTIVE)
"""The kinds that are blanked; names have questions of their own."""
_BLANKS = 2
"""The most blanks of a highlight."""


def questions(article: Article, seed: int) -> list[NewsQuestion]:
    """Blank up to two words of each highlight, of kinds that the seed draws, if they are among the candidates."""
    document = article.words
    chance = Random(f"{seed} open {article.id}")  # noqa: S311  # seeded by a text: equal in all processes
    built: list[NewsQuestion] = []
    for number, highlight in enumerate(article.highlights):
        for start, end in _drawn(highlight, chance):
            query = (*highlight[:start], PLACEHOLDER, *highlight[end:])
            choices = find_candidates([document], query)
            answer = _same(highlight[start:end], choices)
            if answer is None or len(choices) < 2 or mark_blank(query).count(PLACEHOLDER) != 1:
                continue
            name = sha1(f"{article.id}\n{number} {start}".encode(), usedforsecurity=False).hexdigest()
            built.append(NewsQuestion(Example(name, document, query, tuple(choices), answer), article.id, None))
    return built


def _drawn(highlight: Words, chance: Random) -> list[tuple[int, int]]:
    """Places of words to blank: kinds in a random order, one place of each, until there are enough."""
    blanks: list[tuple[int, int]] = []
    for kind in chance.sample(_KINDS, len(_KINDS)):
        spans = (_place(words, highlight) for words in of_kind(highlight, kind))
        places = [place for place in spans if place and all(place[1] <= a or b <= place[0] for a, b in blanks)]
        if places and len(blanks) < _BLANKS:
            blanks.append(chance.choice(places))
    return blanks


def _place(words: Words, text: Words) -> tuple[int, int] | None:
    """The only place of these words in a text."""
    size = len(words)
    starts = [start for start in range(len(text) - size + 1) if text[start : start + size] == words]
    return (starts[0], starts[0] + size) if len(starts) == 1 else None


def _same(words: Words, choices: list[Words]) -> int | None:
    """The index of these words among the candidates, or of their last word alone."""
    for form in (words, words[-1:]):
        if form in choices:
            return choices.index(form)
    return None
