"""Readers from outside gareader: of modules that the user names, and of installed packages."""

import json
import sys
from pathlib import Path
from shutil import copytree

import pytest

import synthetic
from data.corpora.writers import write_jsonl
from gareader.core.errors import ModelError
from gareader.readers import registry
from gareader.trained import models
from gareader.trained.folder import READER_JSON, write_settings
from gareader.trained.model import load
from places import PROJECT

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")

EXAMPLE = PROJECT / "examples" / "bag_of_words_reader"
CONFIG = """
[data]
train = "{folder}/train.jsonl"
validation = "{folder}/validation.jsonl"
vector_width = 12
[reader]
name = "bag-of-words"
reach = 3
[train]
learning_rate = 0.02
max_epochs = 2
threads = 1
"""


@pytest.fixture(autouse=True)
def _no_readers_from_outside(monkeypatch):
    monkeypatch.setattr(registry, "_outside", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "bag_of_words_reader", raising=False)


@pytest.fixture
def config(tmp_path):
    for name, size, seed in (("train", 640, 1), ("validation", 100, 2)):
        write_jsonl(synthetic.corpus(size, seed), tmp_path / f"{name}.jsonl")
    (tmp_path / "run.toml").write_text(CONFIG.format(folder=tmp_path))
    (tmp_path / "story.txt").write_text("Ann has the lamp . Ben has the drum .")
    return tmp_path / "run.toml"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Puts packages on the path as pip does, with what they declare."""

    def install(points, name="bag-of-words-reader", **modules):
        site = tmp_path / name
        (site / f"{name.replace('-', '_')}-0.1.0.dist-info").mkdir(parents=True)
        (metadata,) = site.iterdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
        (metadata / "entry_points.txt").write_text(f"[gareader.readers]\n{points}\n")
        for module, text in modules.items():
            (site / f"{module}.py").write_text(text)
        monkeypatch.syspath_prepend(str(site))

    return install


def trained_measured_and_asked(gareader, config, *options):
    folder = config.parent
    code, _, err = gareader("train", config, "--out", folder / "run", *options)
    assert code == 0, err
    reader = folder / "run" / "best"
    assert json.loads((reader / READER_JSON).read_text())["settings"]["reach"] == 3
    code, printed, err = gareader("evaluate", reader, folder / "validation.jsonl", "--json", *options)
    assert code == 0, err
    assert json.loads(printed)["accuracy"] > 0.6  # a guess is right in a quarter
    question = ("--document", folder / "story.txt", "--query", "XXXXX has the drum .", "--candidates", "Ann|Ben")
    code, printed, err = gareader("answer", "--model", f"{reader}", *question, "--json", *options)
    assert code == 0, err
    assert {each["answer"] for each in json.loads(printed)["ranking"]} == {"Ann", "Ben"}
    code, printed, err = gareader("serve", reader, "--check", *options)
    assert code == 0, err
    assert "ready, answering with" in printed
    study = f"""
        [corpora.people]
        train = "{folder}/train.jsonl"
        validation = "{folder}/validation.jsonl"
        [rows.bag]
        config = "{config}"
        set = {{ "train.max_epochs" = 1 }}
    """
    (folder / "study.toml").write_text(study)
    code, printed, err = gareader("study", folder / "study.toml", "--out", folder / "study", "--json", *options)
    assert code == 0, err
    assert json.loads(printed)["settings"]["reader"]["name"] == "bag-of-words"
    return reader


def test_a_module_in_the_working_folder(gareader, config, monkeypatch):
    monkeypatch.chdir(EXAMPLE)
    reader = trained_measured_and_asked(gareader, config, "--import", "bag_of_words_reader")
    monkeypatch.setattr(registry, "_outside", {})
    with pytest.raises(ModelError, match=r"no reader is called 'bag-of-words'; known: .* --import"):
        load(reader)


def test_an_installed_package(gareader, config, installed):
    installed(
        "bag-of-words = bag_of_words_reader:KIND", bag_of_words_reader=(EXAMPLE / "bag_of_words_reader.py").read_text()
    )
    assert "bag-of-words" in registry.reader_names()
    assert "bag_of_words_reader" not in sys.modules  # not before it is asked for
    trained_measured_and_asked(gareader, config)


def test_the_example_declares_what_it_has():
    text = (EXAMPLE / "pyproject.toml").read_text()
    assert 'entry-points."gareader.readers"]\nbag-of-words = "bag_of_words_reader:KIND"' in text


@pytest.mark.parametrize(
    ("module", "problem"),
    [
        ("raise OSError('no\\nroom')", r"its bad:KIND cannot be loaded (OSError: no room); mend or uninstall it"),
        ("", "its bad:KIND cannot be loaded (AttributeError: module 'bad' has no attribute 'KIND'); mend or"),
        ("KIND = 3", "its bad:KIND is no Kind, but of type int; mend or uninstall it"),
    ],
)
def test_a_broken_package_is_named_in_one_line(gareader, config, installed, monkeypatch, module, problem):
    monkeypatch.delitem(sys.modules, "bad", raising=False)
    installed("bag-of-words = bad:KIND", name="bad-package", bad=module)
    code, printed, err = gareader("train", config, "--out", config.parent / "run")
    assert (code, printed) == (1, "")
    assert err.startswith(f"gareader: the reader 'bag-of-words' is of the package bad-package, and {problem}")
    assert err.count("\n") == 1
    assert gareader("readers")[0] == 0  # who does not ask for it does not meet it


def test_two_packages_with_one_reader(gareader, config, installed):
    for name in ("one-package", "other-package"):
        installed("bag-of-words = bad:KIND", name=name)
    err = gareader("train", config, "--out", config.parent / "run")[2]
    assert "the reader 'bag-of-words' is declared by the package" in err
    assert "; uninstall one" in err


def test_no_package_takes_the_name_of_a_built_in_reader(installed):
    installed("aoa = bad:KIND", name="bad-package", bad="raise OSError")
    assert registry.kind_of("aoa") is registry.READERS["aoa"]


@pytest.mark.parametrize(
    ("module", "text", "problem"),
    [
        ("no_such_module", None, "it cannot be imported (ModuleNotFoundError: No module named 'no_such_module')"),
        ("mine_raises", "1 / 0", "it cannot be imported (ZeroDivisionError: division by zero)"),
        ("mine_empty", "", "it has no table READERS with a Kind for each name of a reader"),
        ("mine_wrong", "READERS = {'a': 1}", "it has no table READERS with a Kind"),
        ("mine_taken", "from gareader.readers.registry import READERS", "is built in; give the reader another name"),
    ],
)
def test_modules_that_cannot_be_imported(gareader, config, monkeypatch, module, text, problem):
    monkeypatch.chdir(config.parent)
    if text is not None:
        Path(f"{module}.py").write_text(text)
    code, _, err = gareader("train", config, "--import", module)
    assert code == 1
    assert err.startswith(f"gareader: --import {module}: ")
    assert problem in err


def test_a_strangers_folder_imports_nothing(gareader, config, monkeypatch):
    monkeypatch.chdir(config.parent)
    Path("evil.py").write_text("open('seen', 'w').close()")
    for name in ("words", "stories"):
        copytree(models.BOX / name, name)
    settings = json.loads(Path("stories", READER_JSON).read_text())
    for name in ("evil", "evil:KIND"):
        write_settings({**settings, "reader": name}, Path("stories"))
        code, _, err = gareader("answer", "--reader", "./stories", "--document", "story.txt", "--query", "XXXXX left .")
        assert code == 1
        assert f"no reader is called '{name}'" in err
    assert not Path("seen").exists()
