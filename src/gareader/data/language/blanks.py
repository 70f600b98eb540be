"""The blank of a query, the kinds of candidates, and which of them its surroundings ask for."""

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from gareader.data.examples import FUNCTION_WORDS, PLACEHOLDER, Words
from gareader.data.language.lists import word_lists
from gareader.data.language.perceptron import tagger

LISTS = word_lists(__file__, "candidate_words.toml")
SPEAKING, _PERSONS, _PERSON_ENDINGS = LISTS["speaking"], LISTS["persons"], tuple(LISTS["person_endings"])
NO_CANDIDATES = LISTS["no_candidates"]
PAST: dict[str, str] = dict(pair.split(":") for pair in LISTS["past"])
"""The past form of each irregular verb."""
PASTS = frozenset(PAST.values())
_PLURALS = [pair.split(":") for pair in LISTS["plurals"]]

_UNSEEN = "qqq"
"""In place of the blank: the tagger has no weights for this word, so that its tag depends on the context alone."""
ADJECTIVES = frozenset(["JJ", "JJR", "JJS"])
LETTERS = {
    **dict.fromkeys(["DT", "PDT", "PRP$"], "D"),
    **dict.fromkeys(["JJ", "JJR", "CD"], "A"),
    **dict.fromkeys(["VBN", "VBG"], "P"),
    **dict.fromkeys(["NN", "NNS", "NNP", "NNPS"], "N"),
    **dict.fromkeys(["WP", "WP$"], "W"),
    "JJS": "S",
    "POS": "O",
    **dict.fromkeys(["VBD", "VBZ", "VBP", "MD"], "V"),
    **dict.fromkeys(["IN", "TO"], "I"),
    **dict.fromkeys(["PRP", "EX"], "H"),
    "VB": "B",
    "RB": "R",
    ",": ",",
}
"""A letter for each tag, so that phrases of a sentence are matches in a text; x is any other tag, E a name."""
_BEFORE_VERB = re.compile("[HVNWI]R*$")
"""Before a verb: a subject, an auxiliary, or to."""


class Kind(Enum):
    PERSON = "names that may be of persons, and nouns for persons and other beings"
    NAME = "names"
    PLACE = "names that are not of persons, and nouns after a preposition of place"
    NOUN = "nouns, and names after the"
    BARE = "nouns without determiner"
    DATE = "dates, and nouns of time"
    NUMBER = "numbers"
    VERB = "verbs in the form that fits"
    ADJECTIVE = "adjectives"


@lru_cache(maxsize=20_000)
def is_person(noun: str) -> bool:
    """Whether the noun means persons or other beings that act."""
    last = noun.lower().rpartition("-")[2]
    singular = [last, *(last.removesuffix(end) + one for end, one in _PLURALS if last.endswith(end))]
    return any(word in _PERSONS or word.endswith(_PERSON_ENDINGS) for word in singular)


def is_time(noun: str) -> bool:
    """Whether the noun means a time."""
    return noun.lower() in LISTS["times"]


@dataclass(frozen=True, slots=True)
class Blank:
    """The blank of a query with its surroundings."""

    before: str = ""
    """The word before it, in lower case."""
    after: str = ""
    tag: str = "NN"
    """The tag that any word would have here, by its context alone."""
    left: str = ""
    """The letters of the words before it, by `LETTERS`."""
    right: str = ""
    in_name: bool = False
    """Whether the word before it is capitalised, as in Johnny ___."""
    plural: bool = False
    """Whether a plural noun comes next, perhaps after adjectives."""

    @classmethod
    def of(cls, query: Words) -> "Blank":
        """Return the blank of a query; without one, a blank without surroundings."""
        if PLACEHOLDER not in query:
            return cls()
        place = query.index(PLACEHOLDER)
        tags = tagger().tag([[*query[:place], _UNSEEN, *query[place + 1 :]]])[0]
        letters = "".join(LETTERS.get(tag, "x") for tag in tags)
        before = query[place - 1] if place else ""
        after = "".join(query[place + 1 : place + 2])
        named = before[:1].isupper() and tags[place - 1].startswith("NNP")
        noun = next((tag for tag in tags[place + 1 :] if tag not in ADJECTIVES), "")
        plural = noun in ("NNS", "NNPS")
        return cls(before.lower(), after.lower(), tags[place], letters[:place], letters[place + 1 :], named, plural)

    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of candidates that fit here, by the first rule that holds."""
        determined = self.left.rstrip("ASPR").endswith(("D", "O")) or self.before in LISTS["possessives"]
        counts = self.after in LISTS["units"] or (self.before in LISTS["before_numbers"] and self.right[:1] == "N")
        if self.before in ("$", "#") or self.tag == "CD" or (counts and not determined):
            return (Kind.NUMBER,)
        if determined:
            return (Kind.ADJECTIVE, Kind.NOUN) if self.tag in ADJECTIVES else (Kind.NOUN,)
        if self.before in SPEAKING or self.after in SPEAKING or self.right.startswith(("W", ",W")):
            return (Kind.PERSON,)
        numbers = self.plural or self.right in ("x", "Ix") or self.before in LISTS["before_numbers"]
        return (*self.kinds_by_grammar(), Kind.NUMBER) if numbers else self.kinds_by_grammar()

    def kinds_by_grammar(self) -> tuple[Kind, ...]:
        """The kinds of candidates that fit a blank without determiner, numbers aside."""
        if self.tag.startswith("VB") and _BEFORE_VERB.search(self.left) and not self.right.startswith(("V", "O")):
            doubtful = self.before == "to" or self.in_name or self.left.endswith(("V", "I"))
            return (Kind.NAME, Kind.VERB) if doubtful else (Kind.VERB,)
        if self.left.endswith(("V", "VR")) and self.tag in ADJECTIVES and self.right[1:2] == "A":  # was ___ and sad
            return (Kind.ADJECTIVE,)
        if self.before in LISTS["becoming"] or (self.left.endswith(("V", "VR")) and self.tag in ADJECTIVES):
            return (Kind.NAME, Kind.ADJECTIVE, Kind.NOUN)
        if self.before in LISTS["being"]:
            return (Kind.NAME, Kind.ADJECTIVE)
        if self.left.endswith(("A", "S")):
            return (Kind.NAME, Kind.NOUN)
        if self.right.startswith("V") or not self.left.endswith("I"):  # the subject of a clause, or an object
            return (Kind.NAME,)
        dates = (Kind.DATE,) if self.before in LISTS["before_dates"] else ()
        return (Kind.NAME, *dates, Kind.BARE) if self.before in LISTS["before_nouns"] else (Kind.NAME, *dates)

    def fitted(self, words: Words) -> Words:
        """The candidate without its first or last word if that stands beside the blank; () if more of it does."""
        rest = words[words[0].lower() == self.before :]
        rest = rest[: len(rest) - (rest[-1:] != () and rest[-1].lower() == self.after)]
        beside = {self.before, self.after} - FUNCTION_WORDS
        return rest if beside.isdisjoint(word.lower() for word in rest) else ()
