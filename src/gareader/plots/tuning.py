"""The pictures of a sweep: which settings mattered, and the way of every trial through their values."""

from collections.abc import Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, Any

from gareader.errors import GareaderError
from gareader.plots.figures import COLOURS, empty_figure
from gareader.tuning.report import Outcome
from gareader.tuning.space import Setting, Space

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def importance_picture(importance: Mapping[str, float]) -> "Figure":
    """A bar for each setting, the most important on top."""
    if len(importance) < 2:
        raise GareaderError(
            "no picture of importance: it needs two tuned settings, and complete trials of which some are better"
        )
    order = sorted(importance, key=lambda name: importance[name])
    figure = empty_figure(7, 1.2 + 0.35 * len(order))
    axes = figure.subplots()
    shares = [100 * importance[name] for name in order]
    axes.barh(order, shares, color=COLOURS[0], height=0.6)
    for place, share in enumerate(shares):
        axes.text(share, place, f" {share:.0f}", va="center", fontsize=8)
    axes.tick_params(axis="y", labelsize=8)
    axes.margins(x=0.1)
    axes.set_xlabel("share in what sets the best quarter of the trials apart, % (PED-ANOVA)")
    axes.grid(alpha=0.25, axis="x")
    return figure


def parallel_picture(space: Space, found: Sequence[Outcome]) -> "Figure":
    """A line for each trial through its settings to its accuracy; unfinished ones are grey."""
    measured = [each for each in reversed(found) if each.accuracy is not None]  # the best is drawn last, on top
    if not measured:
        raise GareaderError("no picture of the trials: none has been validated yet")
    figure = empty_figure(2.5 + 1.6 * len(space.settings), 4.2)
    axes = figure.subplots()
    shares = [100 * (each.accuracy or 0.0) for each in measured]
    accuracy = Setting("validation accuracy, %", low=min(shares), high=max(max(shares), min(shares) + 0.1))
    axes_drawn = [*space.settings, accuracy]
    for each, share in zip(measured, shares, strict=True):
        values = [*(each.settings[setting.name] for setting in space.settings), share]
        heights = [_height(setting, value) for setting, value in zip(axes_drawn, values, strict=True)]
        style = {"color": _colour(heights[-1]), "lw": 1.6} if each.state == "complete" else {"color": "0.8", "lw": 0.9}
        axes.plot(range(len(heights)), heights, "o-", ms=3, clip_on=False, **style)
    for place, setting in enumerate(axes_drawn):
        axes.axvline(place, color="0.4", lw=0.8, zorder=0)
        for value in _ticks(setting):
            box = {"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.5}
            axes.text(place + 0.03, _height(setting, value), _label(value), fontsize=7, va="center", bbox=box)
    axes.set_xticks(range(len(axes_drawn)), [setting.name for setting in axes_drawn], fontsize=8)
    axes.tick_params(axis="x", length=0, pad=8)
    axes.set_yticks([])
    axes.set_ylim(-0.03, 1.03)
    axes.set_xlim(-0.1, len(axes_drawn) - 0.7)
    axes.spines[:].set_visible(False)
    axes.set_title("the better, the darker; grey: given up or not yet finished", fontsize=9)
    return figure


def _colour(height: float) -> Any:
    """Light for the worst, dark for the best."""
    from matplotlib import colormaps

    return colormaps["viridis_r"](0.1 + 0.9 * height)


def _height(setting: Setting, value: Any) -> float:
    """Where a value is on its axis, from 0 to 1."""
    if setting.values:
        return setting.values.index(value) / (len(setting.values) - 1)
    if setting.log:
        return log(value / setting.low) / log(setting.high / setting.low)
    return float((value - setting.low) / (setting.high - setting.low))


def _ticks(setting: Setting) -> list[Any]:
    """The values to name on an axis."""
    if setting.count is not None and setting.count <= 8:
        return [setting.at(index) for index in range(setting.count)]
    parts = [quarter / 4 for quarter in range(5)]
    if setting.log:
        return [setting.tidy(setting.low * (setting.high / setting.low) ** part) for part in parts]
    return [setting.low + part * (setting.high - setting.low) for part in parts]


def _label(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
