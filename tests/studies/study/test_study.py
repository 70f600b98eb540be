"""Studies: what the file says, interruption, the table and the picture."""

import json
from dataclasses import replace

import pytest
import torch
from matplotlib.container import ErrorbarContainer

from gareader.core.errors import ConfigError, CorpusError, TrainingError
from gareader.plots.study import study_picture
from gareader.readers.settings import GatedAttentionConfig
from gareader.studies.study import Result, Studio, Study, markdown, read_results
from gareader.studies.study.plan import Trial
from gareader.studies.study.results import RESULTS
from places import PROJECT
from studies.study.small_studies import READER, edit, finished, to_the_end

pytestmark = pytest.mark.slow


def test_the_trials_of_a_file(folder):
    study = Study.load(folder / "study.toml")
    assert len(study.trials) == 2 * 2 * 2 + 1
    cells = {(trial.row, trial.fraction, trial.seed) for trial in study.trials}
    assert ("one hop", 0.5, 2) in cells
    assert ("frequency", 0.0, 0) in cells
    (trial,) = [t for t in study.trials if (t.row, t.fraction, t.seed) == ("one hop", 0.5, 2)]
    assert trial.experiment is not None
    assert isinstance(trial.experiment.reader_config, GatedAttentionConfig)
    assert trial.experiment.reader_config.hops == 1
    assert trial.experiment.train.batch_size == 16
    assert trial.experiment.train.fraction == 0.5
    assert trial.experiment.data.train == f"{folder}/train.jsonl"
    assert study.published["two hops"]["things"] == [77.5, None]


def test_a_row_may_have_its_own_shares_and_a_split_its_own_name(folder):
    edit(folder / "study.toml", "set = {", "fractions = [0.25]\nset = {")
    edit(folder / "study.toml", "validation =", 'called = { test = "official validation" }\nvalidation =')
    study = Study.load(folder / "study.toml")
    assert {trial.fraction for trial in study.trials if trial.row == "one hop"} == {0.25}
    assert {trial.fraction for trial in study.trials if trial.row == "two hops"} == {0.5, 1.0}
    head = markdown(study, {}, lambda key, split: folder).splitlines()[2]
    assert "things validation" in head
    assert "things official validation" in head


def test_results_table_and_picture(folder):
    studio = finished(folder)
    results = read_results(studio.folder)
    assert len(results) == 9
    assert studio.waiting() == []
    one = results["two_hops--things--1--1"]
    assert one.splits["validation"]["examples"] == 40
    assert one.splits["test"]["examples"] == 30
    assert one.parameters > 1000
    assert [results[f"two_hops--things--{share}--1"].examples for share in (0.5, 1)] == [80, 160]
    right = [json.loads(line)["correct"] for line in studio.predictions(one.key, "test").read_text().splitlines()]
    assert sum(right) == one.splits["test"]["correct"]
    table = markdown(studio.study, results, studio.predictions)
    assert "| things validation | published | p | things test | published | p |" in table
    (row,) = [line for line in table.splitlines() if line.startswith("| two hops | 1 |")]
    accuracies = [100 * results[f"two_hops--things--1--{seed}"].splits["validation"]["accuracy"] for seed in (1, 2)]
    assert f"| {sum(accuracies) / 2:.1f} ({min(accuracies):.1f} to {max(accuracies):.1f}) | 77.5 |  |" in row
    assert "| 160 |" in row
    assert table.splitlines()[2].endswith("| weights | questions read | minutes |")
    (row,) = [line for line in table.splitlines() if line.startswith("| frequency | – |")]
    assert row.endswith("| – | – | – |")
    share = 100 * results["frequency--things--0--0"].splits["validation"]["accuracy"]
    assert f"| {share:.1f} [" in row
    figure = study_picture(studio.study, list(results.values()))
    (axes,) = figure.axes
    legend = axes.get_legend()
    assert legend is not None
    assert {text.get_text() for text in legend.get_texts()} == {"two hops", "one hop", "frequency"}


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


