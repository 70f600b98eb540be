"""Lists of words for finding names in English news; name_words.toml has them, and says what each is for."""

import tomllib
from pathlib import Path

_LISTS = tomllib.loads(Path(__file__).with_name("name_words.toml").read_text(encoding="utf-8"))


def _words(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name].split())


TITLES = _words("titles")
BEFORE_TITLES = _words("before_titles")
OFFICES = _words("offices")
PARTICLES = _words("particles")
HEADS = _words("heads")
NOT_PERSONS = _words("not_persons") | HEADS
COMPASS = _words("compass")
CALENDAR = _words("calendar")
NO_NAMES = _words("no_names")
SUFFIXES = _words("suffixes")
PEOPLES = {people: tuple(land.split("_")) for people, land in (pair.split(":") for pair in _LISTS["peoples"].split())}
PLACES = _words("places").union(*PEOPLES.values())
STARTERS = _words("starters")
GIVEN = _words("given")
