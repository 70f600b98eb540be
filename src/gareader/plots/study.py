"""The picture of a study: accuracies beside published ones, or accuracy against the fraction of training questions."""

from collections.abc import Sequence
from math import ceil
from statistics import fmean
from typing import TYPE_CHECKING, Any

from gareader.core.errors import GareaderError
from gareader.core.terminal import short
from gareader.plots.figures import COLOURS, empty_figure, error_bars, how_to_read
from gareader.studies.study import Result, Study
from gareader.studies.study.plan import SPLITS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKERS = "osD^vP*"

COLUMNS = 2
"""The most panels side by side."""


def study_picture(study: Study, results: Sequence[Result]) -> "Figure":
    """Draw a panel for each corpus; with several fractions of the training questions, a line for each reader.

    Accuracies are those of the test split if every corpus has one, else those of the validation split.
    """
    split = "test" if all("test" in study.splits(corpus) for corpus in study.corpora) else "validation"
    corpora = [name for name in study.corpora if any(r.corpus == name and split in r.splits for r in results)]
    if not corpora:
        raise GareaderError(f"the study has no result on {split} questions yet; run it first")
    fractions = {result.fraction for result in results if result.settings}
    rows = [row for row in dict.fromkeys(t.row for t in study.trials) if any(r.row == row for r in results)]
    height = 1.3 + 0.3 * len(rows) if len(fractions) < 2 else 4.2
    first = [r for r in results if r.corpus == corpora[0] and split in r.splits]
    accuracies = {row: fmean([r.splits[split]["accuracy"] for r in first if r.row == row] or [0.0]) for row in rows}
    order = sorted(rows, key=lambda row: accuracies[row])
    lines, columns = ceil(len(corpora) / COLUMNS), min(len(corpora), COLUMNS)
    figure = empty_figure(2.6 + 4.4 * columns, height * lines)
    panels = figure.subplots(lines, columns, squeeze=False).flatten()
    for unused in panels[len(corpora) :]:
        unused.remove()
    for number, axes in enumerate(panels[: len(corpora)]):
        of_corpus = [r for r in results if r.corpus == corpora[number] and split in r.splits]
        axes.set_title(f"{short(corpora[number])}, {study.label(corpora[number], split)}", fontsize=9, parse_math=False)
        axes.grid(alpha=0.25)
        if len(fractions) < 2:
            _dots(axes, study, order, of_corpus, corpora[number], split, labelled=number % columns == 0)
        else:
            _lines(axes, rows, of_corpus, split)
    dot, other = "the mean over the seeds", "a dashed line is a baseline without training"
    if len(fractions) < 2:
        dot, other = "one training run", "a diamond is the published accuracy, if there is one"
    how_to_read(figure, f"How to read it: a dot is {dot}, its bar the 95 % interval; {other}.")
    return figure


def _dots(
    axes: Any, study: Study, order: list[str], results: list[Result], corpus: str, split: str, *, labelled: bool
) -> None:
    """Draw a dot with its interval for each result, and a diamond for each published accuracy."""
    for place, row in enumerate(order):
        for report in (r.splits[split] for r in results if r.row == row):
            bars = error_bars([report])
            axes.errorbar(
                [100 * report["accuracy"]], [place], xerr=bars, fmt="o", ms=5, lw=1.5, capsize=3, color=COLOURS[0]
            )
        published = study.published.get(row, {}).get(corpus, [None, None])[SPLITS.index(split)]
        if published is not None:
            axes.plot([published], [place], "D", ms=5, mfc="none", color=COLOURS[1])
    names = [short(row) if labelled else "" for row in order]
    axes.set_yticks(range(len(order)), names, fontsize=8, parse_math=False)
    axes.set_ylim(-0.6, len(order) - 0.4)
    axes.set_xlabel("accuracy, %", fontsize=8)


def _lines(axes: Any, rows: list[str], results: list[Result], split: str) -> None:
    """Draw accuracy against the fraction of the training questions; a baseline is a horizontal line."""
    for number, row in enumerate(rows):
        of_row = [r for r in results if r.row == row]
        colour = COLOURS[number % len(COLOURS)]
        style = MARKERS[(number + number // len(COLOURS)) % len(MARKERS)]  # no two rows of 49 look alike
        if any(r.settings is None for r in of_row):
            axes.axhline(100 * of_row[0].splits[split]["accuracy"], ls="--", lw=1.2, color=colour, label=short(row))
            continue
        fractions = sorted({r.fraction for r in of_row})
        reports_at = [[r.splits[split] for r in of_row if r.fraction == fraction] for fraction in fractions]
        means = [100 * fmean(report["accuracy"] for report in reports) for reports in reports_at]
        below, above = (
            [
                abs(mean - 100 * fmean(report["interval"][end] for report in reports))
                for mean, reports in zip(means, reports_at, strict=True)
            ]
            for end in (0, 1)
        )
        percentages = [100 * fraction for fraction in fractions]
        line = {"fmt": f"{style}-", "color": colour, "label": short(row), "ms": 5, "lw": 1.5, "capsize": 3}
        axes.errorbar(percentages, means, yerr=[below, above], **line)
    axes.set_xlabel("training questions, %")
    axes.set_ylabel("accuracy, % (bars: 95 % interval)")
    for text in axes.legend(fontsize=8).get_texts():
        text.set_parse_math(False)
