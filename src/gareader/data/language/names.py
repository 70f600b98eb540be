"""Names in tokenised English news: runs of capitalised words, unless the capital has another reason."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gareader.data.examples import Words
from gareader.data.language.name_words import (
    BEFORE_TITLES,
    CALENDAR,
    COMPASS,
    GIVEN,
    HEADS,
    NO_NAMES,
    NOT_PERSONS,
    OFFICES,
    PARTICLES,
    PEOPLES,
    PLACES,
    STARTERS,
    SUFFIXES,
    TITLES,
)
from gareader.data.language.news_words import lower_share, ordinary
from gareader.data.language.perceptron import tagger

_AFTER_THESE = frozenset([".", "!", "?", "``", "`", ":", "--", "...", "''", "'", "-LRB-", "-lrb-", "(", ";", '"', "*"])
"""After these words a capital is no sign of a name, as at the beginning of a sentence."""

_QUOTES = frozenset(["``", "`", "''", "'", '"'])
_ACRONYMS = frozenset(["US", "WHO", "ICE", "AIDS"])
"""Names in capitals that are common words in lower case."""
_SPEAKING = frozenset("said says asked asks added that wrote".split())

_NEVER_FIRST = CALENDAR | TITLES | NO_NAMES
_BOUND = frozenset("anti counter cross ex inter mid multi neo non over pan post pre pro self semi then ultra".split())
_PARTIES = frozenset(["R", "D", "I"])
_SECOND = frozenset(
    """area born bound era free friendly heavy held language like made only owned run speaking style themed turned type
    wide winning long backing loving""".split()
)
"""Ends of compounds that are no names: Mumbai-style."""
_COMMON = 0.35  # share of lower case in the news, from which on a word is no name at the beginning of a sentence
_NEVER = 0.1  # below this share it may be a name in a headline
_OCCUPATIONS = ("er", "or", "ist", "ian", "man", "woman")  # endings of many words for occupations
_ENDS = frozenset([".", "!", "?"])
_HEADLINE = 3  # content words at least; fewer may be a name alone
_PREFIX = 5  # letters at most before the hyphen or apostrophe of al-Assad, d'Estaing, post-Mubarak
_LONGEST_NAME = 12


@dataclass(frozen=True, slots=True)
class Mention:
    """A name at its place in a text."""

    sentence: int
    start: int
    words: Words
    titled: bool = False
    """Whether a title such as President or Mr. precedes it."""

    @property
    def end(self) -> int:
        """The place after its last word."""
        return self.start + len(self.words)


def find_mentions(sentences: Sequence[Words]) -> list[Mention]:
    """Find every mention of a name in reading order; a tagger of parts of speech helps where capitals say nothing."""
    evidence = _Evidence(sentences)
    mentions = [
        mention
        for number, tags in enumerate(tagger().tag(sentences))
        for mention in _in_sentence(sentences[number], number, evidence, tags)
    ]
    lasts = {last_name(mention.words) for mention in mentions if len(mention.words) > 1}
    # King, Bishop or Judge alone is a title, unless it is the last name of someone in the text
    return [
        mention
        for mention in mentions
        if len(mention.words) > 1 or mention.words[0] not in TITLES or mention.words in lasts
    ]


def last_name(words: Words) -> Words:
    """The last word of a name, without suffixes such as Jr."""
    kept = [word for word in words if word not in SUFFIXES] or list(words)
    return (kept[-1],)


def capitalised(word: str) -> bool:
    """Whether the word is written as a name: with a capital at first, after al- or d', or as in iPhone."""
    if word[:1].isupper():
        return True
    head, _, rest = word.replace("'", "-").partition("-")
    if rest[:1].isupper() and len(head) <= _PREFIX:
        return head.isalpha() and head not in _BOUND
    return word[:1] in ("i", "e") and word[1:2].isupper() and word[2:3].islower()


