"""Example, the input of everything, and Prediction, the output: words and numbers, no tensors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, fsum, inf, log
from os import PathLike
from typing import IO, TYPE_CHECKING, Any, ClassVar

from gareader.core.errors import ExampleError
from gareader.core.terminal import short, shown
from gareader.data.prose import detokenise

if TYPE_CHECKING:  # `import gareader` does not wait for numpy
    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

Words = tuple[str, ...]

Target = str | PathLike[str] | IO[bytes] | None
"""Where a picture goes: to a file, to a buffer, or nowhere."""

PLACEHOLDER = "@placeholder"
"""The blank of the query, however the file or the user wrote it."""

FUNCTION_WORDS = frozenset(
    """a an the of and or nor but for to in on at by from with as into upon over under per 's ' , - & de del della der
    den des das dos du da di la le les los las el y und van von zu bin ibn al""".split()
)
"""Words of a candidate such as Bank of England that do not count by themselves."""

WORDS, PAIRS = 1_000_000, 200_000_000
"""The most words of a document, and the most pairs of one of them and a word of query or candidates: a file of a few
megabytes could cost more memory than there is. To read them takes some three gigabytes."""


def check_question(size: int, query: int, blanks: int, lengths: Sequence[int], answer: int | None) -> None:
    """Raise ExampleError for what is no question.

    `size`, `query` and `lengths` count the words of the document, of the query and of each candidate.
    """
    if not size:
        raise ExampleError("the document is empty; give the text that holds the answer")
    if blanks != 1:
        raise ExampleError(
            f"the query has {blanks or 'no'} placeholder{'s' * (blanks > 1)}; mark one blank, and only one, "
            "with XXXXX, ___ or @placeholder"
        )
    if len(lengths) < 2:
        raise ExampleError(f"{len(lengths) or 'no'} candidate answer; give at least two")
    if not all(lengths):
        raise ExampleError("a candidate answer is empty; remove it or give its words")
    if size > WORDS:
        raise ExampleError(f"a document of {size:,} words, and {WORDS:,} are the most; give a part of it")
    if size * (others := query + sum(lengths)) > PAIRS:
        long = f"{others:,} words of query and candidates are too many for a document of {size:,}"
        raise ExampleError(f"{long}; give fewer, or a part of the document")
    if answer is not None and not 0 <= answer < len(lengths):
        raise ExampleError(f"answer {answer} is not an index into {len(lengths)} candidates")


@dataclass(frozen=True, slots=True)
class Example:
    """One cloze question."""

    id: str
    document: Words
    query: Words
    """Exactly one of its words is PLACEHOLDER."""
    candidates: tuple[Words, ...]
    """At least two, each of one or more words."""
    answer: int | None
    """Index of the right candidate, if known."""
    proposed: bool = False
    """Whether the candidates were proposed from the document, so that the answer may be none of them."""

    def __post_init__(self) -> None:
        lengths = [*map(len, self.candidates)]
        check_question(len(self.document), len(self.query), self.query.count(PLACEHOLDER), lengths, self.answer)

    @property
    def others(self) -> int:
        """How many words query and candidates have."""
        return len(self.query) + sum(map(len, self.candidates))

    @property
    def shown_query(self) -> str:
        """The query as text, with ___ for the blank."""
        return " ".join("___" if word == PLACEHOLDER else word for word in self.query)

    def record(self) -> dict[str, Any]:
        """The question as JSON, its texts as lists of words; `answer_many` and a file of JSON lines take it."""
        return {
            "id": self.id,
            "document": [*self.document],
            "query": [*self.query],
            "candidates": [[*candidate] for candidate in self.candidates],
            "answer": None if self.answer is None else [*self.candidates[self.answer]],
        }

    def __repr__(self) -> str:
        answer = "" if self.answer is None else f", answer {short(detokenise(self.candidates[self.answer]), 60)!r}"
        sizes = f"{len(self.document):,} words, {len(self.candidates):,} candidates"
        return f"<Example {short(self.id, 60)!r}: {short(detokenise(self.query), 60)!r}, {sizes}{answer}>"


def filled(example: Example) -> Words:
    """The query with the answer in its blank; without the blank if the answer is unknown."""
    blank = example.query.index(PLACEHOLDER)
    answer = () if example.answer is None else example.candidates[example.answer]
    return (*example.query[:blank], *answer, *example.query[blank + 1 :])


def counted_words(candidate: Words) -> Words:
    """The words of a candidate whose attention counts for it: all but function words, unless it has no others."""
    return tuple(word for word in candidate if word not in FUNCTION_WORDS) or candidate


SURE = 0.5
"""An answer with a smaller probability is more probably wrong than right."""


@dataclass(frozen=True)
class Attention:
    """The attention of a reader for one question; the query stands between @begin and @end."""

    query: Words
    """Its words between the two marks: the columns of `hops`."""
    hops: tuple["NDArray[np.float32]", ...]
    """(D, Q) for each hop: the attention of each document word over the query's words; in the Impatient Reader, of each
    query word over the document's."""
    document: "NDArray[np.float32]"
    """(D,): the final attention over the document."""

    def __repr__(self) -> str:
        hops = f"{len(self.hops)} hop{'s' * (len(self.hops) != 1)}"
        return f"<Attention over {len(self.document):,} words, {hops} with {len(self.query):,} words of the query>"


