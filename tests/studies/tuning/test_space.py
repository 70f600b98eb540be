"""Space files: what they say, and every mistake by the name of its key."""

import re
import tomllib
from dataclasses import make_dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gareader.core.errors import ConfigError
from gareader.studies.tuning.plan import Plan
from gareader.studies.tuning.report import toml_document
from gareader.studies.tuning.space import Setting, Space, SweepConfig
from gareader.training.experiment import types
from gareader.training.settings import TrainConfig
from places import PROJECT

SPACE = """
[reader.hidden]
values = [8, 16]
[reader.dropout]
low = 0.1
high = 0.5
step = 0.1
[reader.hops]
low = 1
high = 3
[train.learning_rate]
low = 1e-4
high = 1e-2
log = true
[sweep]
sampler = "random"
startup = 3
"""


@pytest.fixture
def space(tmp_path):
    def load(text=SPACE):
        (tmp_path / "space.toml").write_text(text)
        return Space.load(tmp_path / "space.toml")

    return load


def test_what_a_file_says(space):
    found = space()
    hidden, dropout, hops, rate = found.settings
    assert hidden == Setting("reader.hidden", values=(8, 16))
    assert dropout == Setting("reader.dropout", low=0.1, high=0.5, step=0.1)
    assert hops == Setting("reader.hops", low=1, high=3, step=1)
    assert rate == Setting("train.learning_rate", low=1e-4, high=1e-2, log=True)
    assert found.sweep == SweepConfig(sampler="random", startup=3)
    assert [each.count for each in found.settings] == [2, 5, 3, None]
    assert found.cells is None


def test_values_as_people_write_them(space):
    _, dropout, hops, rate = space().settings
    assert [dropout.at(index) for index in range(5)] == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert [type(hops.at(index)) for index in range(3)] == [int] * 3
    assert rate.tidy(0.00123456) == 0.001235
    assert rate.tidy(0.0099999) == 0.01
    assert Setting("train.clip_norm", low=0.12344, high=0.98766).tidy(0.987659) == 0.98766  # never beyond the end


def test_the_cells_of_a_grid_are_all_combinations(space):
    found = space("[reader.hidden]\nvalues = [8, 16]\n[reader.hops]\nlow = 1\nhigh = 3\n[sweep]\nsampler = 'grid'")
    assert found.cells == 6
    cells = [tuple(found.cell(index).values()) for index in range(6)]
    assert sorted(cells) == [(hidden, hops) for hidden in (8, 16) for hops in (1, 2, 3)]


TYPES = types({"reader": {"name": "gated-attention"}})


def test_a_range_is_of_the_kind_of_its_setting(tmp_path):
    """Whole ends of a setting that may have fractions leave the fractions between them."""
    (tmp_path / "space.toml").write_text(
        "[reader.dropout]\nlow = 0\nhigh = 0.5\n[train.clip_norm]\nlow = 1\nhigh = 20\n"
    )
    dropout, clip = Space.load(tmp_path / "space.toml", TYPES).settings
    assert (clip.whole, clip.step) == (False, None)
    assert not dropout.whole


def test_a_setting_with_choices_needs_no_values(tmp_path):
    (tmp_path / "space.toml").write_text("[reader.gate]\n[reader.characters]\n")
    gate, characters = Space.load(tmp_path / "space.toml", TYPES).settings
    assert gate.values == ("multiply", "add", "concatenate")
    assert characters.values == (False, True)