def is_compound(words: Words, place: int) -> bool:
    """Whether the word with a hyphen is no name, though one is in it: U.S.-led, Israeli-Palestinian, R-Arizona."""
    first, *rest = words[place].split("-")
    if not rest or not all((first, *rest)):
        return False
    if first.lower() in _BOUND or (first in _PARTIES and words[place - 1] in (",", "(", "-LRB-") and place):
        return True
    if rest[-1].islower():  # Ki-moon
        return not place or not capitalised(words[place - 1]) or rest[-1].endswith("ed") or rest[-1] in _SECOND
    return all(part in PEOPLES or part in PLACES or acronym(part) for part in (first, *rest))


def acronym(word: str) -> bool:
    """Whether the word is in capitals only: EU, U.N."""
    letters = word.replace(".", "")
    return len(letters) > 1 and letters.isupper() and letters.isalpha()


class _Evidence:
    """Counts of capitalised and lower-case words in the whole text, as evidence for names."""

    def __init__(self, sentences: Sequence[Words]) -> None:
        self.headlines = [_is_headline(words) for words in sentences]
        self.inside: Counter[str] = Counter()
        """Capitalised words where no rule of spelling asks for a capital."""
        self.lower: Counter[str] = Counter()
        """Words in lower case."""
        for words, headline in zip(sentences, self.headlines, strict=True):
            for place, word in enumerate(words):
                if word.islower():
                    self.lower[word] += 1
                elif not headline and not _at_start(words, place) and capitalised(word):
                    self.inside[word] += 1

    def names(self, word: str) -> bool:
        """Whether the word is more often a name than a common word in this text."""
        inside = self.inside[word] + self.inside[word[:1].lower() + word[1:]]  # Al-Assad is al-Assad
        return inside > self.lower[word.lower()]

    def common(self, word: str) -> bool:
        """Whether the word at the beginning of a sentence is a common word."""
        return word.lower() in STARTERS or self.lower[word.lower()] > 0 or lower_share(word) >= _COMMON


def _is_headline(words: Words) -> bool:
    """Whether all content words have capitals, and no period ends the sentence."""
    content = [word for word in words if word.isalpha() and word.lower() not in STARTERS and word not in PARTICLES]
    return len(content) >= _HEADLINE and words[-1] not in _ENDS and not any(word.islower() for word in content)


def _at_start(words: Words, place: int) -> bool:
    """Whether every word has a capital here; not in a quotation inside a sentence, as in: the film `` Star Wars ''."""
    if place > 1 and words[place - 1] in _QUOTES:
        return not words[place - 2].isalpha() or words[place - 2] in _SPEAKING
    return place == 0 or words[place - 1] in _AFTER_THESE


def _in_sentence(words: Words, number: int, evidence: _Evidence, tags: Sequence[str]) -> Iterator[Mention]:
    """Yield the names of one sentence."""
    if not any(map(capitalised, words)):
        return
    named = _named(words, evidence.headlines[number], evidence, tags)
    place = 0
    while place < len(words):
        if not named[place]:
            place += 1
            continue
        end = _run_end(words, named, place)
        place -= place > 0 and words[place - 1] == "al"  # al Qaeda
        yield from _without_titles(words, place, end, number)
        place = end


def _named(words: Words, headline: bool, evidence: _Evidence, tags: Sequence[str]) -> list[bool]:
    """For each word, whether it may be part of a name."""
    named = [False] * len(words)
    shouted = headline and all(word.isupper() for word in words if word.isalpha())
    for place in reversed(range(len(words))):  # from the end, since a first word depends on the word after it
        word = words[place]
        joins = place + 1 < len(words) and named[place + 1]
        if not capitalised(word) or word in CALENDAR or _is_office(words, place):
            continue
        if word in NO_NAMES and not (joins and word == "NEW"):
            continue
        if "-" in word and is_compound(words, place):
            continue
        if not (headline or _at_start(words, place)):
            named[place] = _inside(words, place, tags[place], joins)
        else:
            plain = word.capitalize() if shouted else word
            named[place] = (
                evidence.names(plain)
                or plain in PEOPLES
                or plain in PLACES
                or (joins and plain.title() in COMPASS)
                or (acronym(word) and not shouted and (word in _ACRONYMS or not ordinary(word)))
                or (
                    not evidence.common(plain)
                    and not _is_occupation(words, named, place)
                    and (lower_share(word) < _NEVER if headline else tags[place].startswith("NNP"))
                )
            )
    return named


