"""How often words are in lower case and capitalised in the news; news_words.tsv has the counts."""

from functools import cache
from pathlib import Path

_ORDINARY = 1000


@cache
def news_words() -> dict[str, tuple[int, int]]:
    """The counts of frequent words in the news, in lower case and capitalised."""
    text = Path(__file__).with_name("news_words.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines())
    return {word: (int(lower), int(capital)) for word, lower, capital in rows}


def lower_share(word: str) -> float:
    """The share of the word's occurrences that are in lower case; 0 if it seldom is."""
    lower, capital = news_words().get(word.lower(), (0, 1))
    return lower / (lower + capital)


def ordinary(word: str) -> bool:
    """Whether the word is frequent in lower case."""
    return news_words().get(word.lower(), (0, 0))[0] >= _ORDINARY
