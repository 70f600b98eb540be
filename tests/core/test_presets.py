"""Presets: every settings file of the project by its name, from any folder."""

from pathlib import Path

import pytest

from gareader.core.config import load_table
from gareader.core.errors import ConfigError
from gareader.core.presets import RUNS, STUDIES, SWEEPS, by_name, located, settings_file
from gareader.data.store import PreparedCorpus, prepared_once
from places import PROJECT

CONFIGS = PROJECT / "configs"


@pytest.mark.parametrize("kind", [RUNS, STUDIES, SWEEPS])
def test_every_file_has_a_name(kind):
    files = sorted((CONFIGS / kind).glob("*.toml"))
    assert [path.resolve() for path in by_name(kind).values()] == files
    for path in files:
        for name in (path.stem, path.stem.replace("_", "-")):
            assert settings_file(name, kind).resolve() == path


def test_a_path_is_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny").mkdir()  # a folder is no settings file
    assert settings_file("tiny").resolve() == CONFIGS / "tiny.toml"
    (tmp_path / "tiny").rmdir()
    (tmp_path / "tiny").touch()
    assert settings_file("tiny") == Path("tiny")
    assert settings_file("./tiny.toml") == Path("tiny.toml")
    assert settings_file("mine/tiny") == Path("mine/tiny")


@pytest.mark.parametrize(
    ("name", "kind", "guess"), [("cbt-nee", RUNS, "cbt-ne"), ("table3", STUDIES, "known"), ("tini", SWEEPS, "tiny")]
)
def test_an_unknown_name_is_told_with_the_nearest(name, kind, guess):
    with pytest.raises(ConfigError, match=f"{name}: there is no such file, and no preset has that name; .*{guess}"):
        settings_file(name, kind)


def test_their_own_files_are_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = load_table(settings_file("tiny"))["data"]
    assert data["train"] == "configs/tiny/train.txt"  # as a run records it, wherever gareader is installed
    assert located(data["train"]).samefile(CONFIGS / "tiny" / "train.txt")
    study = load_table("configs/studies/tiny.toml")
    assert load_table(study["rows"]["one hop"]["config"]) == load_table(CONFIGS / "tiny.toml")
    for path in ("configs/no_such.toml", "data/cbt/cbtest_NE_train.txt", "tiny.toml"):
        assert located(path) == Path(path)
    prepared = prepared_once(data["validation"], tmp_path / "validation.arrow", lambda examples, label: examples)
    assert len(PreparedCorpus.open(prepared)) == 200


def test_files_of_the_current_folder_come_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs" / "tiny").mkdir(parents=True)
    (tmp_path / "configs" / "tiny" / "train.txt").touch()
    assert located("configs/tiny/train.txt") == Path("configs/tiny/train.txt")
    assert located("configs/tiny/validation.txt").samefile(CONFIGS / "tiny" / "validation.txt")
