"""The picture of how cost grows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gareader.benchmark.reading import Growth
from gareader.plots import COLOURS, empty_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {
    "document": "words of a document, 8 documents",
    "batch": "questions in a batch, 430 words each",
    "hidden": "GRU units per direction",
}


def growth_curves(results: Sequence[Growth]) -> "Figure":
    """One panel for each thing that grows; a line for each contender and number of threads."""
    kinds = list(dict.fromkeys(result.grows for result in results))
    names = list(results[0].seconds)
    counts = sorted({result.threads for result in results})
    figure = empty_figure(4 * len(kinds), 3.6)
    for axes, grows in zip(figure.subplots(1, len(kinds), squeeze=False)[0], kinds, strict=True):
        for result in results:
            if result.grows != grows:
                continue
            style = "-" if result.threads == counts[-1] else "--"
            for colour, name in zip(COLOURS, names, strict=False):
                label = f"{name}, {result.threads} thread{'s' * (result.threads > 1)}"
                axes.plot(result.values, result.seconds[name], f"o{style}", color=colour, ms=3.5, label=label)
        axes.set(xscale="log", yscale="log", xlabel=TITLES.get(grows, grows), ylabel="seconds of a training step")
        sizes = next(result.values for result in results if result.grows == grows)
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False, fontsize=7.5)
        axes.set_xticks([], minor=True)
        axes.yaxis.set_major_formatter(lambda value, place: f"{value:g}")
        axes.grid(alpha=0.25, which="both")
    figure.axes[0].legend(fontsize=7.5, frameon=False, handlelength=3)
    return figure