def _inside(words: Words, place: int, tag: str, joins: bool) -> bool:
    """Whether a capitalised word inside a sentence may be part of a name."""
    word = words[place]
    if word.isupper() and len(word) > 1 and word not in _ACRONYMS and ordinary(word):
        return False  # READ MORE
    if word.lower() not in STARTERS or acronym(word):
        return True
    return (joins and (tag.startswith("NN") or words[place - 1] in _QUOTES)) or _ends_name(words, place)


def _is_occupation(words: Words, named: list[bool], place: int) -> bool:
    """Whether this is an occupation before a name of two words, such as Astronomer in Astronomer Naomi Ikeda."""
    if not all(named[place + 1 : place + 3]) or place + 2 >= len(words) or words[place] in GIVEN:
        return False
    return words[place + 1] in GIVEN or words[place].endswith(_OCCUPATIONS)


def _ends_name(words: Words, place: int) -> bool:
    """Whether a common word ends a name, such as Said in Port Said: the word before it is a name word."""
    before = words[place - 1]
    return capitalised(before) and before.lower() not in STARTERS and before not in _NEVER_FIRST


def _is_office(words: Words, place: int) -> bool:
    """Whether this is part of a title, such as State in Secretary of State."""
    return place > 1 and words[place] in OFFICES and words[place - 1] == "of" and words[place - 2] in TITLES


def _run_end(words: Words, named: list[bool], start: int) -> int:
    """The end of the run of name words and the joints between them."""
    end, last = start + 1, min(len(words), start + _LONGEST_NAME)
    while end < last:
        if named[end]:
            end += 1
            continue
        step = _joint(words, end)
        if not step or end + step >= last or not named[end + step]:
            break
        end += step + 1
    return end


def _joint(words: Words, place: int) -> int:
    """The number of words here that join two parts of a name (`of the`, `van der`); 0 if there are none."""
    if words[place] in ("of", "for", "on") and words[place - 1] in HEADS:
        return 2 if words[place + 1 : place + 2] == ("the",) else 1
    if words[place] in PARTICLES:
        return 2 if place + 1 < len(words) and words[place + 1] in PARTICLES else 1
    return 0


def _without_titles(words: Words, start: int, end: int, number: int) -> Iterator[Mention]:
    """Cut a run into names at its titles: Egyptian President Mohamed Morsy is two names."""
    cut, titled = start, False
    for place in range(start, end):
        rest = [word for word in words[place + 1 : end] if word not in SUFFIXES]
        if words[place] not in TITLES or not rest or rest[0].islower() or not NOT_PERSONS.isdisjoint(rest):
            continue
        before = place
        while before > cut and (words[before - 1] in BEFORE_TITLES or words[before - 1] in TITLES):
            before -= 1
        yield from _people_apart(words[cut:before], cut, number, titled)
        cut, titled = place + 1, True
    if not titled and all(word in TITLES or word in BEFORE_TITLES for word in words[cut:end]) and end - cut > 1:
        return  # Prime Minister without a name
    titled = titled or (cut > 0 and words[cut - 1] in TITLES)
    yield from _people_apart(words[cut:end], cut, number, titled)


def _people_apart(name: Words, start: int, number: int, titled: bool) -> Iterator[Mention]:
    """Yield the name; separate a people before a person's name: Briton Andy Murray."""
    if len(name) > 2 and name[0] in PEOPLES and NOT_PERSONS.isdisjoint(name):
        yield Mention(number, start, name[:1])
        name, start = name[1:], start + 1
    if name:
        yield Mention(number, start, name, titled)