def test_a_baseline_can_be_what_the_others_are_compared_with(folder):
    edit(folder / "study.toml", 'against = "two hops"', 'against = "frequency"')
    edit(folder / "study.toml", "seeds = [1, 2]", "seeds = [1]")
    studio = finished(folder)
    rows = markdown(studio.study, studio.results(), studio.predictions).splitlines()
    for start in ("| two hops | 0.5 |", "| two hops | 1 |", "| one hop | 1 |"):
        (row,) = [line for line in rows if line.startswith(start)]
        cells = [cell.strip() for cell in row.split("|")]
        assert 0 < float(cells[5]) <= 1
        assert 0 < float(cells[8]) <= 1


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
        ("[77.5, 0]", '["77", 0]', r"published.things = \['77', 0\]; give \[validation, test\] in %"),
        ("{ things = [77.5, 0] }", "77.5", "rows.two hops.published = 77.5 is no table"),
        ('{ "reader.hops" = 1 }', '"x"', "rows.one hop.set = 'x' is no table"),
        ('[set]\n"train.batch_size" = 16', 'set = "x"', "set = 'x' is no table"),
        ("set = {", "on.thing = {", "rows.one hop.on.thing is no corpus of the study; did you mean 'things'"),
        ("set = {", 'on.things = "x"\nset = {', "rows.one hop.on.things = 'x' is no table"),
        ("config =", "config.thing =", "config.thing is no corpus of the study; did you mean 'things'"),
        ("config =", "config = 5 #", "rows.two hops.config = 5 is no path"),
        ('baseline = "most-frequent"', "baseline = 5", "rows.frequency.baseline = '5' is not known"),
        ("baseline =", 'set = { "reader.hops" = 1 }\nbaseline =', "rows.frequency.set means nothing for a baseline"),
        ("config =", 'fractions = ["all"]\nconfig =', r"rows.two hops.fractions = \['all'\] is no list of numbers"),
        ("validation =", 'called = "x"\nvalidation =', "corpora.things.called = 'x' is no table"),
        (
            "validation =",
            'called = { tset = "x" }\nvalidation =',
            "called.tset is no key of a study; did you mean 'test'",
        ),
        (
            "baseline =",
            'against = "two hop"\nbaseline =',
            "rows.frequency.against = 'two hop' is no row; did you mean 'two hops'",
        ),
    ],
)
def test_mistakes_in_a_file(folder, old, new, message):
    edit(folder / "study.toml", old, new)
    with pytest.raises(ConfigError, match=message):
        Study.load(folder / "study.toml")


def test_a_mistake_in_the_file_of_a_reader(folder):
    (folder / "reader.toml").write_text("data = 5")
    with pytest.raises(ConfigError, match="data = 5 is no table"):
        Study.load(folder / "study.toml")


@pytest.mark.parametrize("path", sorted((PROJECT / "configs" / "studies").glob("*.toml")), ids=lambda path: path.stem)
def test_the_studies_of_the_project_can_be_planned(path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    study = Study.load(path)
    assert study.trials
    assert study.against


def test_questions_without_answers_are_no_result(small):
    lines = [json.loads(line) for line in (small / "validation.jsonl").read_text().splitlines()]
    (small / "test.jsonl").write_text("".join(json.dumps({**line, "answer": None}) + "\n" for line in lines))
    edit(small / "study.toml", "[rows.reader]", f'test = "{small}/test.jsonl"\n[rows.reader]')
    with pytest.raises(
        CorpusError, match=r"test\.jsonl: no question has a known answer, so there is nothing to measure"
    ):
        finished(small)


def test_the_threads_of_one_row_are_not_those_of_the_next(small):
    before = torch.get_num_threads()
    edit(small / "reader.toml", "threads = 1", f"threads = {before + 1}")
    finished(small)
    assert torch.get_num_threads() == before


def test_many_readers_are_told_apart_in_a_picture_of_shares():
    trials = [Trial(f"${number}$", "c", share, 1, None) for number in range(16) for share in (0.5, 1.0)]
    parts = {"validation": {"accuracy": 0.5, "interval": (0.4, 0.6)}}
    results = [Result(t.key, t.row, t.corpus, t.fraction, t.seed, parts, {"reader": {}}) for t in trials]
    figure = study_picture(Study("many", trials, {"c": {"train": "t", "validation": "v"}}), results)
    assert figure.get_supxlabel().startswith("How to read it: a dot is the mean over the seeds")
    (axes,) = figure.axes
    lines = [bars.lines[0] for bars in axes.containers if isinstance(bars, ErrorbarContainer)]
    assert len({(line.get_color(), line.get_marker()) for line in lines}) == 16
    legend = axes.get_legend()
    assert legend is not None
    assert not any(text.get_parse_math() for text in legend.get_texts())


def test_a_picture_of_many_corpora_is_no_wider():
    corpora = {f"corpus {number}": {"train": "t", "validation": "v"} for number in range(5)}
    trials = [
        Trial("a row of a very long name, which says all its settings", corpus, 1.0, 1, None) for corpus in corpora
    ]
    parts = {"validation": {"accuracy": 0.5, "interval": (0.4, 0.6)}}
    results = [Result(t.key, t.row, t.corpus, t.fraction, t.seed, parts, {"reader": {}}) for t in trials]
    figure = study_picture(Study("many", trials, corpora), results)
    assert [axes.get_title() for axes in figure.axes] == [f"{corpus}, validation" for corpus in corpora]
    assert figure.get_figwidth() < 12
    labels = [[label.get_text() for label in axes.get_yticklabels()] for axes in figure.axes]
    assert labels == [["a row of a very long name, which says a…"], [""]] * 2 + [
        ["a row of a very long name, which says a…"]
    ]
    assert figure.get_supxlabel().startswith("How to read it: a dot is one training run")
