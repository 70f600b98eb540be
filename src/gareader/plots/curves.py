"""Learning curves."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gareader.core.errors import GareaderError
from gareader.core.terminal import short
from gareader.plots.figures import CHARACTERS, COLOURS, empty_figure, how_to_read
from gareader.training.run import metrics_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLES = ("-", "--", ":", "-.")


def learning_curves(runs: Sequence[Path]) -> "Figure":
    """Draw loss, accuracy and learning rate of runs against the number of training examples read."""
    figure = empty_figure(11, 3.4)  # raises an error without matplotlib
    from matplotlib.ticker import MaxNLocator

    loss, accuracy, rate = figure.subplots(1, 3)
    names = run_names(runs)
    for number, run in enumerate(runs):
        line: dict[str, Any] = {
            "color": COLOURS[number % len(COLOURS)],
            "ls": STYLES[number // len(COLOURS) % len(STYLES)],
        }
        faint, dotted = {**line, "alpha": 0.45, "lw": 1}, {**line, "marker": "o", "ms": 3}
        metrics = read_metrics(run)
        updates = [row for row in metrics if "loss" in row]
        validations = [row for row in metrics if "validation_accuracy" in row]
        at_updates = [row["examples"] for row in updates]
        at_validations = [row["examples"] for row in validations]
        name = names[number]
        loss.plot(at_updates, [row["loss"] for row in updates], label=f"{name}, training", **faint)
        losses = [row["validation_loss"] for row in validations]
        loss.plot(at_validations, losses, label=f"{name}, validation", clip_on=False, **dotted)
        accuracy.plot(at_updates, [100 * row["accuracy"] for row in updates], **faint)
        accuracy.plot(at_validations, [100 * row["validation_accuracy"] for row in validations], **dotted)
        low, high = zip(*(row["validation_interval"] for row in validations), strict=True) if validations else ((), ())
        shade = {"color": line["color"], "alpha": 0.15, "lw": 0}
        accuracy.fill_between(at_validations, [100 * v for v in low], [100 * v for v in high], **shade)
        rate.plot(at_updates, [row["learning_rate"] for row in updates], **line)
    for axes, title in ((loss, "loss"), (accuracy, "accuracy, % (shaded: 95 % interval)"), (rate, "learning rate")):
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("examples seen")
        axes.grid(alpha=0.25)
        axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(lambda value, place: f"{value:,.0f}")
        axes.xaxis.set_major_locator(MaxNLocator(5))
    loss.set_ylim(bottom=0)
    rate.set_ylim(bottom=0)
    columns = max(1, int(CHARACTERS * figure.get_figwidth() / (max(map(len, names)) + len(", validation") + 8)))
    legend = figure.legend(loc="outside upper left", ncols=columns, fontsize=8, frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)
    over = "if the validation loss rises while the training loss falls, the reader learns its questions by heart"
    how_to_read(figure, f"How to read it: pale lines are batches of training, dots are validations; {over}.")
    return figure


def run_names(runs: Sequence[Path]) -> list[str]:
    """A name for each run, no two alike: that of its folder, or the end of its path, or all of it."""
    folders = [short(run.resolve().name) for run in runs]
    paths = [str(run) for run in runs]
    ends = [path if len(path) <= 40 else "…" + path[-39:] for path in paths]
    return next((names for names in (folders, ends) if len({*names}) == len({*paths})), paths)


def read_metrics(run: Path) -> list[dict[str, Any]]:
    """The metrics of a run that are drawn."""
    try:
        lines = [_checked(row) for row in metrics_of(run)]
    except (ArithmeticError, LookupError, OSError, TypeError, ValueError) as error:
        raise GareaderError(
            f"{run}: no metrics of a run can be read there ({error}); name a folder made by train"
        ) from None
    if not lines:
        raise GareaderError(f"{run}: nothing has been measured yet")
    return lines


def _checked(row: dict[str, Any]) -> dict[str, Any]:
    needed = ["examples"]
    needed += ["loss", "accuracy", "learning_rate"] if "loss" in row else []
    needed += ["validation_accuracy", "validation_loss"] if "validation_accuracy" in row else []
    numbers: dict[str, Any] = {name: float("nan" if row[name] is None else row[name]) for name in needed}
    if "validation_accuracy" in row:
        low, high = row["validation_interval"]
        numbers["validation_interval"] = float(low), float(high)
    return numbers
