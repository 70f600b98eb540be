"""Candidates for the blank of a query: names, nouns, dates, numbers, verbs or adjectives of the document."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby

from gareader.data.examples import Words
from gareader.data.language.blanks import (
    ADJECTIVES,
    LETTERS,
    LISTS,
    NO_CANDIDATES,
    PASTS,
    SPEAKING,
    Blank,
    Kind,
    is_person,
    is_time,
)
from gareader.data.language.entities import Entity, find_entities
from gareader.data.language.name_words import CALENDAR, NOT_PERSONS, PEOPLES, PLACES, TITLES
from gareader.data.language.perceptron import tagger

LIMIT = 100
"""The most candidates that are proposed."""

_ENDS = frozenset([".", "!", "?"])
_CLOSING = frozenset(["''", "'", "-RRB-"])
_MONTHS = frozenset(word for word in CALENDAR if not word.removesuffix("s").endswith("day"))
_VERB_FORMS = (frozenset(["VBD", "VBN"]), frozenset(["VB", "VBP"]), frozenset(["VBZ"]), frozenset(["VBG"]))

_DAY = re.compile("[0-3]?[0-9](st|nd|rd|th)?")
_ORDINAL = re.compile("[0-3]?[0-9](st|nd|rd|th)")
_YEAR = re.compile("1[0-9]{3}|20[0-9]{2}")

_PHRASE = re.compile("(?:(?<=[DA])P|[AS])*N+|(?<=D)A*S")
"""Nouns with their modifiers, or a superlative alone: the old woman, a widowed queen, the youngest."""
_POSSESSOR = re.compile("D?((?:[AS]*N+|E+)O)$")
"""Before a phrase: somebody with the sign of a possessor."""
_OF_PERSON = re.compile(",?W|O")
"""After a noun for a person: who, or the sign of a possessor."""


def find_candidates(document: Iterable[Words], query: Words, kinds: Sequence[Kind] = ()) -> list[Words]:
    """At most LIMIT candidates from the document's paragraphs; without kinds, of those that the blank asks for.

    Kinds are given for the blank of a question, which does not ask for what it says itself: such candidates are left
    out. Names and nouns are added where there are fewer than two candidates.
    """
    blank = Blank.of(query)
    query_words = {word.lower() for word in query} if kinds else set()
    kinds = kinds or blank.kinds()
    text = _text(tuple(document))
    candidates: dict[Words, None] = {}
    for kind in (*kinds, Kind.NAME, Kind.NOUN):
        if kind in kinds or len(candidates) < 2:
            fitted = (blank.fitted(words) for words in text.of(kind, blank.tag))
            candidates |= dict.fromkeys(
                words for words in fitted if words and not query_words.issuperset(map(str.lower, words))
            )
    return list(candidates)[:LIMIT]


def of_kind(paragraph: Words, kind: Kind) -> list[Words]:
    """The candidates of one kind, whatever the query; verbs are in the past."""
    return _text((paragraph,)).of(kind, "VBD")


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A noun with its modifiers, without determiner, at its place."""

    sentence: int
    start: int
    words: Words

    @property
    def head(self) -> str:
        """The noun in lower case."""
        return self.words[-1].lower()


