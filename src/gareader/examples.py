"""Example, the one door for data, and Prediction, what comes out: words and numbers, no tensors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, fsum, inf, log
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gareader.errors import ExampleError

PLACEHOLDER = "@placeholder"
"""The blank of the query, however the file or the user wrote it."""


@dataclass(frozen=True, slots=True)
class Example:
    """One cloze question."""

    id: str
    document: tuple[str, ...]
    query: tuple[str, ...]
    """Its words, exactly one of them PLACEHOLDER."""
    candidates: tuple[tuple[str, ...], ...]
    """At least two, each of one or more words."""
    answer: int | None
    """Index of the right candidate, if known."""

    def __post_init__(self) -> None:
        if not self.document:
            raise ExampleError("the document is empty; give the text that holds the answer")
        if (blanks := self.query.count(PLACEHOLDER)) != 1:
            raise ExampleError(
                f"the query has {blanks or 'no'} placeholder{'s' * (blanks > 1)}; mark one blank, and only one, "
                "with XXXXX, ___ or @placeholder"
            )
        if len(self.candidates) < 2:
            raise ExampleError(f"{len(self.candidates) or 'no'} candidate answer; give at least two")
        if not all(self.candidates):
            raise ExampleError("a candidate answer is empty; remove it or give its words")
        if self.answer is not None and not 0 <= self.answer < len(self.candidates):
            raise ExampleError(f"answer {self.answer} is not an index into {len(self.candidates)} candidates")


@dataclass(frozen=True)
class Attention:
    """Where a reader looked, for one question; the query stands between @begin and @end."""

    query: tuple[str, ...]
    """Its words with the marks around them: the columns of `hops`."""
    hops: tuple[NDArray[np.float32], ...]
    """(D, Q) for each hop: how document word i shares its attention among the query's words; in the Impatient Reader,
    how a query word shares it among the document's."""
    document: NDArray[np.float32]
    """(D,): the final attention over the document."""


@dataclass(frozen=True)
class Prediction:
    """What a reader answers to one Example."""

    example: Example
    log_probabilities: tuple[float, ...]
    """One for each candidate, in the example's order; −inf for a candidate that is not in the document."""
    attention: Attention | None = None
    """On request."""
    draw: ClassVar[Callable[["Prediction", Path], None]]
    """Draws one; pictures stand above examples, and `gareader` itself, above all, says how."""

    @property
    def order(self) -> list[int]:
        """The candidates' indices, the most probable first; equals stay in the example's order."""
        return sorted(range(len(self.log_probabilities)), key=lambda i: -self.log_probabilities[i])

    @property
    def ranking(self) -> list[tuple[str, float]]:
        """Every candidate with its probability, the most probable first."""
        return [(" ".join(self.example.candidates[i]), exp(self.log_probabilities[i])) for i in self.order]

    @property
    def best(self) -> str:
        """The most probable candidate."""
        return self.ranking[0][0]

    @property
    def answerable(self) -> bool:
        """Whether any candidate occurs in the document."""
        return max(self.log_probabilities) > -inf

    @property
    def absent(self) -> list[int]:
        """The candidates' indices that are not in the document."""
        return [i for i in self.order if self.log_probabilities[i] == -inf]

    @property
    def in_part(self) -> list[int]:
        """The candidates' indices of which only some words are in the document; their probability is that of these."""
        there = set(self.example.document)
        words = [set(candidate) for candidate in self.example.candidates]
        return [i for i in self.order if words[i] & there and words[i] - there]

    @property
    def correct(self) -> bool | None:
        """Whether the best candidate is the answer; None where the answer is not known."""
        if self.example.answer is None:
            return None
        return self.answerable and self.order[0] == self.example.answer

    def tempered(self, temperature: float) -> "Prediction":
        """The same ranking with bolder (below 1) or shyer (above 1) probabilities: each to the power 1/temperature."""
        if temperature == 1 or not self.answerable:
            return self
        top = max(self.log_probabilities)
        powers = [(value - top) / temperature for value in self.log_probabilities]
        total = log(fsum(map(exp, powers)))
        return replace(self, log_probabilities=tuple(power - total for power in powers))

    def record(self, top: int | None = None) -> dict[str, Any]:
        """The prediction as programs read it, in files, from the command line and over HTTP: all that JSON can hold."""
        return {
            "id": self.example.id,
            "best": self.best if self.answerable else None,
            "ranking": [{"answer": name, "probability": share} for name, share in self.ranking[:top]],
            "absent": [" ".join(self.example.candidates[i]) for i in self.absent],
        }

    def plot(self, path: Path | str) -> None:
        """Draw where the reader looked: a PNG, SVG or PDF file, as its ending says (needs the extra `plot`)."""
        Prediction.draw(self, Path(path))

    def __str__(self) -> str:
        ranking = self.ranking
        width = max(len(candidate) for candidate, _ in ranking)
        return "\n".join(f"{candidate:<{width}}  {probability:6.1%}" for candidate, probability in ranking)


def mean_prediction(predictions: Sequence[Prediction]) -> Prediction:
    """What several readers answer to the same question together: the mean of their probabilities and attention."""
    rows = zip(*(prediction.log_probabilities for prediction in predictions), strict=True)
    seen = [prediction.attention for prediction in predictions if prediction.attention is not None]
    mean = tuple(_log_mean(row) for row in rows)
    return Prediction(predictions[0].example, mean, _mean_attention(seen) if seen else None)


def _log_mean(row: Sequence[float]) -> float:
    """log of the mean of exp, which may be too small to be computed itself."""
    top = max(row)
    return -inf if top == -inf else top + log(sum(exp(value - top) for value in row) / len(row))


def _mean_attention(seen: Sequence[Attention]) -> Attention:
    """The mean of the final attention, and of each hop's; of other numbers of hops there is none, so the first's."""
    hops = seen[0].hops
    if all(len(each.hops) == len(hops) for each in seen):
        hops = tuple(np.mean(hop, axis=0) for hop in zip(*(each.hops for each in seen), strict=True))
    return Attention(seen[0].query, hops, np.mean([each.document for each in seen], axis=0))
