"""The small news articles of configs/tiny/dated.jsonl.

Six events, each told by two papers (mine, vote, film, ball, comet, dock), and three articles that must not pair: a copy
of one with another last sentence, the same event a year later, and one about nothing else here.
"""

from datetime import date

from gareader.building.articles import Article, read_raw, tokenise_article
from places import TINY

FILE = TINY / "dated.jsonl"


def articles() -> list[Article]:
    """All of them in order of date."""
    made = map(tokenise_article, read_raw([FILE], "pairs", _raise))
    return sorted(made, key=lambda article: (article.date or date.min, article.id))


def _raise(error: Exception) -> None:
    raise error
