"""Learning curves."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gareader.errors import GareaderError
from gareader.plots.figures import COLOURS, empty_figure
from gareader.training import METRICS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
