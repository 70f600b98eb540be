"""How the cost of a training step grows with documents, batch and hidden size, on one thread and on all.

Example: `python -m benchmarks.growth growth.png --values 1 --repeats 1`
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.script import AtLeastOne, Json, Repeats, start
from gareader.benchmark.contenders import NATIVE, NN_GRU, Size
from gareader.benchmark.measure import side_by_side
from gareader.benchmark.reading import train
from gareader.core.distributed import cores
from gareader.plots.figures import COLOURS, check_picture, empty_figure, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Growth:
    """Seconds of a training step, native and on torch.nn.GRU, while one size grows, with a fixed number of threads."""

    grows: str
    """A key of GROWING."""
    values: list[int]
    threads: int
    seconds: dict[str, list[float]]


GROWING = {
    "document": [100, 200, 430, 1000, 2000, 3000],
    "batch": [1, 4, 16, 32, 64, 128],
    "hidden": [64, 128, 192, 256, 384],
}
TITLES = {
    "document": "words of a document, 8 documents",
    "batch": "questions in a batch, 430 words each",
    "hidden": "GRU units per direction",
}


def main(out: Path, *, values: AtLeastOne = 6, repeats: Repeats = 5, as_json: Json = False) -> None:
    """How the cost of a training step grows with documents, batch and hidden size, on one thread and on all.

    Parameters
    ----------
    out
        The picture: PNG, SVG or PDF.
    values
        How many sizes of each, from the smallest on.
    """
    check_picture(out)
    results = []
    for grows, sizes in GROWING.items():
        for count in sorted({1, cores()}):
            result = growth(grows, sizes[:values], count, repeats)
            results.append(result)
            if as_json:
                print(json.dumps(asdict(result)), flush=True)
                continue
            print(f"{grows}, {count} thread{'s' * (count > 1)}")
            for place, size in enumerate(result.values):
                row = "   ".join(f"{name} {times[place]:8.3f} s" for name, times in result.seconds.items())
                print(f"  {size:6,}   {row}", flush=True)
    save(growth_curves(results), out)
    if not as_json:
        print(f"picture: {out}")


def growth(grows: str, values: list[int], threads: int, repeats: int) -> Growth:
    """Let one size grow and keep the others at their defaults; growing documents come in batches of eight."""
    seconds: dict[str, list[float]] = {NATIVE: [], NN_GRU: []}
    for value in values:
        size = replace(Size(batch=8) if grows == "document" else Size(), **{grows: value})
        contenders = train(size)[0]
        works = {name: contenders[name] for name in seconds}
        times = side_by_side(works, repeats, dict.fromkeys(works, threads))
        for name in seconds:
            seconds[name].append(times[name].median)
    return Growth(grows, values, threads, seconds)


def growth_curves(results: Sequence[Growth]) -> "Figure":
    """Draw one panel for each growing size, with a line for each contender and number of threads."""
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


if __name__ == "__main__":
    start(main)
