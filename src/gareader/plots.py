"""Pictures: learning curves, and where a reader is right."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gareader.errors import GareaderError
from gareader.training import METRICS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
"""Okabe and Ito's, which colour-blind people tell apart too."""

KINDS = (".png", ".svg", ".pdf")


def learning_curves(runs: Sequence[Path]) -> "Figure":
    """Loss, accuracy and learning rate of runs against the examples they have seen."""
    figure = empty_figure(11, 3.4)
    loss, accuracy, rate = figure.subplots(1, 3)
    names = [run.resolve().name for run in runs]
    for number, run in enumerate(runs):
        colour = COLOURS[number % len(COLOURS)]
        lines = read_metrics(run)
        updates = [line for line in lines if "loss" in line]
        validations = [line for line in lines if "validation_accuracy" in line]
        seen = [line["examples"] for line in updates]
        checked = [line["examples"] for line in validations]
        name = names[number] if names.count(names[number]) == 1 else str(run)
        loss.plot(seen, [line["loss"] for line in updates], color=colour, alpha=0.45, lw=1, label=f"{name}, training")
        loss.plot(
            checked,
            [line["validation_loss"] for line in validations],
            "o-",
            color=colour,
            ms=3,
            clip_on=False,
            label=f"{name}, validation",
        )
        accuracy.plot(seen, [100 * line["accuracy"] for line in updates], color=colour, alpha=0.45, lw=1)
        accuracy.plot(checked, [100 * line["validation_accuracy"] for line in validations], "o-", color=colour, ms=3)
        low, high = (
            zip(*(line["validation_interval"] for line in validations), strict=True) if validations else ((), ())
        )
        accuracy.fill_between(checked, [100 * v for v in low], [100 * v for v in high], color=colour, alpha=0.15, lw=0)
        rate.plot(seen, [line["learning_rate"] for line in updates], color=colour)
    for axes, title in ((loss, "loss"), (accuracy, "accuracy, % (shaded: 95 % interval)"), (rate, "learning rate")):
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("examples seen")
        axes.grid(alpha=0.25)
        axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(lambda value, place: f"{value:,.0f}")
        axes.xaxis.set_major_locator(_few_ticks())
    loss.set_ylim(bottom=0)
    rate.set_ylim(bottom=0)
    loss.legend(fontsize=8, frameon=False)
    return figure


def analysis_picture(found: Mapping[str, Any]) -> "Figure":
    """Accuracy by kind of question, and a reliability diagram, from what `gareader analyse --json` prints."""
    groups = found["groups"]
    aspects = list(dict.fromkeys(group["aspect"] for group in groups))
    figure = empty_figure(11, max(4.2, 0.21 * (len(groups) + 1.6 * len(aspects))))
    kinds, reliability = figure.subplots(1, 2, width_ratios=(1, 1.3))
    _accuracy_of_groups(kinds, groups, found["accuracy"])
    reliability.plot([0, 100], [0, 100], color="black", lw=0.8, ls=":")
    before, after = found["calibration"], found["calibration_cross_fitted"]
    curves = (("as it is", before, 0), ("a temperature fitted on the other half", after, 1))
    for label, calibration, colour in curves:
        bins = calibration["bins"]
        reliability.errorbar(
            [100 * each["confidence"] for each in bins],
            [100 * each["accuracy"] for each in bins],
            yerr=_error_bars(bins),
            fmt="o-",
            ms=4,
            lw=1.2,
            color=COLOURS[colour],
            label=f"{label}: mean distance {100 * calibration['error']:.1f} %",
        )
    reliability.set_title("answers of one confidence: how many are right", fontsize=10)
    reliability.set_xlabel("probability of the answer given, %")
    reliability.set_ylabel("right, % (bars: 95 % interval)")
    reliability.set_xlim(0, 100)
    reliability.set_ylim(0, 100)
    reliability.set_aspect("equal", anchor="N")
    reliability.grid(alpha=0.25)
    reliability.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.12))
    return figure


def _accuracy_of_groups(axes: Any, groups: Sequence[Mapping[str, Any]], accuracy: float) -> None:
    """A dot with its interval for each group, the aspects under each other."""
    places, labels, row, aspect = [], [], 0.0, None
    for group in groups:
        if group["aspect"] != aspect:
            aspect = group["aspect"]
            row += 1.6
            axes.text(
                -0.02,
                row - 1,
                aspect,
                transform=axes.get_yaxis_transform(),
                ha="right",
                va="center",
                fontsize=8,
                weight="bold",
            )
        places.append(row)
        labels.append(f"{group['name']}  ({group['examples']:,})")
        row += 1
    axes.errorbar(
        [100 * group["accuracy"] for group in groups],
        places,
        xerr=_error_bars(groups),
        fmt="o",
        ms=4,
        lw=1.2,
        color=COLOURS[0],
    )
    axes.axvline(100 * accuracy, color="black", lw=0.8, ls=":")
    axes.set_yticks(places, labels, fontsize=8)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(row - 0.4, 0)
    axes.set_xlim(0, 100)
    axes.set_xlabel("right, % (bars: 95 % interval; dotted: all questions)")
    axes.set_title("by kind of question (how many)", fontsize=10)
    axes.grid(alpha=0.25, axis="x")


def _error_bars(measured: Sequence[Mapping[str, Any]]) -> list[list[float]]:
    """The lengths below and above each accuracy."""
    below = [100 * (each["accuracy"] - each["interval"][0]) for each in measured]
    above = [100 * (each["interval"][1] - each["accuracy"]) for each in measured]
    return [[max(0.0, length) for length in lengths] for lengths in (below, above)]


def empty_figure(width: float, height: float) -> "Figure":
    """A figure of so many inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise GareaderError("pictures need matplotlib; type: pip install 'gareader[plot]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: "Figure", path: Path) -> None:
    """Write a picture; the ending of the name decides its kind."""
    if path.suffix.lower() not in KINDS:
        raise GareaderError(f"{path}: a picture is PNG, SVG or PDF; end its name with {', '.join(KINDS)}")
    new = path.with_name(f".{path.name}.new")
    try:
        figure.savefig(new, format=path.suffix[1:].lower(), dpi=150)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(5)


def read_metrics(run: Path) -> list[dict[str, Any]]:
    """The lines of a run's metrics; a last line that was cut off is left out."""
    try:
        rows = (run / METRICS).read_text(encoding="utf-8").split("\n")[:-1]
        lines = [json.loads(row) for row in rows]
    except (OSError, ValueError) as error:
        raise GareaderError(
            f"{run}: no metrics of a run can be read there ({error}); name a folder made by train"
        ) from None
    if not lines:
        raise GareaderError(f"{run}: nothing has been measured yet")
    return lines
