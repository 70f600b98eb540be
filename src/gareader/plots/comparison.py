"""The picture of accuracies side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gareader.core.errors import CorpusError
from gareader.core.files import read_small
from gareader.core.parsing import json_object
from gareader.core.terminal import short
from gareader.plots.figures import COLOURS, empty_figure, error_bars, how_to_read

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def comparison_picture(results: Path) -> "Figure":
    """Draw the accuracy of each reader with its interval, the best on top."""
    rows = sorted(read_accuracies(results), key=lambda row: row["accuracy"])
    figure = empty_figure(8, 1.2 + 0.3 * len(rows))
    axes = figure.subplots()
    shares = [100 * row["accuracy"] for row in rows]
    axes.errorbar(shares, range(len(rows)), xerr=error_bars(rows), fmt="o", ms=5, lw=1.5, capsize=3, color=COLOURS[0])
    for place, (row, share) in enumerate(zip(rows, shares, strict=True)):
        axes.text(100 * row["interval"][1], place, f"  {share:.1f}", va="center", fontsize=8)
    several = len({row["corpus"] for row in rows}) > 1
    names = [
        short(row["reader"]) if not several else f"{short(row['reader'], 30)}, {short(row['corpus'], 20)}"
        for row in rows
    ]
    axes.set_yticks(range(len(rows)), names, fontsize=8, parse_math=False)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.margins(x=0.12)
    axes.set_xlabel("accuracy, %")
    axes.grid(alpha=0.25, axis="x")
    test = "gareader compare tests whether two of them differ"
    how_to_read(figure, f"How to read it: a dot is the accuracy of one reader, its bar the 95 % interval; {test}.")
    return figure


def read_accuracies(path: Path) -> list[dict[str, Any]]:
    """Read the lines of `gareader evaluate --results`: reader, corpus, accuracy and interval."""
    rows = []
    try:
        lines = read_small(path).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"cannot be read: {error}", path) from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                row = json_object(line)
                low, high = map(float, row["interval"])
                known = {"accuracy": float(row["accuracy"]), "interval": (low, high), "reader": str(row["reader"])}
                rows.append({"corpus": str(row.get("corpus")), **known})
            except (ArithmeticError, ValueError, TypeError, KeyError) as error:
                problem = f"no result of a reader ({error}); make the lines with gareader evaluate --results"
                raise CorpusError(problem, path, number) from None
    if not rows:
        raise CorpusError("holds no results; make them with gareader evaluate --results", path)
    return rows
