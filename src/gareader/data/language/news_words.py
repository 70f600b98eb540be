"""How often words are in lower case and capitalised in the news; news_words.tsv has the counts."""

from bisect import bisect_left
from functools import cache, lru_cache
from pathlib import Path

_ORDINARY = 1000


@cache
def news_words() -> dict[str, tuple[int, int]]:
    """The counts of frequent words in the news, in lower case and capitalised."""
    rows = (line.split("\t") for line in _lines())
    return {word: (int(lower), int(capital)) for word, lower, capital in rows}


def lower_share(word: str) -> float:
    """The share of the word's occurrences that are in lower case; 0 if it seldom is."""
    lower, capital = _counts(word.lower()) or (0, 1)
    return lower / (lower + capital)


def ordinary(word: str) -> bool:
    """Whether the word is frequent in lower case."""
    return (_counts(word.lower()) or (0, 0))[0] >= _ORDINARY


@lru_cache(maxsize=1 << 16)
def _counts(word: str) -> tuple[int, int] | None:
    """The counts of one word: a few answers do not wait for all of them to be read."""
    lines = _lines()
    place = bisect_left(lines, f"{word}\t")
    entry, lower, capital = lines[min(place, len(lines) - 1)].split("\t")
    return (int(lower), int(capital)) if entry == word else None


@cache
def _lines() -> list[str]:
    """The lines of the file, which are sorted."""
    return Path(__file__).with_name("news_words.tsv").read_text(encoding="utf-8").removesuffix("\n").split("\n")