@dataclass(frozen=True)
class Prediction:
    """The answer of a model to one Example."""

    example: Example
    log_probabilities: tuple[float, ...]
    """One per candidate, in the example's order; −inf for a candidate that is not in the document."""
    attention: Attention | None = None
    """Only on request."""
    remark: str = ""
    """What is unusual about the text, if it is unlike those that the model was trained on."""
    draw: ClassVar[Callable[["Prediction", "Target", str | None], "Figure"]]
    """Draws a prediction. `gareader` sets it, because this module may not import `gareader.plots`, a layer above."""
    html: ClassVar[Callable[["Prediction"], str]]
    """A prediction as HTML; set in the same way."""

    @property
    def order(self) -> list[int]:
        """The candidates' indices, the most probable first; ties stay in the example's order."""
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
    def probability(self) -> float:
        """The probability of the most probable candidate."""
        return exp(max(self.log_probabilities))

    @property
    def unsure(self) -> bool:
        """Whether the best answer is more probably wrong than right."""
        return self.probability < SURE

    @property
    def answerable(self) -> bool:
        """Whether any candidate occurs in the document."""
        return max(self.log_probabilities) > -inf

    @property
    def absent(self) -> list[int]:
        """The indices of the candidates that are not in the document."""
        return [i for i in self.order if self.log_probabilities[i] == -inf]

    @property
    def in_part(self) -> list[int]:
        """The indices of the candidates with only some words in the document; their probability is of these words."""
        document = set(self.example.document)
        words = [set(counted_words(candidate)) for candidate in self.example.candidates]
        return [i for i in self.order if words[i] & document and words[i] - document]

    @property
    def correct(self) -> bool | None:
        """Whether the best candidate is the answer; None if the answer is unknown."""
        if self.example.answer is None:
            return None
        return self.answerable and self.order[0] == self.example.answer

    def tempered(self, temperature: float) -> "Prediction":
        """Return the prediction with its probabilities to the power 1/temperature, renormalised; the ranking stays."""
        if temperature == 1 or not self.answerable:
            return self
        top = max(self.log_probabilities)
        powers = [(value - top) / temperature for value in self.log_probabilities]
        total = log(fsum(map(exp, powers)))
        return replace(self, log_probabilities=tuple(power - total for power in powers))

    def record(self, top: int | None = None) -> dict[str, Any]:
        """The prediction as JSON, for files, the command line and HTTP."""
        return {
            "id": self.example.id,
            "query": self.example.shown_query,
            "best": self.best if self.answerable else None,
            "ranking": [{"answer": name, "probability": share} for name, share in self.ranking[:top]],
            "absent": [" ".join(self.example.candidates[i]) for i in self.absent],
            "unsure": self.unsure,
            **({"remark": self.remark} if self.remark else {}),
        }

    def plot(self, target: Target = None, *, format: str | None = None) -> "Figure":
        """Draw the attention, and return the figure (needs the extra `plot`).

        `target` is a file, PNG, SVG or PDF by the ending of its name, or a buffer of bytes, which takes the `format`,
        png if not given; without it nothing is written.
        """
        return Prediction.draw(self, target, format)

    def _repr_html_(self) -> str:
        """The prediction in a notebook: the candidates as bars, and the text coloured by the attention."""
        return Prediction.html(self)

    def __repr__(self) -> str:
        ranking = [f"{short(candidate, 30)!r} {share:.1%}" for candidate, share in self.ranking[:3]]
        more = [f"{len(self.log_probabilities) - 3:,} more"] * (len(self.log_probabilities) > 3)
        return f"<Prediction {', '.join(ranking + more)} for {short(detokenise(self.example.query), 60)!r}>"

    def __str__(self) -> str:
        ranking = [(shown(candidate), probability) for candidate, probability in self.ranking]
        width = max(len(candidate) for candidate, _ in ranking)
        return "\n".join(f"{candidate:<{width}}  {probability:6.1%}" for candidate, probability in ranking)


def mean_prediction(predictions: Sequence[Prediction]) -> Prediction:
    """The answer of an ensemble to one question: the mean of the models' probabilities and attention."""
    rows = zip(*(prediction.log_probabilities for prediction in predictions), strict=True)
    attentions = [prediction.attention for prediction in predictions if prediction.attention is not None]
    mean = tuple(_log_mean(row) for row in rows)
    attention = _mean_attention(attentions) if attentions else None
    return Prediction(predictions[0].example, mean, attention, predictions[0].remark)


def _log_mean(row: Sequence[float]) -> float:
    """log of the mean of exp, without underflow."""
    top = max(row)
    return -inf if top == -inf else top + log(sum(exp(value - top) for value in row) / len(row))


def _mean_attention(attentions: Sequence[Attention]) -> Attention:
    """The mean of the final attention and of each hop's; the first model's hops if the numbers of hops differ."""
    import numpy as np

    hops = attentions[0].hops
    if all(len(each.hops) == len(hops) for each in attentions):
        hops = tuple(np.mean(hop, axis=0) for hop in zip(*(each.hops for each in attentions), strict=True))
    return Attention(attentions[0].query, hops, np.mean([each.document for each in attentions], axis=0))
