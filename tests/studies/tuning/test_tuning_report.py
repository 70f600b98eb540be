"""The table, the best settings and the pictures of a sweep."""

import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from gareader.core.errors import GareaderError
from gareader.plots.figures import save
from gareader.plots.tuning import importance_picture, parallel_picture
from gareader.readers.settings import GatedAttentionConfig
from gareader.studies.tuning.plan import Plan
from gareader.studies.tuning.report import TrialSummary, best, best_settings, markdown
from gareader.studies.tuning.search import importance
from gareader.studies.tuning.space import Setting, Space, SweepConfig
from gareader.training.experiment import Experiment
from studies.tuning.sweeps import pretend_all, sweep_of, write_sweep

pytestmark = pytest.mark.slow

SPACE = Space(
    (
        Setting("reader.gate", values=("add", "multiply")),
        Setting("reader.dropout", low=0.1, high=0.5, step=0.1),
        Setting("train.learning_rate", low=1e-4, high=1e-2, log=True),
    ),
    SweepConfig(),
)


def outcome(trial, state, gate, dropout, rate, accuracy, **more):
    settings = {"reader.gate": gate, "reader.dropout": dropout, "train.learning_rate": rate}
    interval = None if accuracy is None else (accuracy - 0.02, accuracy + 0.02)
    return TrialSummary(trial, state, settings, accuracy, interval, **more)


FOUND = [
    outcome(4, "complete", "multiply", 0.3, 0.001, 0.75, update=1500, updates=2000, minutes=61.25, place="ada:/runs"),
    outcome(0, "complete", "add", 0.1, 0.01, 0.7, update=500, updates=2000, minutes=60.0),
    outcome(2, "pruned", "add", 0.5, 0.0001, 0.4, update=500, updates=500, minutes=15.0),
    outcome(3, "pruned", "add", 0.4, 0.01, None, problem="the loss is nan"),
    outcome(5, "running", "multiply", 0.2, 0.002, None),
]


def test_the_table():
    lines = markdown(SPACE, FOUND).splitlines()
    assert lines[0] == "# A sweep over reader.gate, reader.dropout, train.learning_rate"
    assert lines[4:9] == [
        "| 1 | 4 | multiply | 0.3 | 0.001 | 75.0 [73.0, 77.0] | 1,500 | 2,000 | 61.2 | complete |",
        "| 2 | 0 | add | 0.1 | 0.01 | 70.0 [68.0, 72.0] | 500 | 2,000 | 60.0 | complete |",
        "| – | 2 | add | 0.5 | 0.0001 | 40.0 [38.0, 42.0] | 500 | 500 | 15.0 | pruned |",
        "| – | 3 | add | 0.4 | 0.01 | … | – | – | – | diverged |",
        "| – | 5 | multiply | 0.2 | 0.002 | … | – | – | – | running |",
    ]


def test_a_trial_that_was_given_up_is_not_the_best():
    assert best(FOUND) == FOUND[0]
    assert best(FOUND[2:]) is None
    assert best([]) is None


def test_the_best_settings_say_where_they_come_from(tmp_path):
    data = {"train": 'a "quoted"\nname\x7f', "validation": "b"}
    plan = Plan({"data": data, "reader": {"hops": 2}}, SPACE)
    text = best_settings(plan, FOUND[0], "a\nname", 4, Path("out/best.toml"))
    assert text.splitlines()[:4] == [
        r'# The best of 4 trials of the sweep "a\nname": trial 4.',
        '# Command:   gareader train "out/best.toml"',
        "# Obtained:  75.0 [73.0, 77.0] % of the validation questions at update 1,500.",
        '# Reader:    "ada:/runs", trials/0004/best',
    ]
    settings = Experiment.from_table(tomllib.loads(text))
    assert settings == plan.experiment(FOUND[0].settings)
    assert settings.data.train == data["train"]
    assert isinstance(settings.reader_config, GatedAttentionConfig)
    assert (settings.reader_config.gate, settings.reader_config.hops) == ("multiply", 2)
    assert settings.train.learning_rate == 0.001


def test_each_trial_is_a_line_through_its_settings(tmp_path):
    figure = parallel_picture(SPACE, FOUND)
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_xticklabels()] == [
        "reader.gate",
        "reader.dropout",
        "train.learning_rate",
        "validation accuracy, %",
    ]
    heights = [np.asarray(line.get_ydata()) for line in axes.lines]
    ways = [way.tolist() for way in heights if len(way) == 4]
    assert ways == [pytest.approx(way) for way in ([0, 1, 0, 0], [0, 0, 1, 30 / 35], [1, 0.5, 0.5, 1])]
    assert axes.lines[0].get_color() == "0.8"  # given up
    labels = [text.get_text() for text in axes.texts]
    assert {"add", "multiply", "0.1", "0.5", "0.0001", "0.00316", "0.01", "75", "40"} <= set(labels)
    save(figure, tmp_path / "parallel.png")
    assert figure.get_supxlabel().startswith("How to read it: a line is one trial")
    with pytest.raises(GareaderError, match="no picture of the trials: none has been validated yet"):
        parallel_picture(SPACE, FOUND[3:])


def test_the_most_important_setting_is_on_top():
    figure = importance_picture({"a": 0.2, "b": 0.7, "c": 0.1})
    assert figure.get_supxlabel().startswith("How to read it: a bar is a setting’s share")
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["c", "a", "b"]
    assert [bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle)] == pytest.approx([10, 20, 70])
    with pytest.raises(GareaderError, match="no picture of importance: it needs two tuned settings"):
        importance_picture({"a": 1.0})


def test_importance_is_that_of_the_finished_trials(tmp_path):
    space = "[train.learning_rate]\nlow = 0.1\nhigh = 9.9\n[reader.dropout]\nlow = 0.0\nhigh = 0.001\n"
    write_sweep(tmp_path, space)
    with sweep_of(tmp_path) as sweep:
        assert importance(sweep.ledger.study) == {}
        pretend_all(sweep, 12)
        found = importance(sweep.ledger.study)
    assert found["train.learning_rate"] > 0.7  # the accuracies are made up from the sum, which it decides
    assert sum(found.values()) == pytest.approx(1)


def test_trials_that_are_all_alike_say_nothing_about_importance(tmp_path):
    with sweep_of(write_sweep(tmp_path)) as sweep:
        while trial := sweep.next(4):
            sweep.ledger.study.tell(trial.number, 0.5)
        assert importance(sweep.ledger.study) == {}


def test_pictures_need_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(GareaderError, match=r"this needs matplotlib, which is not installed; type: .*pip install"):
        parallel_picture(SPACE, FOUND)
