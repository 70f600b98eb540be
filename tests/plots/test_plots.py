"""Learning curves and readers side by side: what is drawn, the kinds of files, and what cannot be drawn."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from gareader.core.errors import GareaderError
from gareader.core.significance import wilson_interval
from gareader.plots.analysis import analysis_picture
from gareader.plots.comparison import comparison_picture
from gareader.plots.curves import learning_curves, read_metrics, run_names
from gareader.plots.figures import COLOURS, empty_figure, how_to_read, save
from gareader.training.run import METRICS

MARKS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def run_folder(folder, losses=(1.5, 0.9, 0.4, 0.2), validation_losses=(0.8, 0.3)):
    """A run with a line of metrics every 32 examples and a validation every 64."""
    folder.mkdir(parents=True)
    lines = []
    for number, loss in enumerate(losses, 1):
        place = {"step": number, "epoch": 1, "examples": 32 * number, "examples_per_second": 9.0}
        lines.append({**place, "loss": loss, "accuracy": number / 10, "learning_rate": 0.01 / number})
        if number % 2 == 0:
            checked = {"accuracy": 0.5, "interval": wilson_interval(10, 20), "loss": validation_losses[number // 2 - 1]}
            lines.append({**place, **{f"validation_{name}": value for name, value in checked.items()}})
    (folder / METRICS).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


@pytest.mark.parametrize("kind", MARKS)
@pytest.mark.parametrize("count", [1, 2])
def test_a_picture_of_every_kind(tmp_path, kind, count):
    runs = [run_folder(tmp_path / f"run{number}") for number in range(count)]
    out = tmp_path / "pictures" / f"curves.{kind.upper() if count == 2 else kind}"
    out.parent.mkdir()
    save(learning_curves(runs), out)
    assert out.read_bytes().startswith(MARKS[kind])
    assert out.stat().st_size > 5000
    assert list(out.parent.iterdir()) == [out]


def legend_texts(figure: Figure) -> list[Text]:
    (legend,) = figure.legends
    return legend.get_texts()


def points(line: Line2D) -> list[list[float]]:
    return [[float(x), float(y)] for x, y in np.asarray(line.get_xydata())]


def test_what_is_drawn(tmp_path):
    first, second = run_folder(tmp_path / "first"), run_folder(tmp_path / "second", losses=(1.0, 0.5))
    figure = learning_curves([first, second])
    loss, accuracy, rate = figure.axes
    assert [text.get_text() for text in legend_texts(figure)] == [
        "first, training",
        "first, validation",
        "second, training",
        "second, validation",
    ]
    training, validation, other, _ = loss.lines
    assert points(training) == [[32, 1.5], [64, 0.9], [96, 0.4], [128, 0.2]]
    assert points(validation) == [[64, 0.8], [128, 0.3]]
    assert points(other) == [[32, 1.0], [64, 0.5]]
    assert [line.get_color() for line in loss.lines] == [COLOURS[0], COLOURS[0], COLOURS[1], COLOURS[1]]
    assert np.asarray(accuracy.lines[0].get_ydata()) == pytest.approx([10, 20, 30, 40])
    assert points(accuracy.lines[1]) == [[64, 50], [128, 50]]
    low, high = wilson_interval(10, 20)
    band = np.asarray(accuracy.collections[0].get_paths()[0].vertices)
    assert (band[:, 1].min(), band[:, 1].max()) == pytest.approx((100 * low, 100 * high))
    assert np.asarray(rate.lines[0].get_ydata()) == pytest.approx([0.01, 0.005, 0.01 / 3, 0.0025])
    for axes in (loss, accuracy, rate):
        assert axes.get_title()
        assert axes.get_xlabel() == "examples seen"
        assert axes.get_xlim()[0] == 0


def test_runs_of_the_same_name_are_told_apart(tmp_path):
    first, second = run_folder(tmp_path / "a" / "run"), run_folder(tmp_path / "b" / "run")
    labels = [text.get_text() for text in legend_texts(learning_curves([first, second]))]
    ends = [run if len(run) <= 40 else "…" + run[-39:] for run in (str(first), str(second))]
    assert labels[::2] == [f"{end}, training" for end in ends]
    assert ends[0][-5:] == "a/run"


def test_names_of_runs_are_short_but_never_alike():
    long, same = "x" * 60, "y" * 60
    assert run_names([Path("runs/one"), Path("runs") / long]) == ["one", "x" * 39 + "…"]
    assert run_names([Path("a") / same, Path("b") / same]) == [f"a/{same}", f"b/{same}"]


def test_many_runs_are_told_apart_by_their_lines(tmp_path):
    runs = [run_folder(tmp_path / f"run $ {number} $") for number in range(2 * len(COLOURS))]
    figure = learning_curves(runs)
    loss = figure.axes[0]
    looks = [(line.get_color(), line.get_linestyle()) for line in loss.lines[::2]]
    assert len(set(looks)) == len(runs)
    assert not any(text.get_parse_math() for text in legend_texts(figure))


def test_pictures_say_how_they_are_read(tmp_path):
    figure = learning_curves([run_folder(tmp_path / "run")])
    assert figure.get_supxlabel().startswith("How to read it: pale lines are batches of training")
    figure = comparison_picture(results_file(tmp_path / "all.jsonl", {"reader": "A"}))
    assert figure.get_supxlabel().startswith("How to read it: a dot is the accuracy of one reader")
    narrow, wide = empty_figure(3, 2), empty_figure(12, 2)
    for each in (narrow, wide):
        how_to_read(each, "How to read it: " + "a dollar $ " * 12)
    assert narrow.get_figheight() > wide.get_figheight() > 2  # its lines are added to the picture


def test_an_analysis_says_how_it_is_read_and_shortens_its_labels():
    group = {"examples": 1200, "accuracy": 0.7, "interval": [0.6, 0.8]}
    groups = [{**group, "aspect": "length", "name": name} for name in ("short", "N" * 60)]
    calibration = {"bins": [{"confidence": 0.5, "accuracy": 0.6, "interval": [0.5, 0.7]}], "error": 0.1}
    measured = {"groups": groups, "accuracy": 0.7, "calibration": calibration, "calibration_cross_fitted": calibration}
    figure = analysis_picture(measured)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["short  (1,200)", "N" * 39 + "…  (1,200)"]
    assert figure.get_supxlabel().startswith("How to read it: left, a dot is the share of right answers")


def test_long_labels_end_in_an_ellipsis(tmp_path):
    long = {"reader": "R" * 60, "corpus": "x"}
    (label,) = comparison_picture(results_file(tmp_path / "one.jsonl", long)).axes[0].get_yticklabels()
    assert label.get_text() == "R" * 39 + "…"


def results_file(path, *rows):
    path.write_text("".join(json.dumps({"interval": [0.1, 0.9], "accuracy": 0.5, **row}) + "\n" for row in rows))
    return path


def test_readers_on_several_corpora_are_told_apart(tmp_path):
    one = results_file(tmp_path / "one.jsonl", {"reader": "A", "corpus": "x"}, {"reader": "B", "corpus": "x"})
    labels = comparison_picture(one).axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == ["A", "B"]
    both = results_file(tmp_path / "both.jsonl", {"reader": "A", "corpus": "x"}, {"reader": "A", "corpus": "y"})
    labels = comparison_picture(both).axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == ["A, x", "A, y"]


def test_a_run_that_was_not_validated_yet_or_has_no_answer_in_a_document(tmp_path):
    early = run_folder(tmp_path / "early", losses=(1.5,))
    odd = run_folder(tmp_path / "odd", validation_losses=(None, 0.3))
    all_odd = run_folder(tmp_path / "all odd", validation_losses=(None, None))
    save(learning_curves([early, odd, all_odd]), tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(MARKS["png"])


def test_a_line_that_was_cut_off_is_left_out(tmp_path):
    run = run_folder(tmp_path / "run")
    whole = read_metrics(run)
    with (run / METRICS).open("a") as file:
        file.write('{"step": 5, "los')
    assert read_metrics(run) == whole
    assert len(whole) == 6


def test_a_folder_without_metrics(tmp_path):
    with pytest.raises(GareaderError, match=r"no metrics of a run can be read there .* name a folder made by train"):
        learning_curves([tmp_path])
    (tmp_path / METRICS).write_text("no json\n")
    with pytest.raises(GareaderError, match="no metrics of a run can be read there"):
        learning_curves([tmp_path])
    (tmp_path / METRICS).write_text('{"step": 5, "los')
    with pytest.raises(GareaderError, match="nothing has been measured yet"):
        learning_curves([tmp_path])


@pytest.mark.parametrize("name", ["curves", "curves.doc", ".png"])
def test_an_unknown_kind_of_picture(tmp_path, name):
    with pytest.raises(GareaderError) as error:
        save(learning_curves([run_folder(tmp_path / "run")]), tmp_path / name)
    assert str(error.value) == f"{tmp_path / name}: a picture is PNG, SVG or PDF; end its name with .png, .svg, .pdf"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_failure_leaves_the_old_picture(tmp_path, monkeypatch):
    figure, out = learning_curves([run_folder(tmp_path / "run")]), tmp_path / "curves.png"
    out.write_text("old")

    def fail(path, **options):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(OSError, match="No space left"):
        save(figure, out)
    assert out.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"run", "curves.png"}


def test_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(GareaderError, match=r"this needs matplotlib, .*; type: .*pip install .*\[plot\]'"):
        learning_curves([tmp_path])
