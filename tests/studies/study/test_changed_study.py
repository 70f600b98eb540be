"""A study that is changed between two runs: its table never mixes numbers of different things."""

import re
import shutil
from pathlib import Path

import pytest

from gareader.core.errors import TrainingError
from gareader.data.sources import read_examples
from gareader.plots.study import study_picture
from gareader.studies.study import Studio, Study, markdown, read_results
from gareader.studies.study.results import RESULTS
from studies.study.small_studies import READER, edit, finished

pytestmark = pytest.mark.slow

TEST = 'train = "{folder}/train.jsonl"\ntest = "{folder}/test.jsonl"'


def add_test(folder):
    edit(folder / "study.toml", TEST.format(folder=folder).splitlines()[0], TEST.format(folder=folder))


def never(run):
    pytest.fail(f"{run.folder} was trained again")


def test_a_stopped_trial_does_not_go_on_with_other_questions(small):
    studio = Studio(Study.load(small / "study.toml"), small / "out")
    steps = iter([False, True])
    assert not studio.do(studio.waiting()[0], lambda run: run.train(lambda: next(steps)).finished)
    edit(small / "study.toml", "train.jsonl", "test.jsonl")
    with pytest.raises(TrainingError, match=r"reader--things--1--1: the run there has other settings \(data.train\)"):
        finished(small)


def test_corpora_of_one_name_are_prepared_apart(small):
    (small / "more").mkdir()
    shutil.copy(small / "test.jsonl", small / "more" / "train.jsonl")
    studio = Studio(Study.load(small / "study.toml"), small / "out")
    for given in (small / "train.jsonl", small / "more" / "train.jsonl"):
        assert list(read_examples(studio.prepared(str(given)))) == list(read_examples(given))


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("test.jsonl", "train.jsonl", "corpora.things.test"),
        ('"most-frequent"', '"sliding-window"', "rows.frequency.baseline"),
    ],
)
def test_results_of_other_files_and_baselines_are_not_mixed_in(small, old, new, changed):
    add_test(small)
    finished(small)
    edit(small / "study.toml", old, new)
    with pytest.raises(TrainingError, match=rf"was done with other settings than the study has now \({changed}\)"):
        finished(small)


def test_a_result_that_does_not_tell_its_file_or_baseline_still_counts(small):
    studio = finished(small)
    path = studio.folder / RESULTS
    old = re.sub(r'"file": "[^"]*", |, "baseline": ("[^"]*"|null)', "", path.read_text())
    assert len(old) < len(path.read_text())
    path.write_text(old)
    assert studio.waiting() == []


def test_the_way_out_of_other_settings(small):
    studio = finished(small)
    (small / "reader.toml").write_text(READER.replace("hidden = 6", "hidden = 7"))
    studio = Studio(Study.load(small / "study.toml"), studio.folder)
    way_out = r"\(reader.hidden\); choose another --out, or remove its line from (\S+) and the folder (\S+) to do it"
    with pytest.raises(TrainingError, match=way_out) as error:
        studio.waiting()
    told = re.search(way_out, str(error.value))
    assert told
    results, run = told.groups()
    lines = Path(results).read_text().splitlines(keepends=True)
    Path(results).write_text("".join(line for line in lines if "reader--things" not in line))
    shutil.rmtree(run)
    assert finished(small).results()["reader--things--1--1"].settings["reader"]["hidden"] == 7


def test_a_part_that_is_added_is_answered_without_training(small):
    before = finished(small).results()
    add_test(small)
    studio = Studio(Study.load(small / "study.toml"), small / "out")
    assert "| … |" in markdown(studio.study, studio.results(), studio.predictions)
    kept = {key: studio.predictions(key, "validation").stat().st_mtime_ns for key in before}
    for trial in studio.waiting():
        assert studio.do(trial, never)
    assert studio.waiting() == []
    assert "…" not in markdown(studio.study, studio.results(), studio.predictions)
    for key, result in studio.results().items():
        assert result.splits["test"]["examples"] == 30
        assert result.splits["validation"] == before[key].splits["validation"]
        assert (result.minutes, result.updates) == (before[key].minutes, before[key].updates)
        assert studio.predictions(key, "validation").stat().st_mtime_ns == kept[key]


def test_a_reader_that_is_gone_is_told(small):
    studio = finished(small)
    shutil.rmtree(studio.folder / "runs" / "reader--things--1--1" / "best")
    add_test(small)
    with pytest.raises(TrainingError, match="the reader of reader--things--1--1 is gone; remove its line from"):
        finished(small)


def test_a_name_that_is_written_otherwise(small):
    edit(small / "study.toml", "[rows.reader]", '[rows."a reader"]')
    done = finished(small)
    edit(small / "study.toml", '[rows."a reader"]', '[rows."a (reader)"]')
    studio = finished(small)
    assert len(read_results(studio.folder)) == 2
    assert markdown(studio.study, studio.results(), studio.predictions) == markdown(
        done.study, done.results(), done.predictions
    ).replace("| a reader |", "| a (reader) |")


def test_trials_that_the_study_no_longer_has_do_not_count(small):
    edit(small / "study.toml", "[set]", "seeds = [1, 2]\n[set]")
    both = finished(small)
    edit(small / "study.toml", "seeds = [1, 2]", "seeds = [1]")
    studio = finished(small)
    assert len(read_results(studio.folder)) == 3
    assert studio.results().keys() == both.results().keys() - {"reader--things--1--2"}
    assert " to " in markdown(both.study, both.results(), both.predictions).split("\n\n")[1]
    assert " to " not in markdown(studio.study, studio.results(), studio.predictions).split("\n\n")[1]
    assert study_picture(studio.study, list(studio.results().values()))
