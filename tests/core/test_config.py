"""TOML to settings, and complaints that name the key."""

from dataclasses import dataclass
from math import inf, nan
from typing import Annotated, Any, Literal

import pytest

from gareader.core.config import (
    Bounds,
    Count,
    Settings,
    changed,
    choices,
    declared,
    flat,
    from_table,
    in_words,
    load_table,
    override,
    with_setting,
)
from gareader.core.errors import ConfigError


@dataclass(frozen=True)
class Small(Settings):
    size: Count
    share: Annotated[float, Bounds(above=0, most=1)] = 0.5
    name: str | None = None
    loud: bool = False
    way: Literal["up", "down"] = "up"
    limit: Annotated[float, Bounds(least=0, below=10)] | None = None
    side: Annotated[int, Bounds(odd=True, reason="as sides are")] = 1

    def __post_init__(self):
        super().__post_init__()
        if self.loud and self.name:
            raise ConfigError(f"loud = {self.loud} drowns the name")


def test_values_and_defaults():
    assert from_table(Small, {"size": 3, "share": 1, "name": "x"}, "small") == Small(3, 1.0, "x", False)
    assert from_table(Small, {"size": 1, "limit": 0}, "small").limit == 0.0
    assert from_table(Small, {"size": 1, "way": "down"}, "small").way == "down"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"size": 3, "shares": 1},
            "small.shares is no setting; did you mean 'share'? known: limit, loud, name, share, side, size, way",
        ),
        ({}, "small.size is missing; add it to [small]"),
        ({"size": "three"}, "small.size = 'three' is not a whole number; use 1 or more"),
        ({"size": True}, "small.size = True is not a whole number; use 1 or more"),
        ({"size": 1.5}, "small.size = 1.5 is not a whole number; use 1 or more"),
        ({"size": 1, "share": "half"}, "small.share = 'half' is not a number; use more than 0 and at most 1"),
        ({"size": 1, "loud": 1}, "small.loud = 1 is not true or false"),
        ({"size": 1, "name": 1}, "small.name = 1 is not text"),
        ({"size": 0}, "small.size = 0 is too small; use 1 or more"),
        ({"size": 1, "share": 0}, "small.share = 0.0 is too small; use more than 0 and at most 1"),
        ({"size": 1, "share": 1.1}, "small.share = 1.1 is too large; use more than 0 and at most 1"),
        ({"size": 1, "share": nan}, "small.share = nan is no number; use more than 0 and at most 1"),
        ({"size": 1, "share": inf}, "small.share = inf is not finite; use more than 0 and at most 1"),
        ({"size": 1, "limit": 10}, "small.limit = 10.0 is too large; use 0 or more and less than 10"),
        ({"size": 1, "side": 2}, "small.side = 2 is even; use odd, as sides are"),
        ({"size": 1, "way": "dwn"}, "small.way = 'dwn' is not known; did you mean 'down'? known: down, up"),
        ({"size": 1, "way": 1}, "small.way = 1 is not known; known: down, up"),
        ({"size": 1, "loud": True, "name": "x"}, "small.loud = True drowns the name"),
    ],
)
def test_complaints(table, message):
    with pytest.raises(ConfigError) as error:
        from_table(Small, table, "small")
    assert str(error.value) == message


def test_what_is_not_read_from_a_table_is_checked_too():
    with pytest.raises(ConfigError, match=r"^size = 0 is too small; use 1 or more$"):
        Small(0)
    assert Small(1, share=1).share == 1


@pytest.mark.parametrize(
    ("name", "words", "all_of_them"),
    [
        ("size", "a whole number, 1 or more", ()),
        ("share", "a number, more than 0 and at most 1", ()),
        ("name", "text", ()),
        ("loud", "true or false", (False, True)),
        ("way", '`"up"`, `"down"`', ("up", "down")),
        ("limit", "a number, 0 or more and less than 10", ()),
    ],
)
def test_what_a_setting_may_be(name, words, all_of_them):
    expected = declared(Small)[name]
    assert in_words(expected) == words
    assert choices(expected) == all_of_them


def test_override():
    table: dict[str, Any] = {"train": {"seed": 1, "rate": 0.1}, "data": {"train": "a"}}
    assert override(table, "train.seed=3") == {"train": {"seed": 3, "rate": 0.1}, "data": {"train": "a"}}
    assert override(table, "data.train=b c.txt")["data"]["train"] == "b c.txt"
    assert override(table, "data.train='4'")["data"]["train"] == "4"
    assert override({}, "new.loud=true") == {"new": {"loud": True}}
    assert override(table, "train.seed=") == {"train": {"rate": 0.1}, "data": {"train": "a"}}
    assert table["train"]["seed"] == 1


def test_a_setting_by_its_name():
    table = {"train": {"seed": 1}, "data": 5}
    assert with_setting(table, "train.rate", 0.1) == {"train": {"seed": 1, "rate": 0.1}, "data": 5}
    assert with_setting(table, "train.seed", None) == {"train": {}, "data": 5}
    with pytest.raises(ConfigError, match=r'seed is no setting; write section\.key, for example "train.max_epochs"'):
        with_setting(table, "seed", 3)
    with pytest.raises(ConfigError, match=r"data = 5 is no section; write its settings under \[data\]"):
        with_setting(table, "data.train", "x")


def test_what_changed():
    before, now = {"a": {"x": 1, "y": 2}, "b": {"z": 3}}, {"a": {"x": 1, "y": 3}, "c": {"z": 3}}
    assert changed(flat(before), flat(now)) == ["a.y", "b.z", "c.z"]
    assert changed(flat(before), flat(before)) == []


@pytest.mark.parametrize("assignment", ["seed=3", "train.seed", ".seed=3", "train.=3"])
def test_override_that_is_none(assignment):
    with pytest.raises(ConfigError, match=r"write it as section\.key=value"):
        override({}, assignment)


def test_files(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text("[train]\nseed = 3\n")
    assert load_table(file) == {"train": {"seed": 3}}
    file.write_text("[train\n")
    with pytest.raises(ConfigError, match=r"run\.toml: this is not TOML"):
        load_table(file)
    with pytest.raises(ConfigError, match=r"none\.toml: there is no such file"):
        load_table(tmp_path / "none.toml")


@dataclass(frozen=True)
class Recipe(Settings):
    name: str
    pans: Count = 2
    oven: bool = False


def test_the_repr_of_settings_has_what_is_not_the_default():
    assert repr(Recipe("soup")) == "Recipe(name='soup')"
    changed = Recipe("bread", oven=True)
    assert repr(changed) == "Recipe(name='bread', oven=True)"
    assert eval(repr(changed)) == changed  # noqa: S307
