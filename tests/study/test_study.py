"""Studies: what the file says, interruption, the table and the picture."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import synthetic
from corpora.writers import write_jsonl
from gareader.errors import ConfigError, CorpusError, TrainingError
from gareader.plots import study_picture
from gareader.study import Studio, Study, markdown, read_results
from gareader.study.results import RESULTS

PROJECT = Path(__file__).parents[2]

READER = """
[data]
train = "elsewhere"
validation = "elsewhere"
vector_width = 8
[reader]
hidden = 6
hops = 2
dropout = 0.1
[train]
learning_rate = 0.01
max_epochs = 1
log_every = 5
threads = 1
"""

STUDY = """
title = "Who has what"
against = "two hops"
seeds = [1, 2]
fractions = [0.5, 1.0]
[set]
"train.batch_size" = 16
[corpora.things]
train = "{folder}/train.jsonl"
validation = "{folder}/validation.jsonl"
test = "{folder}/test.jsonl"
[rows."two hops"]
config = "{folder}/reader.toml"
published = {{ things = [77.5, 0] }}
[rows."one hop"]
config = "{folder}/reader.toml"
set = {{ "reader.hops" = 1 }}
[rows.frequency]
baseline = "most-frequent"
"""


@pytest.fixture
def folder(tmp_path):
    for part, count, seed in (("train", 160, 1), ("validation", 40, 2), ("test", 30, 3)):
        write_jsonl(
            [replace(e, id=f"{part}-{i}") for i, e in enumerate(synthetic.corpus(count, seed=seed))],
            tmp_path / f"{part}.jsonl",
        )
    (tmp_path / "reader.toml").write_text(READER)
    (tmp_path / "study.toml").write_text(STUDY.format(folder=tmp_path))
    return tmp_path


def to_the_end(run):
    return run.train().finished


def finished(folder, out="out"):
    studio = Studio(Study.load(folder / "study.toml"), folder / out)
    for trial in studio.waiting():
        assert studio.do(trial, to_the_end)
    return studio


def test_the_trials_of_a_file(folder):
    study = Study.load(folder / "study.toml")
    assert len(study.trials) == 2 * 2 * 2 + 1
    cells = {(trial.row, trial.fraction, trial.seed) for trial in study.trials}
    assert ("one hop", 0.5, 2) in cells
    assert ("frequency", 0.0, 0) in cells
    (trial,) = [t for t in study.trials if (t.row, t.fraction, t.seed) == ("one hop", 0.5, 2)]
    assert trial.experiment.reader_config.hops == 1
    assert trial.experiment.train.batch_size == 16
    assert trial.experiment.train.fraction == 0.5
    assert trial.experiment.data.train == f"{folder}/train.jsonl"
    assert study.published["two hops"]["things"] == [77.5, None]


def test_results_table_and_picture(folder):
    studio = finished(folder)
    results = read_results(studio.folder)
    assert len(results) == 9
    assert studio.waiting() == []
    one = results["two_hops--things--1--1"]
    assert one.parts["validation"]["examples"] == 40
    assert one.parts["test"]["examples"] == 30
    assert one.parameters > 1000
    right = [json.loads(line)["correct"] for line in studio.predictions(one.key, "test").read_text().splitlines()]
    assert sum(right) == one.parts["test"]["correct"]
    table = markdown(studio.study, results, studio.predictions)
    assert "| things validation | published | p | things test | published | p |" in table
    (row,) = [line for line in table.splitlines() if line.startswith("| two hops | 1 |")]
    accuracies = [100 * results[f"two_hops--things--1--{seed}"].parts["validation"]["accuracy"] for seed in (1, 2)]
    assert f"| {sum(accuracies) / 2:.1f} ({min(accuracies):.1f} to {max(accuracies):.1f}) | 77.5 |  |" in row
    (row,) = [line for line in table.splitlines() if line.startswith("| frequency | – |")]
    share = 100 * results["frequency--things--0--0"].parts["validation"]["accuracy"]
    assert f"| {share:.1f} [" in row
    figure = study_picture(studio.study, list(results.values()))
    (axes,) = figure.axes
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"two hops", "one hop", "frequency"}


def test_interrupted_at_any_point_it_goes_on_and_ends_the_same(folder):
    whole, broken = finished(folder, "whole"), Studio(Study.load(folder / "study.toml"), folder / "broken")
    first, second = broken.study.trials[:2]
    steps = iter([False, False, True])
    assert not broken.do(first, lambda run: run.train(lambda: next(steps)).finished)
    assert read_results(broken.folder) == {}
    assert broken.do(first, to_the_end)
    assert broken.do(second, to_the_end)
    with (broken.folder / RESULTS).open("ab") as file:
        file.write(b'{"key": "torn')  # killed while a line was written
    assert [trial.key for trial in broken.waiting()] == [trial.key for trial in broken.study.trials[2:]]
    again = finished(folder, "broken")
    ours, theirs = (
        {key: replace(result, minutes=0) for key, result in read_results(studio.folder).items()}
        for studio in (whole, again)
    )
    assert ours == theirs
    for key in ours:
        if ours[key].settings:
            assert whole.predictions(key, "test").read_bytes() == again.predictions(key, "test").read_bytes()


def test_finished_work_is_not_repeated(folder):
    studio = finished(folder)
    before = (studio.folder / RESULTS).read_bytes()
    finished(folder)
    assert (studio.folder / RESULTS).read_bytes() == before


def test_results_of_other_settings_are_not_mixed_in(folder):
    finished(folder)
    (folder / "reader.toml").write_text(READER.replace("hidden = 6", "hidden = 7"))
    with pytest.raises(TrainingError, match="was done with other settings than the study has now"):
        finished(folder)


def test_a_damaged_line_is_told(folder):
    studio = finished(folder)
    path = studio.folder / RESULTS
    path.write_text("nonsense\n" + path.read_text())
    with pytest.raises(CorpusError, match=r"results\.jsonl:1: no result of a study"):
        studio.waiting()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('against = "two hops"', 'against = "two hop"', "against = 'two hop' is no row; did you mean 'two hops'"),
        ("seeds =", "seed =", "seed is no key of a study; did you mean 'seeds'"),
        ("[1, 2]", "[]", r"seeds = \[\] is no list of numbers"),
        ("[0.5, 1.0]", '["all"]', r"fractions = \['all'\] is no list of numbers"),
        ("things = [77.5, 0]", "thing = [77.5, 0]", "rows.two hops.published.thing is no corpus of the study"),
        ("[77.5, 0]", "[77.5]", r"rows.two hops.published.things = \[77.5\]; give \[validation, test\] in %"),
        ('"most-frequent"', '"most-often"', "rows.frequency.baseline = 'most-often' is not known"),
        ('baseline = "most-frequent"', "", "rows.frequency has no config"),
        ('"reader.hops" = 1', '"reader.hop" = 1', "rows.one hop on things: reader.hop is no setting"),
        ('"train.batch_size"', '"batch_size"', "batch_size is no setting; write section.key"),
        ("validation =", "validated =", "corpora.things.validated is no key of a study"),
        ('rows."one hop"', 'rows."two_hops"', "names that look alike as files"),
    ],
)
def test_mistakes_in_a_file(folder, old, new, message):
    path = folder / "study.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(ConfigError, match=message):
        Study.load(path)


@pytest.mark.parametrize("path", sorted((PROJECT / "configs" / "studies").glob("*.toml")), ids=lambda path: path.stem)
def test_the_studies_of_the_project_can_be_planned(path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    study = Study.load(path)
    assert study.trials
    assert study.against
