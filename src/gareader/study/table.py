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
    p_values = _p_values(study, results, predictions)
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
    if any(result.settings for result in results.values()):
        lines.append("Questions read and minutes are of training, the mean over corpora and seeds; weights the most.")
    if study.against:
        lines.append(
            f"p: exact one-sided McNemar test whether {_better(study.against)}, the first seed of each; adjusted by "
            "Holm’s method for all rows of a column that are compared with the same row and share."
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


def _better(against: dict[str, str]) -> str:
    """What is tested."""
    chosen = {other: [row for row in against if against[row] == other] for other in against.values()}
    if len(chosen) == 1:
        return f"“{next(iter(chosen))}” is better"
    return " and ".join(f"“{other}” is better than “{'”, “'.join(rows)}”" for other, rows in chosen.items())


def _costs(found: list[Result]) -> list[str]:
    """Weights that are trained, questions read in training, and its minutes."""
    trained = [result for result in found if result.settings]
    if not trained:
        return ["–"] * len(COSTS)
    read, minutes = (fmean(values) for values in zip(*((r.examples, r.minutes) for r in trained), strict=True))
    return [f"{max(r.parameters for r in trained):,}", f"{read:,.0f}", f"{minutes:.1f}"]


def _p_values(
    study: Study, results: dict[str, Result], predictions: Callable[[str, str], Path]
) -> dict[tuple[str, float, str, str], str]:
    """Whether the row that each is compared with is better, on the same questions and with the same share.

    A baseline, which has none, is compared with the largest share of its row, and every share with a baseline.
    """
    found: dict[tuple[str, float, str, str], str] = {}
    first = {(r.row, r.fraction, r.corpus): r for r in sorted(results.values(), key=lambda r: -r.seed)}
    rivals: dict[str, list[Result]] = {}  # of the chosen row's result
    for (row, fraction, corpus), result in first.items():
        chosen = study.against.get(row)
        shares = {share for name, share, where in first if (name, where) == (chosen, corpus)}
        if chosen and shares:
            key = first[chosen, fraction if fraction in shares else max(shares), corpus].key
            rivals.setdefault(key, []).append(result)
    for key, mine in rivals.items():
        for part in study.parts(results[key].corpus):
            ours = _outcomes(predictions(key, part))
            if ours is None:
                continue
            answered = [(rival, _outcomes(predictions(rival.key, part))) for rival in mine]
            same = [(r, theirs) for r, theirs in answered if theirs and theirs.correct.keys() == ours.correct.keys()]
            comparisons = compare_with_readers(ours, [theirs for _, theirs in same])
            for (rival, _), comparison in zip(same, comparisons, strict=True):
                found[rival.row, rival.fraction, rival.corpus, part] = f"{comparison.p_value:.2g}"
    return found


def _outcomes(path: Path) -> Outcomes | None:
    """None where predictions were moved away: the accuracies still stand."""
    try:
        return read_outcomes(path)
    except GareaderError:
        return None
