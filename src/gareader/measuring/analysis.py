"""Analysis of predictions: accuracy by aspects of the questions, and calibration of the probabilities."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, inf, isclose, log, sqrt
from statistics import fmean, quantiles
from typing import cast

from gareader.core.errors import GareaderError
from gareader.core.significance import wilson_interval
from gareader.data.examples import PLACEHOLDER, Example, Prediction
from gareader.data.statistics import candidate_frequencies, phrase_positions
from gareader.trained.temperatures import STEEPEST, by_length

BINS = 10
"""Bins of a reliability diagram, of equal width in confidence."""

TEMPERATURES = (0.1, 10.0)
"""Bounds of the fitted temperature."""


@dataclass(frozen=True)
class QuestionGroup:
    """Accuracy on the questions that share a value of an aspect."""

    aspect: str
    name: str
    examples: int
    correct: int
    accuracy: float
    interval: tuple[float, float]
    """95 % Wilson interval of the accuracy."""


@dataclass(frozen=True)
class Bin:
    """Mean confidence and accuracy of the answers in one bin of confidence."""

    examples: int
    confidence: float
    accuracy: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Calibration:
    error: float
    """Expected calibration error: the mean distance between confidence and accuracy, weighted by the bins' sizes."""
    loss: float
    """Mean of −log Pr(answer)."""
    bins: tuple[Bin, ...]


def groups(predictions: Sequence[Prediction]) -> list[QuestionGroup]:
    """Accuracy by every aspect, over the questions with a known answer."""
    known = [prediction for prediction in predictions if prediction.example.answer is not None]
    if not known:
        return []
    lengths = [len(prediction.example.document) for prediction in known]
    quarters = sorted({int(edge) for edge in quantiles(lengths, n=4)}) if len(lengths) > 1 else lengths
    return [
        *_by_number("document words", known, lambda e: len(e.document), quarters),
        *_by_number("occurrences of the answer", known, occurrences, (0, 1, 2, 4, 9)),
        *_by_number("rank of the answer by frequency", known, rank_by_frequency, (0, 1, 2, 3, 5)),
        *_by_number("words after the answer's last occurrence", known, words_after, (-1, 20, 50, 100, 200)),
        *_by_name("the blank's neighbour stands beside the answer", known, shares_neighbour),
        *_by_name("kind of answer", known, kind_of_answer),
    ]


def occurrences(example: Example) -> int:
    """The number of occurrences of the answer in the document."""
    return candidate_frequencies(example)[_answer(example)]


def rank_by_frequency(example: Example) -> int:
    """The answer's rank by frequency: 1 for the most frequent candidates; 0 if it is not in the document."""
    frequencies = candidate_frequencies(example)
    frequency = frequencies[_answer(example)]
    return 1 + sum(other > frequency for other in frequencies) if frequency else 0


def words_after(example: Example) -> int:
    """The number of words after the answer's last occurrence in the document; −1 if it does not occur."""
    phrase = example.candidates[_answer(example)]
    last = max(phrase_positions(example.document, phrase), default=None)
    return -1 if last is None else len(example.document) - last - len(phrase)


def shares_neighbour(example: Example) -> str:
    """Whether the word before or after the blank is also before or after the answer somewhere in the document."""
    document, phrase = ("", *example.document, ""), example.candidates[_answer(example)]
    query = ("", *example.query, "")
    blank = query.index(PLACEHOLDER)
    before, after = query[blank - 1], query[blank + 1]
    for start in phrase_positions(document, phrase):
        if (before and document[start - 1] == before) or (after and document[start + len(phrase)] == after):
            return "yes"
    return "no"


def kind_of_answer(example: Example) -> str:
    """The spelling of the answer: its case, or several words."""
    words = example.candidates[_answer(example)]
    if len(words) > 1:
        return "several words"
    if words[0].islower():
        return "lower case"
    if words[0][:1].isupper():
        return "all capitals" if words[0].isupper() and len(words[0]) > 1 else "capitalised"
    return "other"


def calibration(predictions: Iterable[Prediction]) -> Calibration:
    """Confidence and accuracy in bins of confidence, over questions whose answer is in the document."""
    answerable = _answerable(predictions)
    error, bins = reliability((exp(max(p.log_probabilities)), bool(p.correct)) for p in answerable)
    return Calibration(error, _loss(answerable), bins)


def reliability(answers: Iterable[tuple[float, bool]]) -> tuple[float, tuple[Bin, ...]]:
    """The expected calibration error of answers, each with its confidence and whether it is correct; and the bins."""
    members: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for confidence, is_correct in answers:
        members[min(int(BINS * confidence), BINS - 1)].append((confidence, is_correct))
    bins = []
    for pairs in filter(None, members):
        correct = sum(is_correct for _, is_correct in pairs)
        accuracy, interval = correct / len(pairs), wilson_interval(correct, len(pairs))
        bins.append(Bin(len(pairs), fmean(confidence for confidence, _ in pairs), accuracy, interval))
    distance = sum(bin_.examples * abs(bin_.confidence - bin_.accuracy) for bin_ in bins)
    return distance / sum(bin_.examples for bin_ in bins), tuple(bins)


