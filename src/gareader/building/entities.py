"""Mentions of names grouped into entities, and which of these are persons."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gareader.building.name_words import COMPASS, GIVEN, NOT_PERSONS, PARTICLES, PEOPLES, PLACES, SUFFIXES
from gareader.building.names import Mention, Tagger, Words, acronym, capitalised, find_mentions, last_name

_SAYING = frozenset(
    """said says told tells added adds asked replied wrote tweeted testified argued insisted recalled joked admitted
    explained announced acknowledged thanked resigned married died born""".split()
)
"""Beside a name, they make it a person's."""
_PRONOUNS = frozenset("he she his her him himself herself".split())
_IN_PLACE = frozenset("in near inside outside across throughout the".split())
_SMALL = PARTICLES | {"of", "for", "on", "the"}
_REACH = 12  # words after a name in which a pronoun may be about it


@dataclass(frozen=True, slots=True)
class Entity:
    """Someone or something, by all its names in a text."""

    name: Words
    """Its most complete name."""
    mentions: tuple[Mention, ...]
    person: bool
    """Whether it looks like a person."""

    def form(self, sentences: range | None = None) -> Words | None:
        """Its most complete name in these sentences (all, if None); then Egypt before Egyptian, the most frequent."""
        counts = Counter(
            mention.words for mention in self.mentions if sentences is None or mention.sentence in sentences
        )
        return max(counts, key=lambda words: (len(words), words[-1] not in PEOPLES, counts[words]), default=None)


@dataclass(slots=True, eq=False)  # by identity: who it is, not what was gathered so far
class _Group:
    """An entity while it grows."""

    full: Words
    mentions: list[Mention] = field(default_factory=list)


def find_entities(sentences: Sequence[Words], tag: Tagger | None = None, body: int | None = None) -> list[Entity]:
    """The entities of a text by first mention; sentences from `body` on are about it, and no part of it."""
    found = []
    for group in _grouped(find_mentions(sentences, tag), len(sentences) if body is None else body):
        entity = Entity(group.full, tuple(group.mentions), _is_person(group.mentions, sentences))
        found.append(replace(entity, name=entity.form() or group.full))
    return sorted(found, key=lambda entity: (entity.mentions[0].sentence, entity.mentions[0].start))


def _key(words: Words) -> Words:
    """A name without the differences of LONDON and London, U.S. and US, Egyptian and Egypt."""
    land = PEOPLES.get(words[-1])
    words = (*words[:-1], *land) if land else words
    return tuple(word.replace(".", "").casefold() for word in words)


def _surname(words: Words) -> str:
    """The last name, without al-."""
    return last_name(words)[0].casefold().removeprefix("al-").removeprefix("el-")


class _Names:
    """The names of a text, for finding whom a shorter name means."""

    def __init__(self, mentions: Sequence[Mention], body: int) -> None:
        self.body = body
        self.groups: dict[Words, _Group] = {}
        """By the key of a name; several keys may lead to one group."""
        self.ends: defaultdict[Words, list[_Group]] = defaultdict(list)
        """Longer names by each of their ends of two and more words."""
        self.initials: dict[str, _Group] = {}
        self.bearers: defaultdict[str, list[_Group]] = defaultdict(list)
        """Names that may be a person's by their last word, and below by their first, and by both."""
        self.called: defaultdict[str, list[_Group]] = defaultdict(list)
        self.persons: dict[tuple[str, str], _Group] = {}
        self.recent: dict[str, _Group] = {}
        """By the last name: who was last named in full."""
        longer = {mention.words for mention in mentions if len(mention.words) > 1}
        for words in sorted(longer, key=lambda words: (-len(words), words)):
            self.add(words)

    def add(self, words: Words) -> None:
        """A name of two or more words, the longest come first."""
        both, ends = (words[0], last_name(words)[0]), self.ends.get(words, [])
        known = self.persons.get(both)  # Barack Hussein Obama, Barack Obama
        group = known or (ends[0] if len(ends) == 1 else _Group(words))
        if self.groups.setdefault(_key(words), group).full is not words:
            return
        self.initials.setdefault("".join(word[0] for word in words if word not in _SMALL), group)
        if "of" not in words:
            for start in range(1, len(words) - 1):
                self.ends[words[start:]].append(group)
        if _may_be_person(words):
            self.persons[both] = group
            self.bearers[_surname(words)].append(group)
            self.called[words[0]].append(group)

    def group(self, mention: Mention) -> _Group:
        """Whose mention this is."""
        words, surname, key = mention.words, _surname(mention.words), _key(mention.words)
        if len(words) > 1:
            group = self.groups[key]
            if _may_be_person(group.full):
                self.recent[surname] = group
            return group
        if key not in self.groups and words[0] not in PLACES and words[0] not in PEOPLES:
            if bearers := self.bearers.get(surname):
                if mention.sentence >= self.body:  # a highlight is about the one the text is about
                    return max(bearers, key=lambda group: len(group.mentions))
                return self.recent.get(surname, bearers[0])  # before any is named in full, one to come
            if acronym(words[0]) and (spelt := self.initials.get(words[0].replace(".", ""))):
                return spelt
            if len(called := self.called.get(words[0], [])) == 1:  # a first name alone
                return called[0]
        return self.groups.setdefault(key, _Group(words))


