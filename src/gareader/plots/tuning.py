"""The pictures of a sweep: the importance of settings, and parallel coordinates of all trials."""

from collections.abc import Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, Any

from gareader.core.errors import GareaderError
from gareader.core.terminal import short
from gareader.plots.figures import COLOURS, empty_figure, how_to_read
from gareader.studies.tuning.report import TrialSummary
from gareader.studies.tuning.space import Setting, Space

if TYPE_CHECKING:
    from matplotlib.figure import Figure


WIDEST, FEW = 10.5, 5
"""The most inches of a picture of trials, and the most settings whose names fit side by side."""


def importance_picture(importance: Mapping[str, float]) -> "Figure":
    """Draw a bar for each setting, the most important on top."""
    if len(importance) < 2:
        raise GareaderError(
            "no picture of importance: it needs two tuned settings, and complete trials of which some are better"
        )
    order = sorted(importance, key=lambda name: importance[name])
    figure = empty_figure(7, 1.2 + 0.35 * len(order))
    axes = figure.subplots()
    shares = [100 * importance[name] for name in order]
    axes.barh(range(len(order)), shares, color=COLOURS[0], height=0.6)
    axes.set_yticks(range(len(order)), [short(name) for name in order])
    for place, share in enumerate(shares):
        axes.text(share, place, f" {share:.0f}", va="center", fontsize=8)
    axes.tick_params(axis="y", labelsize=8)
    axes.margins(x=0.1)
    axes.set_xlabel("importance, % (PED-ANOVA)")
    axes.grid(alpha=0.25, axis="x")
    how_to_read(figure, "How to read it: a bar is a setting’s share in what sets the best quarter of the trials apart.")
    return figure


def parallel_picture(space: Space, trials: Sequence[TrialSummary]) -> "Figure":
    """Draw a line for each trial through its settings to its accuracy; trials that are not complete are grey."""
    measured = [trial for trial in reversed(trials) if trial.accuracy is not None]  # the best is drawn last, on top
    if not measured:
        raise GareaderError("no picture of the trials: none has been validated yet")
    figure = empty_figure(min(WIDEST, 2.5 + 1.6 * len(space.settings)), 4.2)  # raises an error without matplotlib
    from matplotlib import colormaps

    axes = figure.subplots()
    shares = [100 * (trial.accuracy or 0.0) for trial in measured]
    accuracy = Setting("validation accuracy, %", low=min(shares), high=max(max(shares), min(shares) + 0.1))
    scales = [*space.settings, accuracy]
    for trial, share in zip(measured, shares, strict=True):
        values = [*(trial.settings[setting.name] for setting in space.settings), share]
        heights = [_height(scale, value) for scale, value in zip(scales, values, strict=True)]
        colour = colormaps["viridis_r"](0.1 + 0.9 * heights[-1])  # from light for the worst to dark for the best
        shade, line_width = (colour, 1.6) if trial.state == "complete" else ("0.8", 0.9)
        axes.plot(range(len(heights)), heights, "o-", ms=3, clip_on=False, color=shade, lw=line_width)
    for place, scale in enumerate(scales):
        axes.axvline(place, color="0.4", lw=0.8, zorder=0)
        for value in _ticks(scale):
            label = f"{value:.3g}" if isinstance(value, float) else str(value)
            box = {"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.5}
            axes.text(place + 0.03, _height(scale, value), label, fontsize=7, va="center", bbox=box)
    names: dict[str, Any] = {"rotation": 20, "ha": "right"} if len(space.settings) > FEW else {}
    axes.set_xticks(range(len(scales)), [short(scale.name) for scale in scales], fontsize=8, **names)
    axes.tick_params(axis="x", length=0, pad=8)
    axes.set_yticks([])
    axes.set_ylim(-0.03, 1.03)
    axes.set_xlim(-0.1, len(scales) - 0.7)
    axes.spines[:].set_visible(False)
    line = "a line is one trial, through the values of its settings to its accuracy on the right"
    how_to_read(figure, f"How to read it: {line}; the better, the darker; grey: given up or not yet finished.")
    return figure


def _height(setting: Setting, value: Any) -> float:
    """The position of a value on its axis, from 0 to 1."""
    if setting.values:
        return setting.values.index(value) / (len(setting.values) - 1)
    if setting.log:
        return log(value / setting.low) / log(setting.high / setting.low)
    return float((value - setting.low) / (setting.high - setting.low))


def _ticks(setting: Setting) -> list[Any]:
    """The values that an axis labels."""
    if setting.count is not None and setting.count <= 8:
        return [setting.at(index) for index in range(setting.count)]
    heights = [quarter / 4 for quarter in range(5)]
    if setting.log:
        return [setting.tidy(setting.low * (setting.high / setting.low) ** height) for height in heights]
    return [setting.low + height * (setting.high - setting.low) for height in heights]
