"""Mentions of names grouped into entities, and which of these are persons."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from unicodedata import combining, normalize

from gareader.data.examples import Words
from gareader.data.language.name_words import ALIASES, COMPASS, GIVEN, NOT_PERSONS, PARTICLES, PEOPLES, PLACES, SUFFIXES
from gareader.data.language.names import Mention, acronym, capitalised, find_mentions, last_name

_SAYING = frozenset(
    """said says told tells added adds asked replied wrote tweeted testified argued insisted recalled joked admitted
    explained announced acknowledged thanked resigned married died born""".split()
)
"""Next to a name, these words are a sign of a person."""
_PRONOUNS = frozenset("he she his her him himself herself".split())
_IN_PLACE = frozenset("in near inside outside across throughout the".split())
_SMALL = PARTICLES | {"of", "for", "on", "the"}
_REACH = 12  # words after a name in which a pronoun may refer to it


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, place or thing with all its mentions in a text."""

    name: Words
    """Its most complete name."""
    mentions: tuple[Mention, ...]
    person: bool
    """Whether it is probably a person."""

    def form(self, sentences: range | None = None) -> Words | None:
        """Its longest name in these sentences (None: all); of ties Egypt before Egyptian, then the most frequent."""
        counts = Counter(
            mention.words for mention in self.mentions if sentences is None or mention.sentence in sentences
        )
        return max(counts, key=lambda words: (len(words), words[-1] not in PEOPLES, counts[words]), default=None)


@dataclass(slots=True, eq=False)  # compared by identity, since its mentions grow
class _Cluster:
    """The mentions of one entity while they are collected."""

    full: Words
    mentions: list[Mention] = field(default_factory=list)


def find_entities(sentences: Sequence[Words], body: int | None = None) -> list[Entity]:
    """The entities of a text by first mention; sentences from `body` on are highlights of the text."""
    mentions = find_mentions(sentences)
    names = _Names(mentions, len(sentences) if body is None else body)
    clusters: dict[_Cluster, None] = {}
    for mention in mentions:
        cluster = names.cluster(mention)
        cluster.mentions.append(mention)
        clusters[cluster] = None
    entities = []
    for cluster in clusters:
        entity = Entity(cluster.full, tuple(cluster.mentions), _is_person(cluster.mentions, sentences))
        entities.append(replace(entity, name=entity.form() or cluster.full))
    return sorted(entities, key=lambda entity: (entity.mentions[0].sentence, entity.mentions[0].start))


def _key(words: Words) -> Words:
    """A normal form of a name: equal for LONDON and London, U.S. and America, Egyptian and Egypt, J. K. and J.K."""
    land = PEOPLES.get(words[-1])
    words = (*words[:-1], *land) if land else words
    words = ALIASES.get(words, words)
    joined: list[str] = []
    for word in words:
        if len(word) == 2 and word[1] == "." and joined and joined[-1].endswith("."):
            joined[-1] += word
        else:
            joined.append(word)
    return tuple(_plain(word) for word in joined)


def _plain(word: str) -> str:
    """The word in lower case without accents and periods."""
    word = word.replace(".", "").casefold()
    return word if word.isascii() else "".join(c for c in normalize("NFKD", word) if not combining(c))


def _surname(words: Words) -> str:
    """The last name in lower case, without al-."""
    return last_name(words)[0].casefold().removeprefix("al-").removeprefix("el-")


class _Names:
    """The names of a text, to resolve shorter names to the entities they mean."""

    def __init__(self, mentions: Sequence[Mention], body: int) -> None:
        self.body = body
        self.clusters: dict[Words, _Cluster] = {}
        """By the normal form of a name; several names may have one cluster."""
        self.ends: defaultdict[Words, list[_Cluster]] = defaultdict(list)
        """Longer names by each of their endings of two and more words."""
        self.initials: dict[str, _Cluster] = {}
        self.bearers: defaultdict[str, list[_Cluster]] = defaultdict(list)
        """Names that may be a person's, by last name; `called` by first name, `persons` by both."""
        self.called: defaultdict[str, list[_Cluster]] = defaultdict(list)
        self.persons: dict[tuple[str, str], _Cluster] = {}
        self.recent: dict[str, _Cluster] = {}
        """By last name, the person last mentioned with the full name."""
        longer = {mention.words for mention in mentions if len(mention.words) > 1}
        for words in sorted(longer, key=lambda words: (-len(words), words)):
            self.add(words)

    def add(self, words: Words) -> None:
        """Add a name of two or more words; the longest names come first."""
        both, ends = (words[0], last_name(words)[0]), self.ends.get(words, [])
        known = self.persons.get(both)  # Barack Hussein Obama, Barack Obama
        cluster = known or (ends[0] if len(ends) == 1 else _Cluster(words))
        if self.clusters.setdefault(_key(words), cluster).full is not words:
            return
        self.initials.setdefault("".join(word[0] for word in words if word not in _SMALL), cluster)
        if "of" not in words:
            for start in range(1, len(words) - 1):
                self.ends[words[start:]].append(cluster)
        if _shaped_like_person(words):
            self.persons[both] = cluster
            self.bearers[_surname(words)].append(cluster)
            self.called[words[0]].append(cluster)

    def cluster(self, mention: Mention) -> _Cluster:
        words, surname, key = mention.words, _surname(mention.words), _key(mention.words)
        if len(words) > 1:
            cluster = self.clusters[key]
            if _shaped_like_person(cluster.full):
                self.recent[surname] = cluster
            return cluster
        if key not in self.clusters and words not in ALIASES and words[0] not in PLACES and words[0] not in PEOPLES:
            if bearers := self.bearers.get(surname):
                if mention.sentence >= self.body:  # a highlight means the person with the most mentions
                    return max(bearers, key=lambda cluster: len(cluster.mentions))
                return self.recent.get(surname, bearers[0])  # before any full name, the first one to come
            if acronym(words[0]) and (spelt := self.initials.get(words[0].replace(".", ""))):
                return spelt
            if len(called := self.called.get(words[0], [])) == 1:  # a first name alone
                return called[0]
        return self.clusters.setdefault(key, _Cluster(words))


def _shaped_like_person(full: Words) -> bool:
    """Whether this has two to four words, no word of firms, and no people or place where a person has none."""
    return 1 < len(full) < 5 and not (
        full[0] in COMPASS or full[0] in PEOPLES or full[-1] in PLACES or not NOT_PERSONS.isdisjoint(full)
    )


def _is_person(mentions: Sequence[Mention], sentences: Sequence[Words]) -> bool:
    """Whether the mentions are of a person: a longer name with one sign, or one word with a title or two signs.

    A name with a word of firms, places or peoples is never a person.
    """
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
    """Whether the words before the mention are those of a place or firm: in Paris, the Senate, Smith of Boston."""
    before, beyond = (words[mention.start - back : mention.start - back + 1] for back in (1, 2))
    if not mention.start or before[0] != "of":
        return mention.start > 0 and before[0].lower() in _IN_PLACE
    return mention.start > 1 and capitalised(beyond[0])


def _signs(mentions: Sequence[Mention], sentences: Sequence[Words]) -> set[str]:
    """The kinds of evidence that the mentions are of a person."""
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
    """Whether names of two texts may mean one person: Obama, Barack Obama, B. Obama; but not Michelle Obama."""
    if _surname(one) != _surname(other):
        return False
    first, second = one[0].rstrip("."), other[0].rstrip(".")
    if min(len(one), len(other)) == 1 or first == second:
        return True
    return first[0] == second[0] and min(len(first), len(second)) == 1