def fitted_temperature(predictions: Iterable[Prediction]) -> float:
    """The temperature with the smallest loss."""
    answerable = _answerable(predictions)
    return _minimum(lambda temperature: _loss([p.tempered(temperature) for p in answerable]), *TEMPERATURES)


def fitted_slope(predictions: Iterable[Prediction]) -> float:
    """The slope of `Temperatures` with the smallest loss, at the temperature that fits it best."""
    answerable = _answerable(predictions)

    def loss(slope: float) -> float:
        sloped = [p.tempered(by_length(p.example, slope)) for p in answerable]
        temperature = fitted_temperature(sloped)
        return _loss([p.tempered(temperature) for p in sloped])

    return _minimum(loss, 0.0, STEEPEST, 1e-2)


def fitted_confidence(answers: Sequence[tuple[Prediction, bool]]) -> float:
    """The temperature at which the best answers' probabilities say best whether they are right."""

    def loss(temperature: float) -> float:
        shares = ((exp(max(p.tempered(temperature).log_probabilities)), right) for p, right in answers)
        return -fmean(log(max(share if right else 1 - share, 1e-12)) for share, right in shares)

    return _minimum(loss, *TEMPERATURES)


def at_bound(temperature: float) -> bool:
    """Whether a fitted temperature is at a bound, so that a better one may be beyond it."""
    return any(isclose(temperature, bound, rel_tol=1e-3) for bound in TEMPERATURES)


def cross_fitted(predictions: Iterable[Prediction]) -> list[Prediction]:
    """Each half of the predictions at the temperature fitted on the other half, to estimate the gain on new text."""
    answerable = _answerable(predictions, least=2)
    halves = answerable[::2], answerable[1::2]
    temperatures = [fitted_temperature(half) for half in reversed(halves)]
    return [p.tempered(t) for half, t in zip(halves, temperatures, strict=True) for p in half]


def _answerable(predictions: Iterable[Prediction], least: int = 1) -> list[Prediction]:
    """The predictions whose answer is known and in the document; raise GareaderError if they are too few."""
    known = (p for p in predictions if p.example.answer is not None)
    answerable = [p for p in known if p.log_probabilities[_answer(p.example)] > -inf]
    if len(answerable) < least:
        counts = f"{len(answerable)}; calibration needs {least} or more"
        way_out = "look at the corpus with gareader describe"
        raise GareaderError(f"too few known answers stand in their document ({counts}); {way_out}")
    return answerable


def _loss(predictions: Sequence[Prediction]) -> float:
    return -fmean(prediction.log_probabilities[_answer(prediction.example)] for prediction in predictions)


def _minimum(function: Callable[[float], float], low: float, high: float, precision: float = 1e-5) -> float:
    """The place of the only minimum between two bounds, by golden-section search."""
    ratio = (sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > precision:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return (low + high) / 2


def _answer(example: Example) -> int:
    return cast("int", example.answer)  # callers have left out questions without one


def _by_number(
    aspect: str, predictions: Sequence[Prediction], value: Callable[[Example], int], edges: Sequence[int]
) -> list[QuestionGroup]:
    """Groups by a number: one up to each edge, and one above the last."""
    members: list[list[bool]] = [[] for _ in range(len(edges) + 1)]
    for prediction in predictions:
        members[bisect_left(edges, value(prediction.example))].append(bool(prediction.correct))
    names = [_range(low + 1, high) for low, high in zip((-1, *edges), (*edges, inf), strict=False)]
    return [_group(aspect, name, correct) for name, correct in zip(names, members, strict=True) if correct]


def _range(low: int, high: float) -> str:
    if high <= 0:
        return "not in the document"
    if low <= 0:
        return f"up to {high:,}"
    if high == inf:
        return f"{low:,} or more"
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _by_name(aspect: str, predictions: Sequence[Prediction], name: Callable[[Example], str]) -> list[QuestionGroup]:
    """Groups by a name, the largest first."""
    members: dict[str, list[bool]] = {}
    for prediction in predictions:
        members.setdefault(name(prediction.example), []).append(bool(prediction.correct))
    return [_group(aspect, key, correct) for key, correct in sorted(members.items(), key=lambda item: -len(item[1]))]


def _group(aspect: str, name: str, correct: Sequence[bool]) -> QuestionGroup:
    examples, count = len(correct), sum(correct)
    return QuestionGroup(aspect, name, examples, count, count / examples, wilson_interval(count, examples))
