"""What the documents say is so: examples run, files named exist, public names resolve."""

import re
from pathlib import Path

import pytest

import gareader
from gareader.config import load_table
from gareader.experiment import Experiment
from gareader.readers import READERS
from gareader.recipe import TrainConfig

PROJECT = Path(__file__).parents[1]
README = (PROJECT / "README.md").read_text(encoding="utf-8")


def test_the_python_example_of_the_readme_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102
    printed = capsys.readouterr().out
    assert re.search(r"Mary Ann +\d+\.\d%", printed)
    assert re.search(r"Tom +\d+\.\d%", printed)


def test_the_map_names_every_module():
    named = set(re.findall(r"^\| `src/gareader/(\w+)(?:\.py|/)` \|", README, re.MULTILINE))
    source = PROJECT / "src" / "gareader"
    there = {
        path.stem for path in source.iterdir() if path.suffix == ".py" or (path.is_dir() and any(path.glob("*.*")))
    }
    assert named == there - {"__init__", "__main__", "__pycache__"}


@pytest.mark.parametrize("document", sorted((PROJECT / "docs").rglob("*.md")) + sorted(PROJECT.glob("*.md")), ids=str)
def test_links_lead_somewhere(document):
    text = document.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (document.parent / target).exists(), target


def test_public_names():
    assert gareader.__all__ == sorted(gareader.__all__)
    for name in gareader.__all__:
        assert getattr(gareader, name).__doc__
        assert name in dir(gareader)
    with pytest.raises(AttributeError, match="nothing"):
        gareader.nothing  # noqa: B018
    source = (PROJECT / "src" / "gareader" / "__init__.py").read_text(encoding="utf-8")
    typed = {name: module for module, name in re.findall(r"from gareader\.([\w.]+) import (\w+) as \2", source)}
    assert typed == gareader.HOMES


def test_the_reader_page_names_functions_that_exist():
    page = (PROJECT / "docs" / "reader.md").read_text(encoding="utf-8")
    code = "\n".join(path.read_text(encoding="utf-8") for path in (PROJECT / "src").rglob("*.py"))
    code += (PROJECT / "tests" / "reference.py").read_text(encoding="utf-8")
    for name in re.findall(r"`(?:nn|reference|predictor|batching|vectors)\.(?:\w+\.)*(\w+)`", page):
        assert re.search(rf"(?:def|class) {name}\b|^{name}\b", code, re.MULTILINE), name


@pytest.mark.parametrize("config", sorted((PROJECT / "configs").glob("*.toml")), ids=lambda path: path.name)
def test_every_config_is_complete_and_says_its_command(config):
    settings = Experiment.from_table(load_table(config))
    text = config.read_text(encoding="utf-8")
    assert f"gareader train configs/{config.name}" in text
    assert settings.reader in READERS
    if config.name != "tiny.toml":
        assert re.search(r"# The paper: +\d\d\.\d / \d\d\.\d %|# The paper: +(?:has )?no ", text)
    if config.name != "tiny.toml" and settings.reader == "gated-attention":
        recipe = TrainConfig(average=0.999 if config.name == "stories.toml" else None)
        assert (settings.train, settings.reader_config.hops) == (recipe, 3)  # the paper's recipe


def test_the_papers_table_of_settings():
    """Dropout and hidden size of appendix A, and the best variant of each corpus."""
    paper = {
        "cnn": (0.2, 256, False, False, True),
        "daily_mail": (0.1, 256, False, False, True),
        "cbt_ne": (0.4, 128, True, True, False),
        "cbt_cn": (0.4, 128, True, True, False),
        "wdw_strict": (0.3, 128, True, True, False),
        "wdw_relaxed": (0.3, 128, True, True, False),
    }
    for name, expected in paper.items():
        reader = Experiment.from_table(load_table(PROJECT / "configs" / f"{name}.toml")).reader_config
        assert (reader.dropout, reader.hidden, reader.characters, reader.feature, reader.update_words) == expected
