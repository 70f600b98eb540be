"""The table of a study in Markdown: accuracies with intervals, published accuracies, and p values of differences."""

from collections.abc import Callable
from pathlib import Path
from statistics import fmean

from gareader.core.errors import GareaderError
from gareader.measuring.comparison import Outcomes, compare_with_models, read_outcomes
from gareader.studies.markdown import accuracy_cell, table
from gareader.studies.study.plan import SPLITS, Study
from gareader.studies.study.results import Result

COSTS = ("weights", "questions read", "minutes")


def markdown(study: Study, results: dict[str, Result], predictions: Callable[[str, str], Path]) -> str:
    """A row for each reader and fraction, two or three columns for each corpus and split."""
    columns = [(corpus, split) for corpus in study.corpora for split in study.splits(corpus)]
    p_values = _p_values(study, results, predictions)
    fractions = sorted({trial.fraction for trial in study.trials if trial.experiment})
    head = ["", *(["share"] if len(fractions) > 1 else [])]
    for corpus, split in columns:
        head += [f"{corpus} {study.label(corpus, split)}", "published", *(["p"] if study.against else [])]
    rows = []
    for row, fraction in dict.fromkeys((trial.row, trial.fraction) for trial in study.trials):
        cells = [row, *([f"{fraction:g}" if fraction else "–"] if len(fractions) > 1 else [])]
        of_row = [r for r in results.values() if (r.row, r.fraction) == (row, fraction)]
        for corpus, split in columns:
            published = study.published.get(row, {}).get(corpus, [None, None])[SPLITS.index(split)]
            cells += [
                _accuracy([r for r in of_row if r.corpus == corpus], split),
                "–" if published is None else f"{published:.1f}",
            ]
            if study.against:
                cells.append(p_values.get((row, fraction, corpus, split), ""))
        rows.append([*cells, *_costs(of_row)])
    lines = [
        f"# {study.title}",
        "",
        *table([*head, *COSTS], rows),
        "",
        "Accuracy in percent with its 95 % Wilson interval; of several seeds the mean, and the least and most.",
    ]
    if any(result.settings for result in results.values()):
        lines.append("Questions read and minutes are of training, the mean over corpora and seeds; weights the most.")
    if study.against:
        lines.append(
            f"p: exact one-sided McNemar test whether {_better(study.against)}, the first seed of each; adjusted by "
            "Holm’s method for all rows of a column that are compared with the same row and share."
        )
    return "\n".join(lines) + "\n"


def _accuracy(results: list[Result], split: str) -> str:
    """The accuracy with its interval; of several seeds the mean and the range."""
    reports = [result.splits[split] for result in results if split in result.splits]
    if not reports:
        return "…"
    if len(reports) == 1:
        return accuracy_cell(reports[0]["accuracy"], reports[0]["interval"])
    percentages = [100 * report["accuracy"] for report in reports]
    return f"{fmean(percentages):.1f} ({min(percentages):.1f} to {max(percentages):.1f})"


def _better(against: dict[str, str]) -> str:
    """The hypothesis of the test in words."""
    rivals = {other: [row for row in against if against[row] == other] for other in against.values()}
    if len(rivals) == 1:
        return f"“{next(iter(rivals))}” is better"
    return " and ".join(f"“{other}” is better than “{'”, “'.join(rows)}”" for other, rows in rivals.items())


def _costs(results: list[Result]) -> list[str]:
    """The number of trained weights, the training questions read, and the minutes of training."""
    trained = [result for result in results if result.settings]
    if not trained:
        return ["–"] * len(COSTS)
    read, minutes = (fmean(values) for values in zip(*((r.examples, r.minutes) for r in trained), strict=True))
    return [f"{max(r.parameters for r in trained):,}", f"{read:,.0f}", f"{minutes:.1f}"]


def _p_values(
    study: Study, results: dict[str, Result], predictions: Callable[[str, str], Path]
) -> dict[tuple[str, float, str, str], str]:
    """The p value that the reference row is better, on the same questions and with the same fraction.

    The keys are row, fraction, corpus and split. A baseline has no fraction: it is compared with the largest fraction
    of its reference row, and each fraction of a row with a baseline that is its reference.
    """
    p_values: dict[tuple[str, float, str, str], str] = {}
    first = {(r.row, r.fraction, r.corpus): r for r in sorted(results.values(), key=lambda r: -r.seed)}
    rivals: dict[str, list[Result]] = {}  # the results to compare, by the key of their reference
    for (row, fraction, corpus), result in first.items():
        reference = study.against.get(row)
        fractions = {share for name, share, where in first if (name, where) == (reference, corpus)}
        if reference and fractions:
            key = first[reference, fraction if fraction in fractions else max(fractions), corpus].key
            rivals.setdefault(key, []).append(result)
    for key, others in rivals.items():
        for split in study.splits(results[key].corpus):
            ours = _outcomes(predictions(key, split))
            if ours is None:
                continue
            pairs = [(rival, _outcomes(predictions(rival.key, split))) for rival in others]
            same = [(r, theirs) for r, theirs in pairs if theirs and theirs.correct.keys() == ours.correct.keys()]
            comparisons = compare_with_models(ours, [theirs for _, theirs in same])
            for (rival, _), comparison in zip(same, comparisons, strict=True):
                p_values[rival.row, rival.fraction, rival.corpus, split] = f"{comparison.p_value:.2g}"
    return p_values


def _outcomes(path: Path) -> Outcomes | None:
    """The outcomes of a prediction file; None if it is gone, for the accuracies are still known."""
    try:
        return read_outcomes(path)
    except GareaderError:
        return None