class _Text:
    """The candidates of a document, by kind."""

    def __init__(self, sentences: Sequence[Words]) -> None:
        self.sentences = sentences
        self.entities = find_entities(sentences)
        named = {(mention.sentence, mention.start) for entity in self.entities for mention in entity.mentions}
        # a capital at the beginning of a sentence would make any word a name for the tagger: Beat two eggs
        plain = [
            words if (number, 0) in named else (words[0].lower(), *words[1:]) for number, words in enumerate(sentences)
        ]
        self.tags = tagger().tag(plain)

    def of(self, kind: Kind, tag: str) -> list[Words]:
        """The candidates of one kind; verbs have the form of a word with this tag."""
        match kind:
            case Kind.PERSON:
                persons = {phrase.head for phrase in self.phrases if is_person(phrase.head) or self.acts(phrase)}
                return [*self.names(filter(_may_be_person, self.entities)), *self.descriptions(persons)]
            case Kind.NAME:
                return self.names(self.entities)
            case Kind.PLACE:
                places = {phrase.head for phrase in self.phrases if self.placed(phrase)}
                return [*self.names(each for each in self.entities if not each.person), *self.nouns(places)]
            case Kind.NOUN:
                return [
                    *self.nouns({phrase.head for phrase in self.phrases}),
                    *self.names(filter(self.determined, self.entities)),
                ]
            case Kind.BARE:
                return self.nouns(
                    {
                        each.head
                        for each in self.phrases
                        if not self.letters[each.sentence][: each.start].endswith(("D", "O"))
                    }
                )
            case Kind.DATE:
                return [
                    *_by_count(self.dates()),
                    *self.nouns({each.head for each in self.phrases if is_time(each.head)}),
                ]
            case Kind.NUMBER:
                return _by_count(self.numbers())
            case Kind.VERB:
                return _by_count(self.tagged(next((each for each in _VERB_FORMS if tag in each), _VERB_FORMS[0])))
            case Kind.ADJECTIVE:
                return _by_count((*self.tagged(ADJECTIVES), *self.states()))

    def names(self, entities: Iterable[Entity]) -> list[Words]:
        """The most complete names of the entities, and marks such as @entity5, the most frequent first."""
        counts = Counter({entity.name: len(entity.mentions) for entity in entities})
        counts.update((word,) for words in self.sentences for word in words if word[0] == "@" and len(word) > 1)
        return [name for name, _ in counts.most_common()]

    def nouns(self, heads: set[str]) -> list[Words]:
        """The nouns with their fixed modifiers, the most frequent noun first."""
        forms: defaultdict[str, Counter[Words]] = defaultdict(Counter)
        for phrase in self.phrases:
            if phrase.head in heads:
                forms[phrase.head][phrase.words] += 1
        return [words for counts in sorted(forms.values(), key=Counter.total, reverse=True) for words in _fixed(counts)]

    def descriptions(self, heads: set[str]) -> list[Words]:
        """The nouns as people name somebody, the most frequent noun first: the wizard's old servant, a young servant.

        A form is left out if a longer one has all its words.
        """
        forms: defaultdict[str, list[Words]] = defaultdict(list)
        for phrase in self.phrases:
            if phrase.head in heads:
                words, start = self.sentences[phrase.sentence], phrase.start
                if possessor := _POSSESSOR.search(self.letters[phrase.sentence], 0, start):
                    start = possessor.start(1)
                start -= start > 0 and words[start - 1] == "very"
                forms[phrase.head].append(words[start : phrase.start + len(phrase.words)])
        return [
            words
            for each in sorted(forms.values(), key=len, reverse=True)
            for words in dict.fromkeys(each)
            if not any({*words} < {*longer} for longer in each)
        ]

    def acts(self, phrase: _Phrase) -> bool:
        """Whether the phrase is a speaker, a possessor, or followed by who."""
        words, end = self.sentences[phrase.sentence], phrase.start + len(phrase.words)
        if _OF_PERSON.match(self.letters[phrase.sentence], end) or self.word_before(phrase) in SPEAKING:
            return True
        return "".join(words[end : end + 1]) in SPEAKING

    def placed(self, phrase: _Phrase) -> bool:
        """Whether a preposition of place stands before the phrase, or before its possessor."""
        letters = self.letters[phrase.sentence]
        if letters[phrase.start + len(phrase.words) :].startswith("O"):
            return False
        return letters[: phrase.start].endswith("O") or self.word_before(phrase) in LISTS["before_places"]

    def word_before(self, phrase: _Phrase) -> str:
        """The word before the phrase and its determiner, in lower case."""
        start = phrase.start - self.letters[phrase.sentence][: phrase.start].endswith("D")
        return self.sentences[phrase.sentence][start - 1].lower() if start else ""

    def determined(self, entity: Entity) -> bool:
        """Whether the name stands after `the`."""
        return any(each.start and self.sentences[each.sentence][each.start - 1] == "the" for each in entity.mentions)

    def dates(self) -> Iterator[Words]:
        """Days of the week, months with their days, days of a month, and years."""
        for words, tags in zip(self.sentences, self.tags, strict=True):
            for place, (word, tag) in enumerate(zip(words, tags, strict=True)):
                named = word in CALENDAR and tag.startswith("NNP")
                if named and word in _MONTHS:
                    before = place > 0 and _DAY.fullmatch(words[place - 1]) is not None
                    after = not before and _DAY.fullmatch("".join(words[place + 1 : place + 2])) is not None
                    yield words[place - before : place + 1 + after]
                elif named or _ORDINAL.fullmatch(word) or _YEAR.fullmatch(word):
                    yield (word,)

    def numbers(self) -> Iterator[Words]:
        """Runs of words tagged as numbers, or known as such: 3.5 million, twenty-one."""
        for words, tags in zip(self.sentences, self.tags, strict=True):
            pairs = zip(words, tags, strict=True)
            for is_number, run in groupby(pairs, key=lambda pair: _is_number(*pair)):
                if is_number:
                    yield tuple(word for word, _ in run)

    def tagged(self, wanted: frozenset[str]) -> Iterator[Words]:
        """The words in lower case with one of these tags."""
        for words, tags in zip(self.sentences, self.tags, strict=True):
            for word, tag in zip(words, tags, strict=True):
                if tag in wanted and word.islower() and word not in NO_CANDIDATES and word not in LISTS["auxiliaries"]:
                    yield (word,)

    def states(self) -> Iterator[Words]:
        """Participles directly after a verb, which are used like adjectives: was tired."""
        for words, letters in zip(self.sentences, self.letters, strict=True):
            for match in re.finditer("(?<=V)P|(?<=VR)P", letters):
                yield (words[match.start()],)

    @cached_property
    def phrases(self) -> list[_Phrase]:
        """Nouns with the adjectives and nouns before them, in reading order; names are none."""
        return [
            _Phrase(number, match.start(), self.sentences[number][match.start() : match.end()])
            for number, letters in enumerate(self.letters)
            for match in _PHRASE.finditer(letters)
        ]

    @cached_property
    def letters(self) -> list[str]:
        """Each sentence with one letter for each of its words."""
        rows = [
            [_letter(word, tag) for word, tag in zip(words, tags, strict=True)]
            for words, tags in zip(self.sentences, self.tags, strict=True)
        ]
        for mention in (mention for entity in self.entities for mention in entity.mentions):
            titled = mention.start > 0 and self.sentences[mention.sentence][mention.start - 1] in TITLES
            start = mention.start - titled
            rows[mention.sentence][start : mention.end] = "E" * (mention.end - start)
        for row, words, tags in zip(rows, self.sentences, self.tags, strict=True):
            if row[0] == "N" and tags[0] == "NN" and "".join(row[1:2]) not in ("V", "N", "O"):
                row[0] = "x"  # Beat two eggs
            for place in range(1, len(row)):  # the tagger takes verbs for nouns: the man slept, an old man living there
                verbal = words[place].endswith(("ing", "ed")) or words[place] in PASTS
                if row[place - 1] == row[place] == "N" and verbal and is_person(words[place - 1]):
                    row[place] = "V"
        return ["".join(row) for row in rows]