def _grouped(mentions: Sequence[Mention], body: int) -> list[_Group]:
    """Groups of mentions of one entity: equal names, parts of names, initials."""
    names = _Names(mentions, body)
    made: dict[int, _Group] = {}
    for mention in mentions:
        group = names.group(mention)
        group.mentions.append(mention)
        made[id(group)] = group
    return list(made.values())


def _may_be_person(full: Words) -> bool:
    """Whether it may be a person's name, so that its first or last word may stand for the whole."""
    return 1 < len(full) < 5 and not (
        full[0] in COMPASS or full[0] in PEOPLES or full[-1] in PLACES or not NOT_PERSONS.isdisjoint(full)
    )


def _is_person(mentions: Sequence[Mention], sentences: Sequence[Words]) -> bool:
    """Two to four words and a sign, or one word and two kinds of sign; never with the marks of firms and places."""
    forms = {mention.words for mention in mentions}
    words = {word for form in forms for word in form}
    if not NOT_PERSONS.isdisjoint(words) or not PEOPLES.keys().isdisjoint(words) or "&" in words:
        return False
    if any(any(sign.isdigit() for sign in word) for word in words):
        return False
    longest = max(forms, key=len)
    if len(longest) > 5 or longest[-1] in PLACES or all(acronym(word) for word in longest):
        return False
    if 2 * sum(_in_place(mention, sentences[mention.sentence]) for mention in mentions) >= len(mentions):
        return False
    signs = _signs(mentions, sentences)
    if len(longest) == 1:
        return "title" in signs or len(signs) > 1
    return bool(signs)


def _in_place(mention: Mention, words: Words) -> bool:
    """Whether it stands as places and firms do: in Paris, the Senate, Smith of Boston."""
    before, beyond = (words[mention.start - back : mention.start - back + 1] for back in (1, 2))
    if not mention.start or before[0] != "of":
        return mention.start > 0 and before[0].lower() in _IN_PLACE
    return mention.start > 1 and capitalised(beyond[0])


def _signs(mentions: Sequence[Mention], sentences: Sequence[Words]) -> set[str]:
    """The kinds of sign that the mentions are of a person."""
    signs = set()
    if len({len(mention.words) for mention in mentions}) > 1:
        signs.add("last name alone")
    for mention in mentions:
        words, rest = sentences[mention.sentence], sentences[mention.sentence][mention.end : mention.end + _REACH]
        if len(mention.words) > 1 and mention.words[0] in GIVEN:
            signs.add("first name")
        if mention.titled or not SUFFIXES.isdisjoint(mention.words[1:]):
            signs.add("title")
        if rest[:1] == (",",) and rest[1:2] and rest[1].isdigit() and len(rest[1]) < 4:
            signs.add("age")
        if (rest and rest[0] in _SAYING) or (mention.start and words[mention.start - 1] in _SAYING):
            signs.add("saying")
        if rest[:1] == ("who",) or rest[:2] == (",", "who"):
            signs.add("who")
        if not _PRONOUNS.isdisjoint(rest):
            signs.add("pronoun")
    return signs


def compatible(one: Words, other: Words) -> bool:
    """Whether two names from different texts may be one person's: Obama, Barack Obama, B. Obama; not Michelle Obama."""
    if _surname(one) != _surname(other):
        return False
    first, second = one[0].rstrip("."), other[0].rstrip(".")
    if min(len(one), len(other)) == 1 or first == second:
        return True
    return first[0] == second[0] and min(len(first), len(second)) == 1
