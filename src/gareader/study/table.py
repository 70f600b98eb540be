"""The table of a study in Markdown: accuracies with intervals, what was published, and whether a difference is real."""

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

from gareader.comparison import Outcomes, compare_with_readers, read_outcomes
from gareader.errors import GareaderError
from gareader.study.plan import PARTS, Study
from gareader.study.results import Result

COSTS = ("weights", "questions read", "minutes")


def markdown(study: Study, results: dict[str, Result], predictions: Callable[[str, str], Path]) -> str:
    """A row for each reader and fraction, three columns for each corpus and part."""
    columns = [(corpus, part) for corpus in study.corpora for part in study.parts(corpus)]
    p_values = _p_values(study, results, predictions, columns)
    fractions = sorted({trial.fraction for trial in study.trials if trial.experiment})
    head = ["", *(["share"] if len(fractions) > 1 else [])]
    for corpus, part in columns:
        head += [f"{corpus} {part}", "published", *(["p"] if study.against else [])]
    lines = [f"# {study.title}", "", _line([*head, *COSTS]), "|---" * (len(head) + len(COSTS)) + "|"]
    for row, fraction in dict.fromkeys((trial.row, trial.fraction) for trial in study.trials):
        cells = [row, *([f"{fraction:g}" if fraction else "–"] if len(fractions) > 1 else [])]
        mine = [r for r in results.values() if (r.row, r.fraction) == (row, fraction)]
        for corpus, part in columns:
            found = [r for r in mine if r.corpus == corpus]
            published = study.published.get(row, {}).get(corpus, [None, None])[PARTS.index(part)]
            cells += [_accuracy(found, part), "–" if published is None else f"{published:.1f}"]
            if study.against:
                cells.append(p_values.get((row, fraction, corpus, part), ""))
        lines.append(_line([*cells, *_costs(mine)]))
    lines += [
        "",
        "Accuracy in percent with its 95 % Wilson interval; of several seeds the mean, and the least and most.",
    ]
    if study.against:
        lines.append(
            f"p: exact one-sided McNemar test whether “{study.against}” is better, the first seed of each; adjusted by "
            "Holm’s method for all rows of a column with the same share."
        )
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _accuracy(found: list[Result], part: str) -> str:
    reports = [result.parts[part] for result in found if part in result.parts]
    if not reports:
        return "…"
    shares = [100 * report["accuracy"] for report in reports]
    if len(reports) == 1:
        low, high = (100 * limit for limit in reports[0]["interval"])
        return f"{shares[0]:.1f} [{low:.1f}, {high:.1f}]"
    return f"{fmean(shares):.1f} ({min(shares):.1f} to {max(shares):.1f})"


def _costs(found: list[Result]) -> list[str]:
    """Weights that are trained, and of several seeds the mean of questions read in training and of its minutes."""
    trained = [result for result in found if result.settings]
    if not trained:
        return ["–"] * len(COSTS)
    read, minutes = (fmean(values) for values in zip(*((r.examples, r.minutes) for r in trained), strict=True))
    return [f"{max(r.parameters for r in trained):,}", f"{read:,.0f}", f"{minutes:.1f}"]


def _p_values(
    study: Study, results: dict[str, Result], predictions: Callable[[str, str], Path], columns: list[tuple[str, str]]
) -> dict[tuple[str, float, str, str], str]:
    """Whether the chosen row is better than each other row, on the same questions and with the same share.

    A baseline, which has none, is compared with the largest share of the chosen row, or with each if it is chosen.
    """
    found: dict[tuple[str, float, str, str], str] = {}
    first = {(r.row, r.fraction, r.corpus): r for r in sorted(results.values(), key=lambda r: -r.seed)}
    shares = {trial.fraction for trial in study.trials if trial.row == study.against}
    rivals: dict[tuple[str, float], list[Result]] = {}
    for (row, fraction, corpus), result in first.items():
        if row != study.against:
            share = fraction if fraction in shares else max(shares, default=0.0)
            rivals.setdefault((corpus, share), []).append(result)
    for corpus, part in columns:
        for share in shares:
            chosen = first.get((study.against or "", share, corpus))
            ours = chosen and _outcomes(predictions(chosen.key, part))
            if not ours:
                continue
            others = [(r, _outcomes(predictions(r.key, part))) for r in rivals.get((corpus, share), [])]
            same = [(r, theirs) for r, theirs in others if theirs and theirs.correct.keys() == ours.correct.keys()]
            comparisons = compare_with_readers(ours, [theirs for _, theirs in same])
            for (rival, _), comparison in zip(same, comparisons, strict=True):
                found[rival.row, rival.fraction, corpus, part] = f"{comparison.p_value:.2g}"
    return found


def _outcomes(path: Path) -> Outcomes | None:
    """None where predictions were moved away: the accuracies still stand."""
    try:
        return read_outcomes(path)
    except GareaderError:
        return None
