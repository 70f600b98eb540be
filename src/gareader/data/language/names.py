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
    PARTIES,
    PEOPLES,
    PLACES,
    POSSESSED,
    STARTERS,
    SUFFIXES,
    TITLES,
)
from gareader.data.language.news_words import lower_share, ordinary
from gareader.data.language.perceptron import tagger

_AFTER_THESE = frozenset([".", "!", "?", "``", "`", ":", "--", "...", "''", "'", "-LRB-", "-lrb-", "(", ";", '"', "*"])
"""After these words a capital is no sign of a name, as at the beginning of a sentence."""

_QUOTES = frozenset(["``", "`", "''", "'", '"'])
_OPENING = frozenset(["``", "`", '"'])
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
_STATE = frozenset(["Parliament", "Cabinet", "Government", "Consulate"])
"""After a people, these are names of their own."""
_JOINTS = frozenset(["of", "for", "on"])
_INSTITUTIONS = HEADS.union("Administration Authority Protection Enforcement Stores Act Service Services".split())
_BEFORE = frozenset("al bin de del der el la le van von".split())
"""Small words at the beginning of names."""
_AMBIGUOUS = frozenset(
    "Sheikh King Prince Bishop Dean Judge Marshal Major Pope Earl Duke Baron Count Imam Mullah".split()
)
"""Titles that are names too: Khalid Sheikh Mohammed."""
_CLOSED = frozenset(["DT", "IN", "CC", "PRP", "PRP$", "WP", "WRB", "WDT", "EX", "MD", "TO"])
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
    # King, Bishop or Judge alone is a name if it is the last name of someone in the text
    return [
        mention
        for mention in mentions
        if len(mention.words) > 1 or mention.words in lasts or evidence.stands_alone(mention)
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
    if rest[-1] in ("American", "Americans"):
        return False
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
        self.pairs: set[tuple[str, str]] = set()
        """Pairs of such words."""
        self.lower: Counter[str] = Counter()
        """Words in lower case."""
        for words, headline in zip(sentences, self.headlines, strict=True):
            for place, word in enumerate(words):
                if word.islower():
                    self.lower[word] += 1
                elif not headline and not _at_start(words, place) and capitalised(word):
                    self.inside[word] += 1
                    if place + 1 < len(words) and words[place + 1][:1].isupper():
                        self.pairs.add((word, words[place + 1]))

    def names(self, word: str) -> bool:
        """Whether the word is more often a name than a common word in this text."""
        inside = self.inside[word] + self.inside[word[:1].lower() + word[1:]]  # Al-Assad is al-Assad
        return inside > self.lower[word.lower()]

    def stands_alone(self, mention: Mention) -> bool:
        """Whether a name of one word is one: not a title, an initial, or a noun such as the Flotilla."""
        (word,) = mention.words
        if word in TITLES or len(word.rstrip(".")) == 1:
            return False
        noun = self.lower[word.lower()] >= self.inside[word] > 0 and not acronym(word) and word not in GIVEN
        return mention.titled or not noun or lower_share(word) < _COMMON

    def pair(self, words: Words, place: int) -> bool:
        """Whether this word and the next, which is part of a name, are one: Real Madrid, Associated Press."""
        word, following = words[place : place + 2]
        if (word, following) in self.pairs:
            return True
        title = words[place + 2 : place + 3] if following in BEFORE_TITLES else (following,)
        if word.lower() in STARTERS or word in BEFORE_TITLES or not TITLES.isdisjoint(title):
            return False
        # a capital of a common word inside a sentence belongs to the name before it
        return lower_share(following) >= _COMMON and not self.lower[word.lower()]

    def common(self, word: str) -> bool:
        """Whether the word at the beginning of a sentence is a common word."""
        return word.lower() in STARTERS or self.lower[word.lower()] > 0 or lower_share(word) >= _COMMON


def _is_headline(words: Words) -> bool:
    """Whether all content words have capitals, and no period ends the sentence."""
    if not words or words[-1] in _ENDS:
        return False
    letters = [word for word in words if word.isalpha()]
    content = [word for word in letters if word.lower() not in STARTERS and word not in PARTICLES]
    if len(content) < _HEADLINE:
        return len(letters) >= _HEADLINE and all(map(str.isupper, letters))
    return not any(map(str.islower, content))


def _at_start(words: Words, place: int) -> bool:
    """Whether every word has a capital here; not in a quotation inside a sentence, as in: the film `` Star Wars ''."""
    if place > 1 and words[place - 1] in _QUOTES:
        return not words[place - 2].isalpha() or words[place - 2] in _SPEAKING
    return place == 0 or words[place - 1] in _AFTER_THESE


def _in_sentence(words: Words, number: int, evidence: _Evidence, tags: Sequence[str]) -> Iterator[Mention]:
    if not any(map(capitalised, words)):
        return
    named = _named(words, evidence.headlines[number], evidence, tags)
    place = 0
    while place < len(words):
        if not named[place]:
            place += 1
            continue
        end = _run_end(words, named, place)
        while place > 0 and words[place - 1] in _BEFORE and not named[place - 1]:
            place -= 1  # al Qaeda, van der Sar
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
                or (joins and (plain.title() in COMPASS or plain in GIVEN or plain.lower() in _BEFORE))
                or (joins and evidence.pair(words, place))
                or (acronym(word) and not shouted and (word in _ACRONYMS or not ordinary(word)))
                or (
                    not evidence.common(plain)
                    and not _is_occupation(words, named, place)
                    and (
                        (lower_share(word) < _NEVER and (headline or joins))
                        or (tags[place].startswith("NNP") and not headline)
                    )
                )
            )
    return named