def test_one_end_with_a_fraction_makes_a_range_of_fractions(space):
    (clip,) = space("[train.clip_norm]\nlow = 1\nhigh = 2.5").settings
    assert (type(clip.low), type(clip.high), clip.step) == (float, float, None)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[reader.hidden]", "[readers.hidden]", r"\[readers\] is no section of a space; did you mean 'reader'"),
        ("[sweep]", "[sweep]\nsampled = 1\n[more]", r"\[more\] is no section of a space"),
        ('sampler = "random"', "sampled = 1", "sweep.sampled is no setting; did you mean 'sampler'"),
        ('"random"', '"gird"', "sweep.sampler = 'gird' is not known; did you mean 'grid'"),
        ('"random"', '"tpe"\npruner = "mean"', "sweep.pruner = 'mean' is not known; did you mean 'median'"),
        ("startup = 3", "startup = -3", "sweep.startup = -3 is too small; use 0 or more"),
        ("startup = 3", 'warm_up = "a"', "sweep.warm_up = 'a' is not a whole number"),
        (
            '"random"',
            '"grid"',
            "train.learning_rate has no end of values, which a grid needs; give it values or a step",
        ),
        ("values = [8, 16]", "value = [8, 16]", "reader.hidden.value is no key of a range; did you mean 'values'"),
        ("values = [8, 16]", "values = [8, 16]\nlow = 8", "reader.hidden has both values and low; give one"),
        ("values = [8, 16]", "values = 8", "reader.hidden.values = 8 is no list of numbers, texts or truths"),
        ("values = [8, 16]", "values = [[8], 16]", r"reader.hidden.values = \[\[8\], 16\] is no list of numbers"),
        ("values = [8, 16]", "values = [8.0, nan]", "reader.hidden.values = .* has one that is not a number"),
        ("values = [8, 16]", "values = [8]", r"reader.hidden.values = \[8\]; give two or more different ones"),
        ("values = [8, 16]", "values = [8, 8]", r"reader.hidden.values = \[8, 8\]; give two or more different ones"),
        ("low = 0.1\n", "", "reader.dropout.low is missing; give values, or low and high"),
        ("high = 3\n", "", "reader.hops.high is missing; give values, or low and high"),
        ("high = 3", "high = true", "reader.hops.high = True is not a number"),
        ("high = 3", "high = inf", "reader.hops.high = inf is not a number"),
        ("high = 3", "high = 1", "reader.hops.low = 1 is not below reader.hops.high = 1"),
        ("step = 0.1", "step = 0.3", "reader.dropout.step = 0.3 does not lead from 0.1 to 0.5"),
        ("step = 0.1", "step = 0", "reader.dropout.step = 0 is not positive"),
        ("step = 0.1", "step = 0.1\nlog = true", "reader.dropout has both a step and log; give one or the other"),
        ("high = 3", "high = 3\nstep = 0.5", "reader.hops.step = 0.5 leads to fractions between whole numbers"),
        ("log = true", "log = 1", "train.learning_rate.log = 1 is not true or false"),
        ("low = 1e-4", "low = 0.0", "train.learning_rate.low = 0.0 has no logarithm; use more than 0"),
        ("[reader.hidden]\nvalues = [8, 16]", "[reader]\nhidden = 8", "reader.hidden = 8 says no range"),
        (SPACE, "reader = 8", r"reader = 8 is no section; write \[reader.KEY\] with its values"),
        (SPACE, "[sweep]", r"there is nothing to tune; write for example \[reader.hidden\]"),
        ("reader.hidden", "data.validation", "data.validation cannot be tuned: all trials need the same questions"),
        ("reader.hidden", "train.validation_examples", "train.validation_examples cannot be tuned"),
    ],
)
def test_mistakes_in_a_file(space, old, new, message):
    assert old in SPACE
    with pytest.raises(ConfigError, match=message):
        space(SPACE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("reader.hidden", "reader.hiden", "reader.hiden is no setting; did you mean 'hidden'"),
        ("values = [8, 16]", "values = [8, 'many']", "reader.hidden.values = 'many' is not a whole number"),
        ("low = 1\n", "low = 0.5\n", "reader.hops.low = 0.5 is not a whole number; use 1 or more"),
        ("values = [8, 16]", "", "reader.hidden.values = .*; give two or more different ones"),
        ("high = 0.5", "high = 1.1", "reader.dropout.high = 1.1 is too large; use 0 or more and less than 1"),
        ("values = [8, 16]", "values = [8, 0]", "reader.hidden.values = 0 is too small; use 1 or more"),
    ],
)
def test_what_the_reader_cannot_have_is_refused_before_the_first_trial(tmp_path, monkeypatch, old, new, message):
    monkeypatch.chdir(PROJECT)
    (tmp_path / "space.toml").write_text(SPACE.replace(old, new))
    with pytest.raises(ConfigError, match=message):
        Plan.load(Path("configs/tiny.toml"), tmp_path / "space.toml")


def test_the_name_of_a_sweep_is_that_of_its_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    (tmp_path / "space.toml").write_text(SPACE)
    config, space = Path("configs/tiny.toml"), tmp_path / "space.toml"
    one, same = Plan.load(config, space), Plan.load(config, space, ["reader.hidden=99"])  # which is tuned anyway
    assert one.name == same.name
    assert re.fullmatch(r"gareader-[0-9a-f]{12}", one.name)
    other = Plan.load(config, space, ["train.seed=2", "reader.gate=add"])
    assert other.name != one.name
    assert other.changed(one.settings()) == ["reader.gate", "train.seed"]
    space.write_text(SPACE.replace("values = [8, 16]", "values = [8, 24]").replace("startup = 3", "startup = 4"))
    assert Plan.load(config, space).changed(one.settings()) == ["reader.hidden", "sweep.startup"]


def test_a_setting_of_a_later_gareader_makes_no_sweep_another_one(tmp_path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    (tmp_path / "space.toml").write_text(SPACE)
    files = Path("configs/tiny.toml"), tmp_path / "space.toml"
    before = Plan.load(*files)
    settings, name = before.settings(), before.name
    later = make_dataclass("Later", [("later", int, 3)], bases=(TrainConfig,), frozen=True)
    monkeypatch.setattr("gareader.training.experiment.TrainConfig", later)
    same, other = Plan.load(*files), Plan.load(*files, ["train.later=4"])
    assert same.settings() == {**settings, "train.later": 3}
    assert (same.changed(settings), same.name) == ([], name)
    assert other.changed(settings) == ["train.later"]
    assert other.name != name


def test_the_seed_cannot_be_tuned_where_it_chooses_the_questions(tmp_path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    (tmp_path / "space.toml").write_text("[train.seed]\nvalues = [1, 2]")
    files = Path("configs/tiny.toml"), tmp_path / "space.toml"
    assert Plan.load(*files).space.cells == 2
    with pytest.raises(ConfigError, match=r"train.seed cannot be tuned while train.validation_examples is set"):
        Plan.load(*files, ["train.validation_examples=60"])


@pytest.mark.parametrize("path", sorted((PROJECT / "configs" / "sweeps").glob("*.toml")), ids=lambda path: path.stem)
def test_the_sweeps_of_the_project_can_be_planned(path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    command = re.search(r"gareader tune (\S+) --space (\S+)", path.read_text())
    assert command
    config, space = command.groups()
    assert space == f"configs/sweeps/{path.name}"
    assert Plan.load(Path(config), Path(space)).space.settings


@given(
    st.dictionaries(
        st.from_regex(r"[a-z_]+", fullmatch=True),
        st.text() | st.integers() | st.booleans() | st.floats(allow_nan=False),
    )
)
def test_values_survive_toml(table):
    assert tomllib.loads(toml_document({"section": table})) == {"section": table}
