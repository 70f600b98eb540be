"""Lists of words for finding names in English news; name_words.toml has them, and says what each is for."""

from gareader.data.examples import Words
from gareader.data.language.lists import word_lists

_LISTS = word_lists(__file__, "name_words.toml")


def _pairs(name: str) -> dict[Words, Words]:
    pairs = (pair.split(":") for pair in _LISTS[name])
    return {tuple(one.split("_")): tuple(other.split("_")) for one, other in pairs}


TITLES = _LISTS["titles"]
BEFORE_TITLES = _LISTS["before_titles"]
OFFICES = _LISTS["offices"]
PARTICLES = _LISTS["particles"]
HEADS = _LISTS["heads"]
POSSESSED = _LISTS["possessed"]
PARTIES = _LISTS["parties"]
NOT_PERSONS = _LISTS["not_persons"] | HEADS
COMPASS = _LISTS["compass"]
CALENDAR = _LISTS["calendar"]
NO_NAMES = _LISTS["no_names"]
SUFFIXES = _LISTS["suffixes"]
ALIASES = _pairs("aliases")
"""The usual name by another name of the same entity."""
_LANDS = {people: land for (people,), land in _pairs("peoples").items()}
PEOPLES = {f"{people}s": land for people, land in _LANDS.items() if people[-1] in "nik"} | _LANDS
PLACES = _LISTS["places"].union(*PEOPLES.values())
STARTERS = _LISTS["starters"]
GIVEN = _LISTS["given"]
