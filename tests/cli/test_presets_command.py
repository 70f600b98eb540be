"""`gareader presets`: the settings files that come with gareader, and a copy of them."""

import json
from filecmp import dircmp

import pytest

from gareader.core.presets import RUNS, STUDIES, SWEEPS, by_name
from places import PROJECT

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")


def test_all_are_listed_with_their_commands(gareader):
    code, out, err = gareader("presets", "--json")
    assert (code, err) == (0, "")
    records = [json.loads(line) for line in out.splitlines()]
    assert len(records) == sum(len(by_name(kind)) for kind in (RUNS, STUDIES, SWEEPS))
    about = {record["command"]: record["about"] for record in records}
    assert about["gareader train cbt-ne"] == (
        "Children's Book Test, named entities (Hill et al. 2016), the paper's best variant"
    )
    assert about["gareader study table1-who-did-what"] == "The paper's first table: Who Did What"
    assert "gareader tune cbt-ne --space cbt-ne" in about
    assert all(text and len(text) < 300 for text in about.values())
    assert "gareader train cbt-ne" in gareader("presets")[1]


def test_a_copy_has_all_files_and_replaces_nothing(gareader, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = gareader("presets", "--out", "configs")
    assert (code, out) == (0, "configs: settings files and the tiny corpus; try: gareader train configs/tiny.toml\n")
    for folder in ("", "studies", "sweeps", "tiny"):
        compared = dircmp(PROJECT / "configs" / folder, tmp_path / "configs" / folder)
        assert compared.same_files
        assert [*compared.left_only, *compared.right_only, *compared.diff_files] == []
    code, _, err = gareader("presets", "--out", "configs")
    assert (code, "configs: this is there already, and nothing in it was changed" in err) == (1, True)


def test_a_preset_whose_corpus_is_not_there_says_what_to_do(gareader, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = gareader("train", "cbt-ne")
    assert code == 1
    missing = "data/cbt/cbtest_NE_train.txt: there is no such file or folder"
    assert err == f"gareader: {missing}; put it there, or name yours with --set data.train=PATH\n"
    assert not list(tmp_path.iterdir())
