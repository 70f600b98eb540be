"""Questions as sentences with a blank: Whom did Anna meet? becomes Anna met ___ . and asks for persons."""

import re
from dataclasses import dataclass, replace

from gareader.core.errors import ExampleError
from gareader.data.examples import FUNCTION_WORDS, PLACEHOLDER, Words
from gareader.data.language.blanks import LETTERS, PAST, PASTS, Kind, is_person, is_time
from gareader.data.language.lists import word_lists
from gareader.data.language.perceptron import tagger

_LISTS = word_lists(__file__, "question_words.toml")
_MOTION, _PREPOSITIONS = _LISTS["motion"], _LISTS["prepositions"]
_NAMES, _ADJECTIVES, _NUMBERS = (_LISTS[f"nouns_for_{kind}"] for kind in ("names", "adjectives", "numbers"))
_BE, _HAVE = frozenset("is are was were am 's".split()), frozenset("has have had".split())
_MODALS = frozenset("can could will would shall should may might must ca wo".split())
_DO = frozenset("do does did".split())
_AUXILIARIES = _BE | _HAVE | _MODALS | _DO
_WORDS = frozenset("who whom whose which what where when how why".split())
_MEASURES = frozenset("old long far tall deep high wide big large heavy often fast".split())
_MANY = frozenset(["many", "much"])
_DEFINITE = frozenset("the this that these those".split())
_PARTICIPLES = ("ed", "wn", "orn", "dden", "tten", "ken", "ven", "sen", "zen", "len")
_NEGATIONS = frozenset(["not", "n't", "never"])
_SPECIAL = _NAMES | _ADJECTIVES | _NUMBERS
_DOUBLED = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")

_LETTERS = LETTERS | {"CD": "D", "JJS": "A"}
"""A letter for each tag; f is a word that joins two phrases."""
_JOINING = frozenset(["of", "and"])
_PART = "(?:H|D*(?:(?<=D)P)?A*N+(?:OA*N+)*)"
_SUBJECT = re.compile(f"{_PART}(?:(?:,f?|f){_PART})*")
_WITH_NOUN = re.compile("A*N+(?:fD*A*N+)?")

CANNOT = (
    "this question does not ask for a name, thing, place, date or number of the text; ask who, whose, what, which, "
    "where, when or how many, or write a sentence with a blank: ___"
)


@dataclass(frozen=True, slots=True)
class Cloze:
    """A query with a blank, and the kinds of candidates; without kinds, the words around the blank decide."""

    query: Words
    kinds: tuple[Kind, ...] = ()


def as_cloze(query: Words) -> Cloze:
    """Rewrite a question as a sentence with a blank; a query with a blank, or without a question mark, stays."""
    end = next((place for place, word in enumerate(query) if "?" in word and not word.strip("?!")), None)
    if PLACEHOLDER in query or end is None:
        return Cloze(query)
    words = query[:end]
    while words and not words[0][0].isalnum():
        words = words[1:]
    if not words or words[0].lower() in _AUXILIARIES:
        raise ExampleError(CANNOT)
    if words[0].lower() in _WORDS | _PREPOSITIONS | FUNCTION_WORDS:
        words = (words[0].lower(), *words[1:])
    words = tuple(word for word in words if word != "else")
    words = tuple(
        "is" if word == "'s" and words[place].lower() in _WORDS else word for place, word in enumerate(words, -1)
    )
    sentence, kinds = _Question(words, _tags(words)).sentence()
    return Cloze((*sentence, "."), kinds)


@dataclass(frozen=True, slots=True)
class _Gap:
    """What the question word stands for."""

    word: str
    filler: Words
    """The blank, and the words that stay with it."""
    kinds: tuple[Kind, ...]
    preposition: Words = ()
    """Of with whom, in which year."""

    @property
    def adverbial(self) -> bool:
        """Whether it stands at the end, with a preposition."""
        return self.word in ("where", "when") or bool(self.preposition)


