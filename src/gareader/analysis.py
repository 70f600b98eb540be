"""Where a reader is right and where it is wrong, and whether its probabilities can be believed."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, inf, isclose
from statistics import fmean, quantiles
from typing import cast

from gareader.errors import GareaderError
from gareader.examples import PLACEHOLDER, Example, Prediction
from gareader.significance import wilson_interval
from gareader.statistics import candidate_frequencies, phrase_positions

BINS = 10
"""Of a reliability diagram: equal steps of confidence."""

TEMPERATURES = (0.1, 10.0)
"""The bounds between which a temperature is fitted."""


@dataclass(frozen=True)
class Group:
    """Questions that have something in common, and how many of them were answered rightly."""

    aspect: str
    name: str
    examples: int
    correct: int
    accuracy: float
    interval: tuple[float, float]
    """95 % Wilson interval of the accuracy."""


@dataclass(frozen=True)
class Bin:
    """Answers of similar confidence: the probability the reader gave them, and the share that was right."""

    examples: int
    confidence: float
    accuracy: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Calibration:
    """Whether the probability of an answer is the share of such answers that are right."""

    error: float
    """Expected calibration error: the mean distance between confidence and accuracy over the bins."""
    loss: float
    """Mean of −log Pr(answer)."""
    bins: tuple[Bin, ...]


def groups(predictions: Sequence[Prediction]) -> list[Group]:
    """Accuracy by every aspect, over the questions whose answer is known."""
    known = [prediction for prediction in predictions if prediction.example.answer is not None]
    if not known:
        return []
    lengths = [len(prediction.example.document) for prediction in known]
    quarters = sorted({int(edge) for edge in quantiles(lengths, n=4)}) if len(lengths) > 1 else lengths
    return [
        *_counted("document words", known, lambda e: len(e.document), quarters),
        *_counted("occurrences of the answer", known, occurrences, (0, 1, 2, 4, 9)),
        *_counted("rank of the answer by frequency", known, rank_by_frequency, (0, 1, 2, 3, 5)),
        *_counted("words after the answer's last occurrence", known, words_after, (-1, 20, 50, 100, 200)),
        *_named("the blank's neighbour stands beside the answer", known, shares_neighbour),
        *_named("kind of answer", known, kind_of_answer),
    ]


def occurrences(example: Example) -> int:
    """How often the answer stands in the document."""
    return candidate_frequencies(example)[_answer(example)]


def rank_by_frequency(example: Example) -> int:
    """1 for the most frequent candidate; the best place it can claim among equals; 0 if it is not there."""
    frequency = candidate_frequencies(example)
    own = frequency[_answer(example)]
    return 1 + sum(other > own for other in frequency) if own else 0


def words_after(example: Example) -> int:
    """The words between the answer's last occurrence and the end of the document; −1 if it does not occur."""
    phrase = example.candidates[_answer(example)]
    last = max(phrase_positions(example.document, phrase), default=None)
    return -1 if last is None else len(example.document) - last - len(phrase)


def shares_neighbour(example: Example) -> str:
    """Whether a word beside the blank also stands on that side of the answer somewhere in the document."""
    document, phrase = ("", *example.document, ""), example.candidates[_answer(example)]
    query = ("", *example.query, "")
    blank = query.index(PLACEHOLDER)
    before, after = query[blank - 1], query[blank + 1]
    for start in phrase_positions(document, phrase):
        if (before and document[start - 1] == before) or (after and document[start + len(phrase)] == after):
            return "yes"
    return "no"


def kind_of_answer(example: Example) -> str:
    """How the answer is written."""
    words = example.candidates[_answer(example)]
    if len(words) > 1:
        return "several words"
    if words[0].islower():
        return "lower case"
    if words[0][:1].isupper():
        return "all capitals" if words[0].isupper() and len(words[0]) > 1 else "capitalised"
    return "other"


