"""Which words of a book the Children's Book Test takes for named entities, common nouns, verbs or prepositions.

The corpus's named entities are what Stanford CoreNLP's recognisers mark: names of people, places and institutions,
times of the day, durations and ordinals, causes of death and crimes, and nouns that the news seldom has. Dates are not
among them. The rules here were fitted to the official validation questions; docs/building.md says how near they come.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

Words = tuple[str, ...]

FILLED_FROM = {"NE": ("CN",), "CN": ("NE", "V", "P"), "V": ("NE", "CN", "P"), "P": ("NE", "CN", "V")}
"""The kinds, and where candidates come from when a passage has too few of a kind."""

_COMMON = {"NN": "CN", "NNS": "CN", "IN": "P", "TO": "P"}
_NAMES = frozenset(["NNP", "NNPS"])
_NAME_SHARE = 0.35
"""A capitalised word that the tagger takes for a name this often in a book is one wherever it stands."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UNITS = _words("day week month year hour minute century decade fortnight")
_PLURAL_UNITS = _words("days weeks months years hours minutes seconds centuries decades fortnights nights")
_PARTS_OF_DAY = _words(
    """morning mornings forenoon noon midday afternoon afternoons evening evenings night midnight daytime"""
)
_PLAIN_DATE = _words("the this last next following previous preceding same other each any first third fourth")
"""Before a unit these make a date (the day, next year), which is no entity of the corpus."""
_DATED_PART = _words("next following previous preceding yesterday tomorrow to-morrow good")
"""The same before a part of the day; good morning is a greeting."""
_AFTER_DATE = _words("ago later before old")
"""A time goes on with these: of ten years old the last word stands for the whole."""
_ORDINALS = _words(
    """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
    sixteenth seventeenth eighteenth nineteenth twentieth First Second Third Fourth Fifth"""
)
_REPEATED = _words("daily weekly monthly yearly nightly hourly")
_LISTED = _words(
    """left right Left Right fire storm war flood earthquake accident attack burn choked crash disaster drowned
    explosion infection lightning mumps cholera starvation sunstroke suffocation tornado escape stealing theft robbery
    murder suicide arson burglary kidnapping forgery treason tobacco dollars cents cent pounds pence shillings inches"""
)
"""Words of the recogniser's lists for politics, causes of death, crimes and amounts."""
_CALENDAR = _words(
    """January February March April May June July August September October November December Monday Tuesday Wednesday
    Thursday Friday Saturday Sunday Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays Sundays Christmas Easter
    Thanksgiving Lent Michaelmas Midsummer Spring Summer Autumn Winter"""
)
_NO_NAMES = _words("God Lord Heaven Lady Madam Mistress Ma Pa Mamma Papa Dear Miss Mr. Mrs. Sir Bible")
_RULERS = _words("King Queen Prince Princess Sultan Emperor Governor Caliph Khan Czar Duke Baron Mother")
"""Titles that stand for a person by themselves."""
_ORDINARY = 200
"""A word that the news has so often is known to everybody."""
_ROMAN = frozenset("IVXLC")
_NO_NOUNS = _words("to-day to-morrow to-night by-and-by good-by good-bye anyhow whence")
"""Words that the news does not have and that are no nouns, or dates."""


def kinds(sentences: Sequence[Words], tags: Sequence[Sequence[str]]) -> list[list[str]]:
    """For every word of a book its kind, or nothing; of a name of several words only the last stands for it."""
    names, rare = _names(sentences, tags), _rare_nouns(sentences, tags)
    listed = rare | _ORDINALS | _REPEATED | _LISTED
    result = []
    for words, its_tags in zip(sentences, tags, strict=True):
        row = []
        for place, (word, tag) in enumerate(zip(words, its_tags, strict=True)):
            if "|" in word:  # which parts candidates in the corpus's files
                row.append("")
            elif word in names:
                inside = place + 1 < len(words) and words[place + 1] in names
                row.append("" if inside or _in_heading(words, place) else "NE")
            elif word in listed or _is_time(words, place):
                row.append("NE")
            elif word[0].isalpha() and word[0].islower():
                row.append("V" if tag.startswith("VB") else _COMMON.get(tag, ""))
            else:
                row.append("")
        result.append(row)
    return result