@dataclass(frozen=True, slots=True)
class _Question:
    """The words of a question with their tags."""

    words: Words
    tags: Words

    def sentence(self) -> tuple[Words, tuple[Kind, ...]]:
        """The words of the sentence with the blank, and the kinds of answers."""
        place = next((place for place, word in enumerate(self.words) if word.lower() in _WORDS), len(self.words))
        if place == len(self.words):
            raise ExampleError(CANNOT)
        gap, start = self.gap(place)
        before = self.words[:place]
        if start == len(self.words):  # The ring was given to whom?
            return (*before, *gap.filler), gap.kinds
        if len(before) == 1 and before[0] in _PREPOSITIONS:
            gap, before = replace(gap, preposition=before), ()
        return (*before, *self.clause(gap, start)), gap.kinds

    def gap(self, place: int) -> tuple[_Gap, int]:
        """What is asked for, and where the rest of the question begins."""
        word, start = self.words[place].lower(), place + 1
        if word in ("who", "whom"):
            return _Gap("who", (PLACEHOLDER,), (Kind.PERSON,)), start
        if word == "where":
            return _Gap(word, (PLACEHOLDER,), (Kind.PLACE,)), start
        if word == "when":
            return _Gap(word, (PLACEHOLDER,), (Kind.DATE,)), start
        following = "".join(self.words[start : start + 1])
        if word == "how" and following in _MANY:
            end = self.end(_WITH_NOUN, start + 1)
            return _Gap(word, (PLACEHOLDER, *self.words[start + 1 : end]), (Kind.NUMBER,)), end
        if word == "how" and following in _MEASURES:
            unit = {"old": ("years", "old"), "long": (), "far": (), "often": (), "fast": ()}.get(
                following, (following,)
            )
            return _Gap(word, (PLACEHOLDER, *unit), (Kind.NUMBER,)), start + 1
        if word in ("how", "why"):
            raise ExampleError(CANNOT)
        if word == "which" and following == "of":
            end = self.end(_SUBJECT, start + 1)
            return _Gap(word, (PLACEHOLDER, *self.words[start:end]), (Kind.NAME, Kind.NOUN)), end
        end = self.end(_WITH_NOUN, start)
        if word == "whose":
            return _Gap(word, (PLACEHOLDER, "'s", *self.words[start:end]), (Kind.PERSON,)), end
        if end == start:
            return _Gap(word, (PLACEHOLDER,), self.thing(start)), start
        return _Gap(word, (PLACEHOLDER,), _kinds_of(_head(self.words[start:end]))), end

    def thing(self, start: int) -> tuple[Kind, ...]:
        """What `what` asks for: What was the name of the farmer's wife?"""
        noun = _head(self.words[start + 1 : self.end(_SUBJECT, start + 1)])
        asks = noun in _SPECIAL and self.words[start] in _BE
        return _kinds_of(noun) if asks else (Kind.NOUN, Kind.NAME)

    def clause(self, gap: _Gap, start: int) -> Words:
        """The rest of the question as a statement, with the gap at its place."""
        auxiliary, subject = self.words[start].lower(), start + 1
        rest = self.words[start:]
        if auxiliary not in _AUXILIARIES or subject == len(self.words):
            return (*gap.filler, *rest)
        end = self.end(_SUBJECT, subject)
        if end == subject:
            return (*gap.filler, *rest)
        definite = (
            self.tags[subject] in ("PRP", "PRP$", "NNP", "NNPS", "EX") or self.words[subject].lower() in _DEFINITE
        )
        if auxiliary in _DO or (auxiliary in _MODALS and definite):
            return self.with_do(gap, start, end)
        noun, tail = self.words[subject:end], self.words[end:]
        verb = end
        while verb < len(self.tags) and self.tags[verb] == "RB":
            verb += 1
        tag = self.tags[verb] if verb < len(self.tags) else ""
        forms = ("VBN", "VBG") if auxiliary in _BE else ("VBN", "VBD") if auxiliary in _HAVE else ("VB", "VBP")
        if tag in forms and (definite or gap.word != "who"):
            return (*noun, auxiliary, *self.words[end : verb + 1], *self.filled(gap, verb, verb + 1))
        if auxiliary not in _BE:
            return (*gap.filler, *rest)
        if tail and tail[-1] in _PREPOSITIONS and (definite or gap.word != "who"):
            return (*noun, auxiliary, *tail, *gap.filler)
        if gap.adverbial:
            return (*noun, auxiliary, *tail, *_preposition(gap, "be", tail), *gap.filler)
        if gap.word in ("who", "what") and (definite or gap.word == "what"):
            return (*noun, *tail, auxiliary, *gap.filler)
        if gap.word == "how" and definite:
            return (*noun, auxiliary, *gap.filler, *tail)
        return (*gap.filler, *rest)

    def with_do(self, gap: _Gap, start: int, end: int) -> Words:
        """The statement of a question with do: its verb takes the form of do."""
        verbs = [place for place in range(end, len(self.tags)) if self.tags[place] in ("VB", "VBP")]
        if end < len(self.tags) and self.tags[end] in ("RB", "VB", "VBP") and verbs:
            verb = verbs[0]
        elif self.words[end : end + 1] in (("who",), ("that",), ("which",), ("whose",)):  # the man who sold the horse
            verb = verbs[-1] if verbs else len(self.words) - 1
            end = verb
        else:
            verb = end - 1 if end - start > 2 else min(end, len(self.words) - 1)
        subject, between = self.words[start + 1 : min(verb, end)], self.words[min(verb, end) : verb]
        base = self.words[verb].lower()
        if gap.word == "what" and base == "do":
            raise ExampleError(CANNOT)
        if self.words[start] in _MODALS or not _NEGATIONS.isdisjoint(between):
            form: Words = (self.words[start], *between, base)
        else:
            form = (*between, _inflected(base, self.words[start].lower()))
        return (*subject, *form, *self.filled(gap, verb, verb + 1))

    def filled(self, gap: _Gap, verb: int, start: int) -> Words:
        """The words from `start` on with the gap, after this verb."""
        tail, tags = self.words[start:], self.tags[start:]
        if gap.adverbial:
            return (*tail, *_preposition(gap, self.words[verb].lower(), tail), *gap.filler)
        if tail and (tail[-1] in _PREPOSITIONS or tags == ("RP",)):
            return (*tail, *gap.filler)
        after = 0
        if tags[:1] == ("RP",):
            after = 1
        while tags[after : after + 2] in (("TO", "VB"), ("TO", "NN")):
            if gap.word == "who" and after + 2 < len(tail):
                break
            after += 2
        return (*tail[:after], *gap.filler, *tail[after:])

    def letters(self) -> str:
        """The question with a letter for each word."""
        return "".join(
            "f" if word in _JOINING else _LETTERS.get(tag, "x") for word, tag in zip(self.words, self.tags, strict=True)
        )

    def end(self, pattern: re.Pattern[str], start: int) -> int:
        """The end of the phrase at this place; the place itself where there is none."""
        match = pattern.match(self.letters(), start)
        return match.end() if match else start


