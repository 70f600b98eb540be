"""The kinds of words in a book by the Children's Book Test: named entities, common nouns, verbs, prepositions.

The corpus's named entities are those of Stanford CoreNLP's recognisers: names of people, places and institutions, times
of the day, durations and ordinals, causes of death and crimes, and many nouns that are rare in the news. Dates are not
among them. The rules were fitted to the official validation questions; docs/building.md has their accuracy.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from functools import cache
from itertools import chain
from pathlib import Path

from gareader.data.examples import Words
from gareader.data.language.lists import word_lists
from gareader.data.language.news_words import news_words

Tagged = tuple[str, str]
"""A word and its part of speech."""

RARE = "RN"
"""The kind of a rare noun: the recogniser marks about half of them, and which ones is unpredictable."""
FILLED_FROM = {
    "NE": (RARE, "CN"),
    "CN": ("NE", RARE, "V", "P"),
    "V": ("NE", RARE, "CN", "P"),
    "P": ("NE", RARE, "CN", "V"),
}
"""The kinds of answers, and the kinds that fill up the candidates if a passage has too few of that kind."""

_COMMON = {"NN": "CN", "NNS": "CN", "IN": "P", "TO": "P"}
_NAMES = frozenset(["NNP", "NNPS"])
_NAME_SHARE = 0.35
"""A capitalised word is a name everywhere in a book if the tagger takes this share of it for names."""


_LISTS = word_lists(__file__, "kind_words.toml")
_UNITS, _PLURAL_UNITS, _PARTS_OF_DAY = _LISTS["units"], _LISTS["plural_units"], _LISTS["parts_of_day"]
LISTED = _LISTS["ordinals"] | _LISTS["repeated"] | _LISTS["recognised"]
"""Entities at every place."""
TIMES = _UNITS | _PLURAL_UNITS | _PARTS_OF_DAY | {"old", "before"}
"""Entities at the end of an expression of time."""
_NEVER_NAMES = _LISTS["calendar"] | _LISTS["no_names"]
_ORDINARY = 200
"""A word with this count in lower case in the news is an ordinary word."""
_ROMAN = frozenset("IVXLC")
_NOUN_SHARE = 0.4
"""A rare word is a noun everywhere in a book if the tagger takes this share of it for nouns."""
_NO_NOUNS = ("ing", "ly", "ed", "est")
"""Endings of verbs, adverbs and adjectives, which the tagger takes for nouns if it does not know the word."""
_NO_JOINED_NOUNS = (*_NO_NOUNS, "like", "en", "ful", "some", "less", "y")
"""Other words with a hyphen that the tagger takes for adjectives are compound nouns, such as elm-tree."""


def kinds(sentences: Sequence[Words], tags: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the kind of every word of a book, or an empty string; of a name only the last word has a kind."""
    tagged = Counter(chain.from_iterable(map(zip, sentences, tags)))
    rare = _rare_nouns(tagged)
    names = _names(sentences, tags, tagged, rare)
    by_tag = {(word, tag): RARE if word in rare else _plain_kind(word, tag) for word, tag in tagged}
    placed = names | TIMES  # the kind of these words depends on their neighbours
    result = []
    for words, its_tags in zip(sentences, tags, strict=True):
        row = [by_tag[pair] for pair in zip(words, its_tags, strict=True)]
        if not placed.isdisjoint(words):
            for place, word in enumerate(words):
                if word in names:
                    inside = place + 1 < len(words) and words[place + 1] in names
                    row[place] = "" if inside or _in_heading(words, place) else "NE"
                elif word in TIMES and _is_time(words, place):
                    row[place] = "NE"
        result.append(row)
    return result


def _plain_kind(word: str, tag: str) -> str:
    """The kind of a word that is neither name nor rare noun."""
    if word in LISTED:
        return "NE"
    if not _is_lower(word):
        return ""
    return "V" if tag.startswith("VB") else _COMMON.get(tag, "")


def _is_lower(word: str) -> bool:
    """Whether this word is in lower case and has no bar, which separates candidates in the corpus's files."""
    return word[0].islower() and "|" not in word


