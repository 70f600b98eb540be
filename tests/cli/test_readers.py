"""`gareader readers`: the architectures, built in and from outside, with their papers and settings."""

import json
from dataclasses import fields

import pytest

from gareader.core.config import load_table
from gareader.core.presets import settings_file
from gareader.readers.registry import READERS
from places import PROJECT

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")

EXAMPLE = PROJECT / "examples" / "bag_of_words_reader"


@pytest.fixture
def listed(gareader):
    code, out, err = gareader("readers", "--json")
    assert (code, err) == (0, "")
    return {record["name"]: record for record in map(json.loads, out.splitlines())}


def test_all_built_in_readers_are_listed_with_their_papers(listed, gareader):
    assert listed.keys() >= READERS.keys()
    for name in READERS:
        assert listed[name]["about"]
        assert f"{listed[name]['year']}" in listed[name]["reference"]
        for preset in listed[name]["presets"]:
            assert load_table(settings_file(preset))["reader"].get("name", "gated-attention") == name
    reader = listed["gated-attention"]
    assert (reader["about"], reader["reference"]) == ("The Gated-Attention Reader.", "Dhingra et al., ACL 2017")
    assert listed["nse"]["reference"] == "Munkhdalai and Yu, ICLR 2017"
    assert listed["aoa"]["presets"] == ["aoa"]
    printed = gareader("readers")[1]
    assert all(name in printed for name in READERS)


@pytest.mark.parametrize("name", READERS)
def test_a_name_shows_the_paper_and_all_settings(gareader, name):
    code, out, err = gareader("readers", name, "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    config = READERS[name].config
    assert [(each["name"], each["default"]) for each in record["settings"]] == [
        (field.name, "not set" if field.default is None else field.default) for field in fields(config)
    ]
    assert all(each["about"] and each["values"] for each in record["settings"])
    printed = gareader("readers", name)[1]
    assert record["paper"] in printed
    assert all(f"reader.{field.name}" in printed for field in fields(config))


def test_readers_of_a_module(gareader, monkeypatch):
    from gareader.readers import registry

    monkeypatch.setattr(registry, "_outside", {})
    monkeypatch.syspath_prepend(str(EXAMPLE))
    records = [
        json.loads(line) for line in gareader("readers", "--import", "bag_of_words_reader", "--json")[1].splitlines()
    ]
    (record,) = (each for each in records if each["name"] == "bag-of-words")
    assert record["about"]
    out = gareader("readers", "bag-of-words", "--import", "bag_of_words_reader")[1]
    assert "reader.reach" in out
