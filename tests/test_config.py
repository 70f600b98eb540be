"""TOML to settings, and complaints that name the key."""

from dataclasses import dataclass

import pytest

from gareader.config import from_table, load_table, override
from gareader.errors import ConfigError


@dataclass(frozen=True)
class Small:
    size: int
    share: float = 0.5
    name: str | None = None
    loud: bool = False

    def __post_init__(self):
        if self.size < 1:
            raise ConfigError(f"size = {self.size} is too small")


def test_values_and_defaults():
    assert from_table(Small, {"size": 3, "share": 1, "name": "x"}, "small") == Small(3, 1.0, "x", False)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"size": 3, "shares": 1}, "small.shares is no setting; did you mean 'share'? known: loud, name, share, size"),
        ({}, "small.size is missing; add it to [small]"),
        ({"size": "three"}, "small.size = 'three' is not a whole number"),
        ({"size": True}, "small.size = True is not a whole number"),
        ({"size": 1.5}, "small.size = 1.5 is not a whole number"),
        ({"size": 1, "share": "half"}, "small.share = 'half' is not a number"),
        ({"size": 1, "loud": 1}, "small.loud = 1 is not true or false"),
        ({"size": 1, "name": 1}, "small.name = 1 is not text"),
        ({"size": 0}, "small.size = 0 is too small"),
    ],
)
def test_complaints(table, message):
    with pytest.raises(ConfigError) as error:
        from_table(Small, table, "small")
    assert str(error.value) == message


def test_override():
    table = {"train": {"seed": 1, "rate": 0.1}, "data": {"train": "a"}}
    assert override(table, "train.seed=3") == {"train": {"seed": 3, "rate": 0.1}, "data": {"train": "a"}}
    assert override(table, "data.train=b c.txt")["data"]["train"] == "b c.txt"
    assert override(table, "data.train='4'")["data"]["train"] == "4"
    assert override({}, "new.loud=true") == {"new": {"loud": True}}
    assert override(table, "train.seed=") == {"train": {"rate": 0.1}, "data": {"train": "a"}}
    assert table["train"]["seed"] == 1


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