def _in_heading(words: Words, place: int) -> bool:
    """Whether the word stands among three or more in capitals."""
    if not words[place].isupper():
        return False
    first = last = place
    while first and words[first - 1].isupper():
        first -= 1
    while last + 1 < len(words) and words[last + 1].isupper():
        last += 1
    return last - first > 1


def _is_time(words: Words, place: int) -> bool:
    """Whether the word ends a time of the day, a duration or a repetition; dates are none of these."""
    word = words[place]
    before = words[place - 1].lower() if place else ""
    after = words[place + 1] if place + 1 < len(words) else ""
    if word == "old":
        return before in _PLURAL_UNITS
    if word in _PLURAL_UNITS:
        return after not in ("ago", "later", "old") and not (before == "the" and word != "days")
    if word in _UNITS:
        return before not in _PLAIN_DATE and after not in _AFTER_DATE
    if word in _PARTS_OF_DAY:
        dated = before in _DATED_PART or (before == "this" and word != "morning")
        return not dated and after not in _AFTER_DATE
    return False


def _names(sentences: Sequence[Words], tags: Sequence[Sequence[str]]) -> set[str]:
    """Capitalised words that stand for people, places and institutions in this book."""
    count: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    named: Counter[str] = Counter()
    inner: Counter[str] = Counter()  # capital although no sentence begins there
    behind: Counter[str] = Counter()  # behind a name: of Reddy Fox, Fox
    for words, its_tags in zip(sentences, tags, strict=True):
        inside = False
        for place, (word, tag) in enumerate(zip(words, its_tags, strict=True)):
            if word[0].isupper():
                count[word] += 1
                named[word] += tag in _NAMES or (inside and tag.startswith("JJ"))
                inner[word] += inside
                behind[word] += inside and words[place - 1][0].isupper()
            else:
                lower[word] += 1
            inside = word[0].isalnum()

    def is_name(word: str) -> bool:
        low, total = word.lower(), count[word]
        if word in _CALENDAR or word in _NO_NAMES or len(word) == 1:
            return False
        if word.isupper() and not set(word) <= _ROMAN:
            return False
        if word in _RULERS or (low not in news_words() and not lower[low]):
            return True
        if _ordinary(word) or lower[low] > 2 * total:
            return 2 * behind[word] >= total and lower[low] <= 4 * total
        return named[word] >= _NAME_SHARE * total and 2 * inner[word] >= total

    names = {word for word in count if is_name(word)}
    return names | {word for word in count if word.isupper() and word.capitalize() in names}


def _ordinary(word: str) -> bool:
    """Whether the news often has the word, and seldom as a name."""
    lower, capital = news_words().get(word.lower(), (0, 0))
    return lower >= _ORDINARY and lower > 3 * capital


def _rare_nouns(sentences: Sequence[Words], tags: Sequence[Sequence[str]]) -> set[str]:
    """Words in lower case that are seldom in the news and mostly nouns here."""
    frequent = news_words()
    seen: Counter[str] = Counter()
    nouns: Counter[str] = Counter()
    for words, its_tags in zip(sentences, tags, strict=True):
        for word, tag in zip(words, its_tags, strict=True):
            if word[0].isalpha() and word[0].islower() and word not in frequent and word not in _NO_NOUNS:
                seen[word] += 1
                nouns[word] += tag.startswith("NN") or (tag == "JJ" and _joins_nouns(word))
    return {word for word, count in seen.items() if 2 * nouns[word] >= count}


def _joins_nouns(word: str) -> bool:
    """Whether a word like elm-tree is a noun although the tagger takes it for an adjective."""
    return "-" in word and not word.endswith(("ed", "ing", "ly", "like", "en", "ful", "some", "less", "y"))


@cache
def news_words() -> dict[str, tuple[int, int]]:
    """How often the news has a word in lower case and capitalised, for words that it has often enough to know them."""
    text = Path(__file__).with_name("news_words.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines())
    return {word: (int(lower), int(capital)) for word, lower, capital in rows}
