"""Evaluation of a model on a corpus: accuracy with its interval, loss, and recall."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from gareader.core.distributed import Group
from gareader.core.significance import wilson_interval
from gareader.data.examples import Example, Prediction
from gareader.trained.predictor import WINDOW, Answering

RECALL_AT = (2, 3, 5)


@dataclass(frozen=True)
class Report:
    """Results over the questions with a known answer."""

    examples: int
    correct: int
    accuracy: float
    interval: tuple[float, float]
    """95 % Wilson interval of the accuracy."""
    loss: float | None
    """Mean of −log Pr(answer) over the questions whose answer is in the document."""
    recall: dict[str, float]
    """Share of questions whose answer is among the first 2, 3 and 5 candidates."""
    answer_not_in_document: int
    """Questions whose answer is not in the document; they count as wrong, and are left out of the loss."""
    no_candidate_in_document: int
    """Questions without any candidate in the document, a part of the former."""


class Tally:
    """Running counts over predictions."""

    def __init__(self) -> None:
        self.examples = self.correct = self.answer_missing = self.all_missing = 0
        self.loss = 0.0
        self.within = dict.fromkeys(RECALL_AT, 0)

    def add(self, prediction: Prediction) -> None:
        """Count a prediction, unless its answer is unknown."""
        answer = prediction.example.answer
        if answer is None:
            return
        self.examples += 1
        self.correct += bool(prediction.correct)
        self.all_missing += not prediction.answerable
        if prediction.log_probabilities[answer] == -inf:
            self.answer_missing += 1
            return
        self.loss -= prediction.log_probabilities[answer]
        rank = prediction.order.index(answer)
        for k in self.within:
            self.within[k] += rank < k

    def report(self) -> Report:
        total, answerable = self.examples, self.examples - self.answer_missing
        return Report(
            examples=total,
            correct=self.correct,
            accuracy=self.correct / total if total else 0.0,
            interval=wilson_interval(self.correct, total),
            loss=self.loss / answerable if answerable else None,
            recall={str(k): count / total if total else 0.0 for k, count in self.within.items()},
            answer_not_in_document=self.answer_missing,
            no_candidate_in_document=self.all_missing,
        )


def answers(
    predictor: Answering, examples: Sequence[Example], group: Group, *, batch_size: int = 32
) -> Iterator[Prediction]:
    """Yield the predictions of all examples, in their order; each process answers its share."""
    window = WINDOW * batch_size * group.size
    for start in range(0, len(examples), window):
        questions = examples[start : start + window]
        predictions = predictor.answer_many(questions[group.rank :: group.size], batch_size=batch_size)
        shares = group.all_gather([prediction.log_probabilities for prediction in predictions])
        for number, example in enumerate(questions):
            yield Prediction(example, shares[number % group.size][number // group.size])


def evaluate(predictions: Iterable[Prediction]) -> Report:
    tally = Tally()
    for prediction in predictions:
        tally.add(prediction)
    return tally.report()


def prediction_record(prediction: Prediction) -> dict[str, Any]:
    """A prediction as a line of a predictions file."""
    example = prediction.example
    return {
        **prediction.record(),
        "answer": None if example.answer is None else " ".join(example.candidates[example.answer]),
        "correct": prediction.correct,
    }