def _head(phrase: Words) -> str:
    """The noun of a phrase in lower case: name of the name of the farmer's wife."""
    ends = [place for place, word in enumerate(phrase) if word in _JOINING and place]
    return "".join(phrase[: min(ends, default=len(phrase))][-1:]).lower()


def _tags(words: Words) -> Words:
    """Tags of a question; after be and have, a participle is told by its form, since the tagger knows few questions."""
    tags = tagger().tag([words])[0]
    auxiliary = next((place for place, word in enumerate(words) if word in _BE or word in _HAVE), len(words))
    for place in range(auxiliary + 2, len(words)):
        participle = words[place].endswith(_PARTICIPLES) or words[place] in PASTS
        if participle and tags[place][:2] in ("NN", "JJ", "VB") and tags[place - 1][:2] in ("NN", "PR"):
            tags[place] = "VBN"
    return tuple(tags)


def _kinds_of(noun: str) -> tuple[Kind, ...]:
    """What a noun after which or what asks for."""
    if noun in _ADJECTIVES:
        return (Kind.ADJECTIVE,)
    if noun in _NUMBERS:
        return (Kind.NUMBER,)
    if noun in _NAMES:
        return (Kind.NAME,)
    if is_time(noun):
        return (Kind.DATE,)
    return (Kind.PERSON,) if is_person(noun) else (Kind.NAME, Kind.NOUN)


def _preposition(gap: _Gap, verb: str, tail: Words) -> Words:
    if gap.preposition or (tail and tail[-1] in _PREPOSITIONS):
        return gap.preposition
    return ("to",) if gap.word == "where" and verb in _MOTION else ("in",)


def _inflected(verb: str, do: str) -> str:
    """The verb in the form of do, does or did."""
    if do == "do":
        return verb
    if do == "does":
        if verb in ("have", "be"):
            return {"have": "has", "be": "is"}[verb]
        if verb.endswith("y") and verb[-2:-1] not in "aeiou":
            return verb[:-1] + "ies"
        return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
    if verb in PAST:
        return PAST[verb]
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + (verb[-1] if _DOUBLED.fullmatch(verb) else "") + "ed"
