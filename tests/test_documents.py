"""What the documents say is so: examples run, files named exist, public names resolve."""

import ast
import inspect
import json
import re
from dataclasses import MISSING, fields
from itertools import pairwise
from pathlib import Path

import pytest

import gareader
from gareader.config import declared, in_words, load_table
from gareader.experiment import DataConfig, Experiment
from gareader.readers import READERS
from gareader.recipe import TrainConfig
from gareader.study import Study
from gareader.study.plan import _CORPUS_KEYS, _KEYS, _ROW_KEYS

PROJECT = Path(__file__).parents[1]
README = (PROJECT / "README.md").read_text(encoding="utf-8")
SETTINGS = (PROJECT / "docs" / "settings.md").read_text(encoding="utf-8")
STUDIES = PROJECT / "configs" / "studies"


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
    assert not re.search(r"--set \S+=\S+ \w+\.\w+=", text), "--set takes one setting; repeat it"
    assert settings.reader in READERS
    if config.name != "tiny.toml":
        assert re.search(r"# The paper: +\d\d\.\d / \d\d\.\d %|# The paper: +(?:has )?no ", text)
    own = {"tiny.toml", "stories.toml", "stories_2.toml"}  # the readers in the box have recipes of their own
    if config.name not in own and settings.reader == "gated-attention":
        assert settings.reader_config.hops == 3
        assert settings.train == TrainConfig()  # the paper's


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


def rows_of_settings(kind):
    """What the page has to say about a dataclass of settings: each field, its default, what it may be, its sentence."""
    (definition,) = ast.parse(inspect.getsource(kind)).body
    told = {field.target.id: text.value.value for field, text in pairwise(definition.body) if is_told(field, text)}
    types = declared(kind)
    for field in fields(kind):
        default = f"`{json.dumps(field.default)}`" if field.default is not MISSING else "must be given"
        default = "not set" if field.default is None else default
        yield f"| `{field.name}` | {default} | {in_words(types[field.name])} | {told[field.name]} |"


def is_told(field, text):
    return isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("## [data]", DataConfig),
        ("## [train]", TrainConfig),
        *((f"### {name}", READERS[name].config) for name in READERS),
    ],
)
def test_the_page_of_settings_has_each_with_its_default(heading, kind):
    _, _, section = SETTINGS.partition(f"\n{heading}\n")
    rows = re.findall(r"^\| `\w+` \|.*$", re.split(r"^##", section, maxsplit=1, flags=re.MULTILINE)[0], re.MULTILINE)
    assert rows == list(rows_of_settings(kind))


def test_the_page_of_settings_has_every_key_of_a_study():
    tables = re.findall(r"^\| key of .*\n\|---.*\n((?:\|.*\n)+)", SETTINGS, re.MULTILINE)
    assert [{*re.findall(r"^\| `(\w+)`", table, re.MULTILINE)} for table in tables] == [_KEYS, _CORPUS_KEYS, _ROW_KEYS]


def test_the_study_on_the_page_of_settings_can_be_planned(tmp_path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    (text,) = re.findall(r"```toml\n(.*?)```", SETTINGS, re.DOTALL)
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    study = Study.load(tmp_path / "study.toml")
    assert [(trial.row, trial.seed) for trial in study.trials] == [
        ("three hops", 1),
        ("three hops", 2),
        ("one hop", 1),
        ("one hop", 2),
        ("most frequent candidate", 0),
    ]
    assert study.trials[0].experiment.reader_config.hidden == 16


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.toml")), ids=lambda path: path.stem)
def test_vectors_of_a_study_are_as_wide_as_their_name_says(path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    for trial in Study.load(path).trials:
        data = trial.experiment and trial.experiment.data
        if data and (width := re.search(r"\.(\d+)d\b", data.vectors or "")):
            assert data.vector_width == int(width[1]), trial.key


def test_the_studies_have_what_the_configs_say_of_each_corpus(monkeypatch):
    monkeypatch.chdir(PROJECT)
    cells = {
        (path.stem.partition("_")[0], trial.row, trial.corpus): trial.experiment
        for path in STUDIES.glob("table*.toml")
        for trial in Study.load(path).trials
    }
    for (table, row, corpus), cell in cells.items():
        if row == "GA--":
            assert cell.data.vectors.endswith("_vectors.txt"), (table, corpus)
            assert cell.reader_config.update_words
    for corpus in ("Strict", "Relaxed"):
        nse = cells["table1", "NSE", corpus]
        assert (nse.data.anonymity, nse.train.batch_size) == ("permuted", 25)
    names, nouns = (cells["table3", "NSE", corpus] for corpus in ("CBT-NE", "CBT-CN"))
    assert (names.reader_config.control, names.train.learning_rate) == ("adaptive", 1e-3)
    assert (nouns.reader_config.control, nouns.train.learning_rate) == ("gating", 5e-4)
    assert [cells["table3", "AoA Reader", corpus].reader_config.hidden for corpus in ("CBT-NE", "CBT-CN")] == [384, 256]
    reasonet = [cells["table3", "ReasoNet", corpus] for corpus in ("CNN", "DailyMail")]
    assert [cell.data.anonymity for cell in reasonet] == ["permuted"] * 2
    assert [cell.reader_config.hidden for cell in reasonet] == [256, 384]