def _is_number(word: str, tag: str) -> bool:
    """Whether the tag, or each part of the word, is that of a number; ordinals are none."""
    if tag == "CD":
        return not _ORDINAL.fullmatch(word)
    return all(part.isdecimal() or part in LISTS["numerals"] for part in word.lower().replace(",", "").split("-"))


@lru_cache(maxsize=16)
def _text(paragraphs: tuple[Words, ...]) -> _Text:
    """The document's candidates, kept for further questions about it."""
    return _Text([sentence for paragraph in paragraphs for sentence in _sentences(paragraph)])


def _letter(word: str, tag: str) -> str:
    letter = LETTERS.get(tag, "x")
    return "x" if letter in "NAS" and (word.lower() in NO_CANDIDATES or not word[0].isalnum()) else letter


def _sentences(paragraph: Words) -> Iterator[Words]:
    """Split a paragraph after . ! ? and the closing marks that follow, unless a small letter comes next."""
    start = 0
    for place, word in enumerate(paragraph):
        if word not in _ENDS:
            continue
        after = place + 1
        while after < len(paragraph) and (paragraph[after] in _CLOSING or paragraph[after] in _ENDS):
            after += 1
        if after < len(paragraph) and not paragraph[after][0].islower() and place >= start:
            yield paragraph[start:after]
            start = after
    if start < len(paragraph):
        yield paragraph[start:]


def _fixed(counts: Counter[Words]) -> list[Words]:
    """The forms of one noun to propose: with modifiers that it has twice or mostly; alone if these are none or many."""
    if len(counts) == 1:
        return list(counts)
    fixed = [words for words, count in counts.items() if len(words) > 1 and (count > 1 or 2 * count >= counts.total())]
    bare = any(len(words) == 1 for words in counts)
    if not fixed or (bare and len(fixed) > 1):
        fixed.append(counts.most_common(1)[0][0][-1:])
    return fixed


def _may_be_person(entity: Entity) -> bool:
    """Whether no word of the name says that it is of a place, a people or a firm."""
    if entity.person:
        return True
    return (
        NOT_PERSONS.isdisjoint(entity.name) and PEOPLES.keys().isdisjoint(entity.name) and entity.name[-1] not in PLACES
    )


def _by_count(candidates: Iterable[Words]) -> list[Words]:
    """Each candidate once, the most frequent first."""
    return [words for words, _ in Counter(candidates).most_common()]
