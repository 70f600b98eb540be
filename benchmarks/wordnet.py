"""WordNet's files: base forms of words, synonyms and hypernyms; and the inflection of English words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gareader.core.errors import GareaderError
from gareader.data.language.blanks import PAST

_FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
"""The ending of the files' names by part of speech."""
_ENDINGS = {
    "n": [("ies", "y"), ("ses", "s"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", "")],
    "v": [
        *[("ies", "y"), ("ied", "y"), ("es", "e"), ("es", "")],
        *[("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""), ("s", "")],
    ],
}
"""The endings of regular forms, each with that of the base form."""
_SENSES = 2
"""The number of a word's senses that count, the most frequent first."""
_SIBILANTS = ("s", "x", "z", "ch", "sh")
_PARTICIPLES = ("en", "wn", "ne", "rn")
"""Endings of irregular participles: taken, known, done, torn."""
_DOUBLES = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
"""Short verbs whose last letter is doubled: stop, stopped."""


class NoSenseError(GareaderError):
    """A word whose base form, by the list of exceptions, has no sense as this part of speech."""


@dataclass(frozen=True)
class _Synset:
    lemmas: list[str]
    hypernyms: list[str]
    """The offsets of the synsets above it."""


@dataclass(frozen=True)
class _Part:
    """The words of one part of speech."""

    base: dict[str, str] = field(default_factory=dict)
    """The base forms of irregular forms."""
    forms: dict[str, list[str]] = field(default_factory=dict)
    """The irregular forms of base forms."""
    senses: dict[str, list[str]] = field(default_factory=dict)
    """The offsets of each lemma's synsets, the most frequent sense first."""
    synsets: dict[str, _Synset] = field(default_factory=dict)
    """By offset."""


class WordNet:
    """The words of WordNet 3; a part of speech is n, v, a or r."""

    def __init__(self, folder: Path) -> None:
        names = [name for part in _FILES.values() for name in (f"{part}.exc", f"index.{part}", f"data.{part}")]
        if absent := next((name for name in names if not (folder / name).is_file()), None):
            way_out = "install WordNet (Debian: apt install wordnet-base), or give its folder with --wordnet FOLDER"
            raise GareaderError(f"{folder / absent} is missing; {way_out}")
        self._parts = {part: _read(folder, name) for part, name in _FILES.items()}

    def lemma(self, word: str, part: str) -> str | None:
        """The base form of a word in lower case; None if WordNet does not have it."""
        words = self._parts[part]
        if word in words.base:
            return words.base[word]
        if word in words.senses:
            return word
        for ending, of_base in _ENDINGS.get(part, []):
            if not word.endswith(ending):
                continue
            stem = word.removesuffix(ending)
            if stem + of_base in words.senses:
                return stem + of_base
            if ending in ("ed", "ing") and len(stem) > 2 and stem[-1] == stem[-2] and stem[:-1] in words.senses:
                return stem[:-1]
        return None

    def near(self, lemma: str, part: str, *, hypernyms: bool) -> list[str]:
        """Other base forms for the most frequent senses of a base form: synonyms, and hypernyms if asked for."""
        words = self._parts[part]
        if lemma not in words.senses:
            raise NoSenseError(f"WordNet has no sense of {lemma!r} as {_FILES[part]}; ask for another word")
        others: list[str] = []
        for offset in words.senses[lemma][:_SENSES]:
            synset = words.synsets[offset]
            others += synset.lemmas
            if hypernyms:
                others += (name for above in synset.hypernyms for name in words.synsets[above].lemmas)
        return [other for other in dict.fromkeys(others) if other != lemma and other.islower() and other.isalpha()]

    def inflected(self, lemma: str, tag: str) -> str:
        """The form of a base form that has the tag of the Penn Treebank."""
        match tag:
            case "NNS":
                return self._parts["n"].forms.get(lemma, [_with_s(lemma, _SIBILANTS)])[0]
            case "VBZ":
                return {"have": "has", "be": "is"}.get(lemma) or _with_s(lemma, (*_SIBILANTS, "o"))
            case "VBD":
                return _past(lemma)
            case "VBN":
                irregular = (form for form in self._parts["v"].forms.get(lemma, []) if form.endswith(_PARTICIPLES))
                return next(irregular, _past(lemma))
            case "VBG":
                mute = lemma.endswith("e") and not lemma.endswith(("ee", "oe", "ye"))
                return f"{lemma[:-1] if mute else _doubled(lemma)}ing"
        return lemma


def _read(folder: Path, name: str) -> _Part:
    part = _Part()
    for form, base, *_ in _fields(folder / f"{name}.exc"):
        part.base[form] = base
        part.forms.setdefault(base, []).append(form)
    for lemma, _, senses, *rest in _fields(folder / f"index.{name}"):
        part.senses[lemma] = rest[-int(senses) :]
    for offset, _, _, lemmas, *rest in _fields(folder / f"data.{name}"):
        end = 2 * int(lemmas, 16)  # a number follows each lemma
        names = [lemma.split("(")[0] for lemma in rest[:end:2]]
        pointers = rest[end + 1 : end + 1 + 4 * int(rest[end])]  # each of four fields: symbol, offset, part, words
        above = [to for symbol, to in zip(pointers[::4], pointers[1::4], strict=True) if symbol == "@"]
        part.synsets[offset] = _Synset(names, above)
    return part


def _fields(path: Path) -> Iterator[list[str]]:
    """The fields of each line but those of the licence, which begin with a space; definitions follow a bar."""
    with path.open(encoding="utf-8") as file:
        yield from (line.split("|")[0].split() for line in file if not line.startswith(" "))


def _with_s(word: str, hissing: tuple[str, ...]) -> str:
    if _ends_in_y(word):
        return f"{word[:-1]}ies"
    return f"{word}{'es' if word.endswith(hissing) else 's'}"


def _past(verb: str) -> str:
    if verb in PAST:
        return PAST[verb]
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if _ends_in_y(verb) else f"{_doubled(verb)}ed"


def _ends_in_y(word: str) -> bool:
    """Whether the word ends in a consonant and y."""
    return word.endswith("y") and word[-2:-1] not in "aeiou"


def _doubled(verb: str) -> str:
    return verb + verb[-1] if _DOUBLES.fullmatch(verb) else verb