def calibration(predictions: Iterable[Prediction]) -> Calibration:
    """Confidence against accuracy in equal steps of confidence, over questions whose answer can be pointed at."""
    pointed = _pointed(predictions)
    binned: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for prediction in pointed:
        confidence = exp(max(prediction.log_probabilities))
        binned[min(int(BINS * confidence), BINS - 1)].append((confidence, bool(prediction.correct)))
    bins = []
    for members in filter(None, binned):
        right = sum(correct for _, correct in members)
        share, interval = right / len(members), wilson_interval(right, len(members))
        bins.append(Bin(len(members), fmean(confidence for confidence, _ in members), share, interval))
    distance = sum(bin_.examples * abs(bin_.confidence - bin_.accuracy) for bin_ in bins)
    return Calibration(distance / len(pointed), _loss(pointed), tuple(bins))


def fitted_temperature(predictions: Iterable[Prediction]) -> float:
    """The temperature at which the right answers are most probable."""
    from scipy.optimize import minimize_scalar

    pointed = _pointed(predictions)
    found = minimize_scalar(lambda t: _loss([p.tempered(t) for p in pointed]), bounds=TEMPERATURES, method="bounded")
    return float(found.x)


def at_bound(temperature: float) -> bool:
    """Whether a fitted temperature would go on beyond what is tried."""
    return any(isclose(temperature, bound, rel_tol=1e-3) for bound in TEMPERATURES)


def cross_fitted(predictions: Iterable[Prediction]) -> list[Prediction]:
    """Each half of the predictions at the temperature fitted on the other half: what fitting is worth on new text."""
    pointed = _pointed(predictions, least=2)
    halves = pointed[::2], pointed[1::2]
    temperatures = [fitted_temperature(half) for half in reversed(halves)]
    return [p.tempered(t) for half, t in zip(halves, temperatures, strict=True) for p in half]


def _pointed(predictions: Iterable[Prediction], least: int = 1) -> list[Prediction]:
    known = (p for p in predictions if p.example.answer is not None)
    pointed = [p for p in known if p.log_probabilities[_answer(p.example)] > -inf]
    if len(pointed) < least:
        raise GareaderError(
            f"too few known answers stand in their document ({len(pointed)}; calibration needs {least} or more); "
            "look at the corpus with gareader describe"
        )
    return pointed


def _loss(predictions: Sequence[Prediction]) -> float:
    return -fmean(prediction.log_probabilities[_answer(prediction.example)] for prediction in predictions)


def _answer(example: Example) -> int:
    return cast("int", example.answer)  # questions without one are left out before


def _counted(
    aspect: str, predictions: Sequence[Prediction], value: Callable[[Example], int], edges: Sequence[int]
) -> list[Group]:
    """Groups by a number: up to each edge, and beyond the last."""
    members: list[list[bool]] = [[] for _ in range(len(edges) + 1)]
    for prediction in predictions:
        members[bisect_left(edges, value(prediction.example))].append(bool(prediction.correct))
    names = [_range(low + 1, high) for low, high in zip((-1, *edges), (*edges, inf), strict=False)]
    return [_group(aspect, name, found) for name, found in zip(names, members, strict=True) if found]


def _range(low: int, high: float) -> str:
    if high <= 0:
        return "not in the document"
    if low <= 0:
        return f"up to {high:,}"
    if high == inf:
        return f"{low:,} or more"
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _named(aspect: str, predictions: Sequence[Prediction], name: Callable[[Example], str]) -> list[Group]:
    members: dict[str, list[bool]] = {}
    for prediction in predictions:
        members.setdefault(name(prediction.example), []).append(bool(prediction.correct))
    return [_group(aspect, key, found) for key, found in sorted(members.items(), key=lambda item: -len(item[1]))]


def _group(aspect: str, name: str, right: Sequence[bool]) -> Group:
    return Group(aspect, name, len(right), sum(right), sum(right) / len(right), wilson_interval(sum(right), len(right)))