def _inside(words: Words, place: int, tag: str, joins: bool) -> bool:
    """Whether a capitalised word inside a sentence may be part of a name."""
    word = words[place]
    if word.isupper() and len(word) > 1 and word not in _ACRONYMS and ordinary(word):
        return False  # READ MORE
    if word.lower() not in STARTERS or word in _ACRONYMS:
        return True
    if joins and (words[place - 1] in _OPENING or tag.startswith("NN")):
        return True
    if place > 1 and words[place - 1] in _JOINTS and words[place - 2] in HEADS:  # National Organization for Women
        return tag.startswith("NN")
    return tag not in _CLOSED and _ends_name(words, place)


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
        step = _joint(words, named, start, end)
        if not step or end + step >= last or not named[end + step]:
            break
        end += step + 1
    return end


def _joint(words: Words, named: list[bool], start: int, place: int) -> int:
    """The number of words here that join two parts of a name (`of the`, `van der`); 0 if there are none."""
    word, following = words[place], words[place + 1 : place + 2]
    if word in _JOINTS and words[place - 1] in HEADS:
        return 2 if following == ("the",) else 1
    if word in PARTICLES:
        return 2 if following and following[0] in PARTICLES else 1
    if word == "'s":  # St. Peter's Basilica
        return int(following != () and following[0] in POSSESSED)
    if word == "and" and words[place - 1] not in NOT_PERSONS and lower_share(words[place - 1]) > _COMMON:
        end = next((end for end in range(place + 1, len(named)) if not named[end]), len(named))
        last = words[end - 1]
        # Freedom and Justice Party, Centers for Disease Control and Prevention, but not General Motors and Toyota
        return int(
            last in _INSTITUTIONS or (not _JOINTS.isdisjoint(words[start:place]) and lower_share(last) > _COMMON)
        )
    return 0


def _without_titles(words: Words, start: int, end: int, number: int) -> Iterator[Mention]:
    """Cut a run into names at its titles: Egyptian President Mohamed Morsy is two names."""
    cut, titled = start, False
    for place in range(start, end):
        rest = [word for word in words[place + 1 : end] if word not in SUFFIXES]
        person = len(rest) == 2 and rest[0] in GIVEN  # Ambassador Chris Hill
        if words[place] not in TITLES or not rest or rest[0].islower():
            continue
        if not NOT_PERSONS.isdisjoint(rest) and not person:
            continue
        if words[place] in _AMBIGUOUS and place > cut and not _is_land(words[place - 1]):
            continue
        before = _before_title(words, cut, place)
        yield from _apart(words, cut, before, number, titled)
        cut, titled = place + 1, True
    if not titled:
        if all(word in TITLES or word in BEFORE_TITLES for word in words[cut:end]) and end - cut > 1:
            return  # Prime Minister without a name
        if words[end - 1] in TITLES and (
            _is_land(words[cut]) or (end < len(words) and words[end] in ("of", "for", "to"))
        ):
            end = _before_title(words, cut, end - 1)  # U.S. Secretary of State
    titled = titled or (cut > 0 and words[cut - 1] in TITLES)
    yield from _apart(words, cut, end, number, titled)


def _before_title(words: Words, start: int, place: int) -> int:
    """The place of the first word of the title that ends here."""
    while place > start and (words[place - 1] in BEFORE_TITLES or words[place - 1] in TITLES):
        place -= 1
    return place


def _apart(words: Words, start: int, end: int, number: int, titled: bool) -> Iterator[Mention]:
    """Yield the names of a run without titles."""
    while cut := _cut(words, start, end):
        stop, following = cut
        if stop > start:
            yield Mention(number, start, words[start:stop], titled)
        start, titled = following, following > stop
    if end > start:
        yield Mention(number, start, words[start:end], titled)


def _cut(words: Words, start: int, end: int) -> tuple[int, int] | None:
    """The end of the first of several names in a run, and the beginning of the next; None if the run is one name."""
    for place in range(start, end - 1):
        word, rest = words[place], words[place + 1 : end]
        if word in PARTIES and NOT_PERSONS.isdisjoint(rest):  # Georgia Republican Saxby Chambliss
            return (place, place) if place > start else (place + 1, place + 1)
        if place == start and word in PEOPLES and (rest[0] in _STATE or (len(rest) > 1 and _only_name_words(rest))):
            return place + 1, place + 1  # Briton Andy Murray
        if len(rest) > 1 and rest[0] in GIVEN and _only_name_words(rest):
            if _is_land(word) or word in NOT_PERSONS:  # Libya Christopher Stevens
                return place + 1, place + 1
            if word not in GIVEN and word not in COMPASS and ordinary(word):  # Investor Warren Buffett
                return place, place + 1
    if end - start > 1 and words[end - 1] in PARTIES and words[end - 2] not in PARTICLES:  # California Democrat
        return end - 1, end - 1
    return None


def _is_land(word: str) -> bool:
    """Whether the word is a place, a people or an acronym, so that a person's name after it is another name."""
    return word in PLACES or word in PEOPLES or acronym(word)


def _only_name_words(words: Words) -> bool:
    """Whether no word is of a place, people or firm, and none is common unless a given name is first: not Red Cross."""
    if not NOT_PERSONS.isdisjoint(words) or any(word in PLACES or word in PEOPLES for word in words):
        return False
    return words[0] in GIVEN or not any(ordinary(word) and lower_share(word) > _COMMON for word in words)
