"""The picture of an analysis: accuracy by kind of question, and calibration."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gareader.core.terminal import short
from gareader.plots.figures import COLOURS, empty_figure, error_bars, how_to_read

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def analysis_picture(analysis: Mapping[str, Any]) -> "Figure":
    """Draw the accuracy by kind of question and a reliability diagram of the output of `gareader analyse --json`."""
    groups = analysis["groups"]
    aspects = list(dict.fromkeys(group["aspect"] for group in groups))
    figure = empty_figure(11, max(4.2, 0.21 * (len(groups) + 1.6 * len(aspects))))
    kinds, reliability = figure.subplots(1, 2, width_ratios=(1, 1.3))
    _accuracy_of_groups(kinds, groups, analysis["accuracy"])
    reliability.plot([0, 100], [0, 100], color="black", lw=0.8, ls=":")
    before, after = analysis["calibration"], analysis["calibration_cross_fitted"]
    curves = (("as it is", before, 0), ("a temperature fitted on the other half", after, 1))
    for label, calibration, colour in curves:
        bins = calibration["bins"]
        label = f"{label}: mean distance {100 * calibration['error']:.1f} %"
        line = {"yerr": error_bars(bins), "fmt": "o-", "ms": 4, "lw": 1.2, "color": COLOURS[colour], "label": label}
        confidences, accuracies = ([100 * each[key] for each in bins] for key in ("confidence", "accuracy"))
        reliability.errorbar(confidences, accuracies, **line)
    reliability.set_title("answers of one confidence: how many are right", fontsize=10)
    reliability.set_xlabel("probability of the answer given, %")
    reliability.set_ylabel("right, % (bars: 95 % interval)")
    reliability.set_xlim(0, 100)
    reliability.set_ylim(0, 100)
    reliability.set_aspect("equal", anchor="N")
    reliability.grid(alpha=0.25)
    reliability.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    left = "left, a dot is the share of right answers among the questions of one kind, the dotted line that of all"
    right = "right, dots below the dotted line are answers that the model is too sure of, above it too unsure"
    how_to_read(figure, f"How to read it: {left}; {right}.")
    return figure


def _accuracy_of_groups(axes: Any, groups: Sequence[Mapping[str, Any]], accuracy: float) -> None:
    """Draw a dot with its interval for each group, one aspect below the other."""
    places, labels, row, aspect = [], [], 0.0, None
    for group in groups:
        if group["aspect"] != aspect:
            aspect = group["aspect"]
            row += 1.6
            place = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "center"}
            axes.text(-0.02, row - 1, aspect, fontsize=8, weight="bold", **place)
        places.append(row)
        labels.append(f"{short(group['name'])}  ({group['examples']:,})")
        row += 1
    shares = [100 * group["accuracy"] for group in groups]
    axes.errorbar(shares, places, xerr=error_bars(groups), fmt="o", ms=4, lw=1.2, color=COLOURS[0])
    axes.axvline(100 * accuracy, color="black", lw=0.8, ls=":")
    axes.set_yticks(places, labels, fontsize=8, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(row - 0.4, 0)
    axes.set_xlim(0, 100)
    axes.set_xlabel("right, % (bars: 95 % interval; dotted: all questions)")
    axes.set_title("by kind of question (how many)", fontsize=10)
    axes.grid(alpha=0.25, axis="x")
