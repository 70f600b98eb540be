"""What the documents say is so: examples run, files named exist, public names resolve."""

import json
import re
import tomllib
from dataclasses import MISSING, fields

import pytest

import gareader
from gareader.cli.readers import settings_of
from gareader.core.config import declared, in_words, load_table
from gareader.readers.registry import READERS
from gareader.readers.settings import GatedAttentionConfig
from gareader.studies.study import Study
from gareader.studies.study.plan import _CORPUS_KEYS, _KEYS, _ROW_KEYS
from gareader.training.experiment import Experiment
from gareader.training.settings import DataConfig, TrainConfig
from places import PROJECT

README = (PROJECT / "README.md").read_text(encoding="utf-8")
SETTINGS = (PROJECT / "docs" / "settings.md").read_text(encoding="utf-8")
ARCHITECTURE = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
SOURCE = PROJECT / "src" / "gareader"
STUDIES = PROJECT / "configs" / "studies"


def test_the_python_example_of_the_readme_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102
    printed = capsys.readouterr().out
    assert re.search(r"Mary Ann +\d+\.\d%", printed)
    assert re.search(r"Tom +\d+\.\d%", printed)


def test_the_map_names_every_module():
    sections = re.split(r"^### ", ARCHITECTURE.partition("\n## The map\n")[2], flags=re.MULTILINE)[1:]
    named = {name: set(re.findall(r"`([\w/]+(?:\.py|/))`", cells(section))) for name, section in by_room(sections)}
    assert named.pop("plots") == {"plots/", "serve/", "benchmark/", "cli/"}
    for room, modules in named.items():
        paths = [path for path in (SOURCE / room).iterdir() if path.name not in ("__init__.py", "__pycache__")]
        there = {path.name + "/" * path.is_dir() for path in paths if path.is_dir() or path.suffix == ".py"}
        assert modules == there, room
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir()} - {"__pycache__", "configs"}
    assert rooms == {*named, "plots", "serve", "benchmark", "cli"}


def by_room(sections):
    return [(re.split(r"\W", section)[0], section) for section in sections if not section.startswith("Beside")]


def cells(section):
    """The first column of a section's table."""
    return "\n".join(re.findall(r"^\| (.+?) \|", section, re.MULTILINE))


def test_the_layers_are_those_that_are_checked():
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (layers,) = (each["layers"] for each in contracts["contracts"] if each.get("containers") == ["gareader"])
    (block,) = re.findall(r"```\n(.*?)\n```", ARCHITECTURE, re.DOTALL)
    assert block.splitlines() == layers[1:]  # all but __main__


def test_the_calls_of_the_architecture_exist():
    calls = re.findall(r"^\| \d* ?\| `([\w/]+\.py)` \| `([\w.]+)` \|", ARCHITECTURE, re.MULTILINE)
    assert len(calls) > 20
    for file, name in calls:
        code = (SOURCE / file).read_text(encoding="utf-8")
        for part in name.split("."):
            assert re.search(rf"^ *(?:def|class) {part}\b", code, re.MULTILINE), (file, name)


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
    for name in re.findall(r"`(?:nn|reference|trained|data)\.(?:\w+\.)*(\w+)`", page):
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
    # the models in the box have recipes of their own
    own = {"tiny.toml", "stories.toml", "stories_2.toml", "general.toml", "cnn_from_stories.toml"}
    if config.name not in own and settings.reader == "gated-attention":
        assert settings.table()["reader"]["hops"] == 3
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
        assert isinstance(reader, GatedAttentionConfig)
        assert (reader.dropout, reader.hidden, reader.characters, reader.feature, reader.update_words) == expected


def rows_of_settings(kind):
    """What the page has to say about a dataclass of settings: each field, its default, what it may be, its sentence."""
    about = {each["name"]: each["about"] for each in settings_of(kind)}
    types = declared(kind)
    for field in fields(kind):
        default = f"`{json.dumps(field.default)}`" if field.default is not MISSING else "must be given"
        default = "not set" if field.default is None else default
        yield f"| `{field.name}` | {default} | {in_words(types[field.name])} | {about[field.name]} |"


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
    first = study.trials[0].experiment
    assert first is not None
    assert first.table()["reader"]["hidden"] == 16


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
        if trial.experiment is not None
    }
    for (table, row, corpus), cell in cells.items():
        if row == "GA--":
            assert (cell.data.vectors or "").endswith("_vectors.txt"), (table, corpus)
            assert cell.table()["reader"]["update_words"]
    for corpus in ("Strict", "Relaxed"):
        nse = cells["table1", "NSE", corpus]
        assert (nse.data.anonymity, nse.train.batch_size) == ("permuted", 25)
    names, nouns = (cells["table3", "NSE", corpus] for corpus in ("CBT-NE", "CBT-CN"))
    assert (names.table()["reader"]["control"], names.train.learning_rate) == ("adaptive", 1e-3)
    assert (nouns.table()["reader"]["control"], nouns.train.learning_rate) == ("gating", 5e-4)
    aoa = [cells["table3", "AoA Reader", corpus] for corpus in ("CBT-NE", "CBT-CN")]
    assert [cell.table()["reader"]["hidden"] for cell in aoa] == [384, 256]
    reasonet = [cells["table3", "ReasoNet", corpus] for corpus in ("CNN", "DailyMail")]
    assert [cell.data.anonymity for cell in reasonet] == ["permuted"] * 2
    assert [cell.table()["reader"]["hidden"] for cell in reasonet] == [256, 384]
