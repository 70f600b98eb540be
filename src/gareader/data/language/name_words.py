"""Lists of words for finding names in English news; name_words.toml has them, and says what each is for."""

import tomllib
from pathlib import Path

from gareader.data.examples import Words

_LISTS = tomllib.loads(Path(__file__).with_name("name_words.toml").read_text(encoding="utf-8"))


def _words(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name].split())


def _pairs(name: str) -> dict[Words, Words]:
    pairs = (pair.split(":") for pair in _LISTS[name].split())
    return {tuple(one.split("_")): tuple(other.split("_")) for one, other in pairs}


TITLES = _words("titles")
BEFORE_TITLES = _words("before_titles")
OFFICES = _words("offices")
PARTICLES = _words("particles")
HEADS = _words("heads")
POSSESSED = _words("possessed")
PARTIES = _words("parties")
NOT_PERSONS = _words("not_persons") | HEADS
COMPASS = _words("compass")
CALENDAR = _words("calendar")
NO_NAMES = _words("no_names")
SUFFIXES = _words("suffixes")
ALIASES = _pairs("aliases")
"""The usual name by another name of the same entity."""
_LANDS = {people: land for (people,), land in _pairs("peoples").items()}
PEOPLES = {f"{people}s": land for people, land in _LANDS.items() if people[-1] in "nik"} | _LANDS
PLACES = _words("places").union(*PEOPLES.values())
STARTERS = _words("starters")
GIVEN = _words("given")
