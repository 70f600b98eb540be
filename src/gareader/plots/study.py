"""The picture of a study: accuracies with intervals beside what was published, or accuracy against training data."""

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from gareader.errors import GareaderError
from gareader.plots.figures import COLOURS, empty_figure
from gareader.study import Result, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKERS = "osD^vP*"


def study_picture(study: Study, results: Sequence[Result]) -> "Figure":
    """A panel for each corpus; with several shares of the training questions, a line for each reader.

    Accuracies are of the test questions where every corpus has some, else of the validation questions.
    """
    part = "test" if all("test" in study.parts(corpus) for corpus in study.corpora) else "validation"
    corpora = [name for name in study.corpora if any(r.corpus == name and part in r.parts for r in results)]
    if not corpora:
        raise GareaderError(f"the study has no result on {part} questions yet; run it first")
    shares = sorted({result.fraction for result in results if result.settings})
    rows = [row for row in dict.fromkeys(t.row for t in study.trials) if any(r.row == row for r in results)]
    height = 1.3 + 0.3 * len(rows) if len(shares) < 2 else 4.2
    first = [r for r in results if r.corpus == corpora[0] and part in r.parts]
    order = sorted(rows, key=lambda row: _share(first, row, part))
    figure = empty_figure(2.6 + 4.4 * len(corpora), height)
    for number, axes in enumerate(figure.subplots(1, len(corpora), squeeze=False)[0]):
        mine = [r for r in results if r.corpus == corpora[number] and part in r.parts]
        axes.set_title(f"{corpora[number]}, {part}", fontsize=9, parse_math=False)
        axes.grid(alpha=0.25)
        if len(shares) < 2:
            _dots(axes, study, order, mine, corpora[number], part, labelled=number == 0)
        else:
            _lines(axes, rows, mine, part)
    return figure


def _share(results: list[Result], row: str, part: str) -> float:
    """The mean accuracy of a row; 0 where it has no result."""
    return fmean([r.parts[part]["accuracy"] for r in results if r.row == row] or [0.0])


def _dots(
    axes: Any, study: Study, order: list[str], results: list[Result], corpus: str, part: str, *, labelled: bool
) -> None:
    """A dot with its interval for each reader, the best of the first corpus on top; a diamond if one was published."""
    for place, row in enumerate(order):
        for result in (r for r in results if r.row == row):
            low, high = result.parts[part]["interval"]
            share = result.parts[part]["accuracy"]
            bars = [[100 * (share - low)], [100 * (high - share)]]
            axes.errorbar([100 * share], [place], xerr=bars, fmt="o", ms=5, lw=1.5, capsize=3, color=COLOURS[0])
        published = study.published.get(row, {}).get(corpus, [None, None])[0 if part == "validation" else 1]
        if published is not None:
            axes.plot([published], [place], "D", ms=5, mfc="none", color=COLOURS[1])
    axes.set_yticks(range(len(order)), order if labelled else [""] * len(order), fontsize=8, parse_math=False)
    axes.set_ylim(-0.6, len(order) - 0.4)
    axes.set_xlabel("accuracy, % (dot and 95 % interval: here; diamond: published)", fontsize=8)


def _lines(axes: Any, rows: list[str], results: list[Result], part: str) -> None:
    """Accuracy against the share of the training questions; a baseline, which needs none, is a line across."""
    for number, row in enumerate(rows):
        mine = [r for r in results if r.row == row]
        colour = COLOURS[number % len(COLOURS)]
        style = MARKERS[(number + number // len(COLOURS)) % len(MARKERS)]  # no two rows of 49 look alike
        if any(r.settings is None for r in mine):
            axes.axhline(100 * mine[0].parts[part]["accuracy"], ls="--", lw=1.2, color=colour, label=row)
            continue
        points = sorted({r.fraction for r in mine})
        at = [[r.parts[part] for r in mine if r.fraction == share] for share in points]
        means = [100 * fmean(report["accuracy"] for report in reports) for reports in at]
        below, above = (
            [
                abs(mean - 100 * fmean(report["interval"][end] for report in reports))
                for mean, reports in zip(means, at, strict=True)
            ]
            for end in (0, 1)
        )
        shares = [100 * share for share in points]
        axes.errorbar(
            shares, means, yerr=[below, above], fmt=f"{style}-", color=colour, label=row, ms=5, lw=1.5, capsize=3
        )
    axes.set_xlabel("training questions, %")
    axes.set_ylabel("accuracy, % (bars: 95 % interval)")
    for text in axes.legend(fontsize=8).get_texts():
        text.set_parse_math(False)
