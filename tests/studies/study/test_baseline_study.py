"""The table and the picture of a study of baselines on two corpora."""

import json
from itertools import pairwise

import numpy as np
import pytest

from gareader.core.significance import holm, mcnemar_test
from gareader.plots.study import study_picture
from gareader.studies.study import markdown
from studies.study.small_studies import finished

pytestmark = pytest.mark.slow

STUDY = """
against = "distance"
[corpora.things]
train = "{folder}/train.jsonl"
validation = "{folder}/validation.jsonl"
[corpora.others]
train = "{folder}/train.jsonl"
validation = "{folder}/test.jsonl"
[rows.window]
baseline = "sliding-window"
[rows.distance]
baseline = "word-distance"
[rows.frequency]
baseline = "most-frequent"
"""


@pytest.fixture
def studio(folder):
    (folder / "study.toml").write_text(STUDY.format(folder=folder))
    return finished(folder)


def test_p_values_are_adjusted_for_all_rows_of_a_column(studio):
    raw = {}
    for corpus in ("things", "others"):
        right = {
            row: [
                json.loads(line)["correct"]
                for line in studio.predictions(f"{row}--{corpus}--0--0", "validation").read_text().splitlines()
            ]
            for row in ("frequency", "distance", "window")
        }
        counts = [
            [
                sum(a > b for a, b in zip(*pair, strict=True))
                for pair in ((right["distance"], other), (other, right["distance"]))
            ]
            for other in (right["frequency"], right["window"])
        ]
        raw[corpus] = [mcnemar_test(*both) for both in counts]
    table = markdown(studio.study, studio.results(), studio.predictions)
    cells = {
        line.split(" | ")[0].strip("| "): [cell.strip() for cell in line.split("|")] for line in table.splitlines()
    }
    for place, corpus in ((4, "things"), (7, "others")):
        expected = [f"{p:.2g}" for p in holm(raw[corpus])]
        assert [cells[row][place] for row in ("frequency", "window")] == expected
        assert expected != [f"{p:.2g}" for p in raw[corpus]]
        assert cells["distance"][place] == ""
    assert "Holm" in table


def test_rows_may_be_compared_with_different_rows(folder):
    text = STUDY.replace('against = "distance"\n', "").replace(
        "[rows.window]\n", '[rows.window]\nagainst = "distance"\n'
    )
    (folder / "study.toml").write_text(
        text.replace("[rows.distance]\n", '[rows.distance]\nagainst = "frequency"\n').format(folder=folder)
    )
    studio = finished(folder)
    table = markdown(studio.study, studio.results(), studio.predictions)
    told = "whether “distance” is better than “window” and “frequency” is better than “distance”, the first seed"
    assert told in table
    p = {line.split(" | ")[0].strip("| "): line.split("|")[4].strip() for line in table.splitlines() if "[" in line}
    assert p["frequency"] == ""
    assert float(p["window"]) + float(p["distance"]) > 0


def test_a_baseline_has_accuracies_and_no_probabilities(studio):
    result = studio.results()["window--things--0--0"]
    assert set(result.splits["validation"]) == {"file", "examples", "correct", "accuracy", "interval"}


def test_a_reader_stands_at_the_same_height_for_every_corpus(studio):
    results = studio.results()
    first, second = study_picture(studio.study, list(results.values())).axes
    order = [label.get_text() for label in first.get_yticklabels()]
    drawn = [
        {int(y): x for line in axes.get_lines() if line.get_marker() == "o" for x, y in np.asarray(line.get_xydata())}
        for axes in (first, second)
    ]
    for corpus, dots in zip(("things", "others"), drawn, strict=True):
        for place, row in enumerate(order):
            accuracy = results[f"{row}--{corpus}--0--0"].splits["validation"]["accuracy"]
            assert dots[place] == pytest.approx(100 * accuracy)
    shares = [drawn[0][place] for place in range(3)]
    assert all(below <= above for below, above in pairwise(shares))  # the best on top
    assert order != [trial.row for trial in studio.study.trials[:3]]  # or any order would do
    assert [label.get_text() for label in second.get_yticklabels()] in ([], [""] * 3)