def _in_heading(words: Words, place: int) -> bool:
    """Whether the word is among three or more words in capitals; a Roman numeral is never part of a heading."""
    if not words[place].isupper() or _ROMAN.issuperset(words[place]):
        return False
    first = last = place
    while first and words[first - 1].isupper():
        first -= 1
    while last + 1 < len(words) and words[last + 1].isupper():
        last += 1
    return last - first > 1


def _is_time(words: Words, place: int) -> bool:
    """Whether the word ends a time of the day, a duration or an age, not a date."""
    word = words[place]
    before = words[place - 1].lower() if place else ""
    after = words[place + 1] if place + 1 < len(words) else ""
    if word == "old":  # ten years old
        return before in _PLURAL_UNITS
    if word == "before":  # the night before
        return before in _PARTS_OF_DAY or before == "year"
    if word in _PLURAL_UNITS:
        return after not in ("ago", "later", "old") and not (before == "the" and word != "days")
    if word in _UNITS:
        return before not in _LISTS["plain_date"] and after not in _LISTS["after_date"]
    dated = before in _LISTS["dated_part"] or (before == "this" and word != "morning")
    return not dated and after not in _LISTS["after_date"]


def _names(
    sentences: Sequence[Words], tags: Sequence[Sequence[str]], tagged: Mapping[Tagged, int], rare: Set[str]
) -> set[str]:
    """The capitalised words that name people, places and institutions in this book."""
    count: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    named: Counter[str] = Counter()
    for (word, tag), times in tagged.items():
        (count if word[0].isupper() else lower)[word] += times
        named[word] += times * (tag in _NAMES)
    ordinary = {word for word in count if _ordinary(word)}
    inner: Counter[str] = Counter()  # capitalised inside a sentence
    behind: Counter[str] = Counter()  # after a name: Fox in Reddy Fox, but not Girl in Story Girl
    for words, its_tags in zip(sentences, tags, strict=True):
        before = "."
        for word, tag in zip(words, its_tags, strict=True):
            if word in count and before[0].isalnum():
                inner[word] += 1
                behind[word] += before in count and before not in ordinary
                named[word] += tag.startswith("JJ")
            before = word

    def is_name(word: str) -> bool:
        low, total = word.lower(), count[word]
        if word in _NEVER_NAMES or len(word) == 1 or "|" in word:
            return False
        if word.isupper():
            return low not in _known_words() and word.replace("-", "").isalpha()
        if word in _LISTS["rulers"] or low in rare or (low not in news_words() and not lower[low]):
            return True
        if word in ordinary or lower[low] > 2 * total:
            return 2 * behind[word] >= total and lower[low] <= 4 * total
        return named[word] >= _NAME_SHARE * total and 2 * inner[word] >= total

    names = {word for word in count if is_name(word)}
    return names | {word for word in count if word.isupper() and word.capitalize() in names}


def often_in_news(word: str) -> bool:
    """Whether the word is frequent in the news in lower case."""
    return news_words().get(word, (0, 0))[0] >= _ORDINARY


def _ordinary(word: str) -> bool:
    """Whether the word is frequent in the news, and seldom capitalised."""
    lower, capital = news_words().get(word.lower(), (0, 0))
    return lower >= _ORDINARY and lower > 3 * capital


def _rare_nouns(tagged: Mapping[Tagged, int]) -> set[str]:
    """Words in lower case that are rare in the news and often nouns in this book."""
    known = _known_words()
    count: Counter[str] = Counter()
    nouns: Counter[str] = Counter()
    for (word, tag), times in tagged.items():
        if _is_lower(word) and word not in known and not word.endswith(_NO_NOUNS):
            count[word] += times
            if tag.startswith("NN") or (tag == "JJ" and "-" in word and not word.endswith(_NO_JOINED_NOUNS)):
                nouns[word] += times
    return {word for word, times in count.items() if nouns[word] >= _NOUN_SHARE * times}


@cache
def _known_words() -> frozenset[str]:
    """Words in lower case that are in the news, or rare there but in a quarter of the corpus's training books."""
    text = Path(__file__).with_name("story_words.txt").read_text(encoding="utf-8")
    return frozenset([*news_words(), *text.split()])
