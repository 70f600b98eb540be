"""How many questions about short texts of many genres a model answers, with candidates and without; and baselines.

The questions (own_text.jsonl) were written for this benchmark before any model read them. An answer is right if it is
equal to an acceptable one after `normalised`, and in no other case. An error of gareader is a wrong answer.

Example: `python -m benchmarks.own_text --model stories-one-hop --genre recipe`
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import exp
from pathlib import Path
from statistics import fmean
from typing import Annotated

from cyclopts import Parameter

from benchmarks.script import Json, start
from gareader import Prediction, load
from gareader.core.errors import GareaderError, did_you_mean
from gareader.core.significance import wilson_interval
from gareader.data.text import question
from gareader.measuring.analysis import reliability
from gareader.measuring.baselines import BASELINES
from gareader.studies.study.running import baseline_answers
from gareader.trained.models import DEFAULT

QUESTIONS = Path(__file__).with_suffix(".jsonl")

DETERMINERS = frozenset("the a an his her their its".split())
TITLES = frozenset("mr mrs ms miss dr doctor prof professor judge captain sir lady lord".split())
"""Words that do not count at the beginning of an answer."""

System = Callable[[str, str, Sequence[str] | None], Prediction]
"""Answers a query about a document, from candidates or without."""


@dataclass(frozen=True)
class Question:
    """One question about a text."""

    id: str
    form: str
    """cloze, with one blank ___ in the query, or question, without a blank."""
    query: str
    answers: tuple[str, ...]
    """All acceptable answers, as they stand in the document."""
    candidates: tuple[str, ...]
    """Choices from the document; exactly one is acceptable."""
    kind: str
    """What the answer is: person, place, noun, …"""
    genre: str
    document: str


@dataclass(frozen=True)
class Outcome:
    """What became of one question."""

    answer: str | None
    """None after an error, and if no candidate is in the document."""
    correct: bool
    among: bool
    """Whether an acceptable answer is among the candidates, given or proposed."""
    confidence: float | None
    """The probability of the answer."""
    error: str | None


@dataclass(frozen=True)
class Share:
    """A share of questions with its 95 % Wilson interval."""

    questions: int
    correct: int
    accuracy: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Row:
    """The questions of one group."""

    group: str
    guess: float
    """The expected accuracy of a guess among the candidates that are given."""
    given: Share
    """Correct answers with candidates."""
    proposed: Share
    """Correct answers without candidates."""
    among: Share
    """Questions with an acceptable answer among the candidates that were proposed."""


@dataclass(frozen=True)
class Result:
    """All outcomes of one model or baseline."""

    system: str
    rows: list[Row]
    calibration_given: float | None
    """Expected calibration error with candidates, over the cloze questions; None for a baseline."""
    calibration_proposed: float | None
    """Without candidates; an answer that was not proposed is a wrong one."""
    errors_given: int
    """Cloze questions that ended in an error."""
    errors_proposed: int


def main(
    *,
    model: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (DEFAULT,),
    genre: str | None = None,
    questions: Path = QUESTIONS,
    as_json: Json = False,
) -> None:
    """Answer questions about short texts of many genres, with candidates and without.

    Parameters
    ----------
    model
        Models in the box or folders of trained ones, one or several.
    genre
        Only the texts of this genre.
    questions
        Other texts with questions in the same form, such as those that `benchmarks.written_questions` holds out.
    """
    asked = list(read(questions))
    if genre is not None:
        genres = {each.genre for each in asked}
        if genre not in genres:
            raise GareaderError(f"there is no genre {genre!r}; {did_you_mean(genre, genres)}")
        asked = [each for each in asked if each.genre == genre]
    models: dict[str, System] = {name: load(name).answer for name in model}
    for number, (name, system) in enumerate({**models, **baselines()}.items()):
        result = measure(name, system, asked, calibrated=name in models)
        if as_json:
            print(json.dumps(asdict(result)), flush=True)
            continue
        if number == 0:
            print(f"{'':<30}{'questions':>9}{'guess':>8}  {'with candidates':<22}{'without':<22}answer proposed")
        for row in result.rows if name in models else result.rows[:1]:
            label = name if row.group == "cloze" else f"  {row.group}"
            shares = f"{shown(row.given):<22}{shown(row.proposed):<22}{row.among.accuracy:6.1%}"
            print(f"{label:<30}{row.given.questions:>9,}{row.guess:8.1%}  {shares}", flush=True)
        if name in models:
            given, proposed = (
                "–" if error is None else f"{error:.3f}"
                for error in (result.calibration_given, result.calibration_proposed)
            )
            print(f"{'  calibration error':<47}  {given:<22}{proposed}")
            print(f"{'  errors among cloze':<47}  {result.errors_given:<22,}{result.errors_proposed:,}")


def read(path: Path = QUESTIONS) -> Iterator[Question]:
    """The questions of the file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        text = json.loads(line)
        for each in text["questions"]:
            lists = {name: tuple(each[name]) for name in ("answers", "candidates")}
            yield Question(**{**each, **lists}, genre=text["genre"], document=text["document"])


def normalised(answer: str) -> str:
    """The letters and digits of an answer in lower case, without determiners and titles at its beginning."""
    words = re.sub(r"[^\w\s]", "", answer.lower()).split()
    while len(words) > 1 and words[0] in DETERMINERS | TITLES:
        words.pop(0)
    return "".join(words)  # without spaces, because tokens have some that the text has not


def baselines() -> dict[str, System]:
    """The baselines without training, as systems that answer raw text."""

    def answer(name: str, document: str, query: str, candidates: Sequence[str] | None) -> Prediction:
        return next(baseline_answers(name, [question(document, query, candidates)]))

    return {name: partial(answer, name) for name in BASELINES}


def outcome(system: System, asked: Question, *, given: bool) -> Outcome:
    """Ask one question, with its candidates or without."""
    acceptable = {normalised(answer) for answer in asked.answers}
    try:
        prediction = system(asked.document, asked.query, asked.candidates if given else None)
    except GareaderError as error:
        return Outcome(None, correct=False, among=False, confidence=None, error=type(error).__name__)
    among = any(normalised(candidate) in acceptable for candidate, _ in prediction.ranking)
    if not prediction.answerable:
        return Outcome(None, correct=False, among=among, confidence=None, error=None)
    confidence = exp(max(prediction.log_probabilities))
    correct = normalised(prediction.best) in acceptable
    return Outcome(prediction.best, correct=correct, among=among, confidence=confidence, error=None)


def measure(name: str, system: System, questions: Sequence[Question], *, calibrated: bool) -> Result:
    """Ask all questions; kinds and genres are those of the cloze questions."""
    given = [outcome(system, each, given=True) for each in questions]
    proposed = [outcome(system, each, given=False) for each in questions]
    cloze = [i for i, each in enumerate(questions) if each.form == "cloze"]

    def row(group: str, members: Sequence[int]) -> Row:
        return Row(
            group,
            fmean(1 / len(questions[i].candidates) for i in members) if members else 0.0,
            share([given[i].correct for i in members]),
            share([proposed[i].correct for i in members]),
            share([proposed[i].among for i in members]),
        )

    rows = [row("cloze", cloze), row("ordinary questions", [*({*range(len(questions))} - {*cloze})])]
    rows.append(row("all", range(len(questions))))
    for aspect in ("kind", "genre"):
        values = [getattr(questions[i], aspect) for i in cloze]
        groups = {value: [i for i, own in zip(cloze, values, strict=True) if own == value] for value in values}
        rows += [row(value, members) for value, members in groups.items()]
    return Result(
        name,
        rows,
        calibration_error([given[i] for i in cloze]) if calibrated else None,
        calibration_error([proposed[i] for i in cloze]) if calibrated else None,
        sum(given[i].error is not None for i in cloze),
        sum(proposed[i].error is not None for i in cloze),
    )


def calibration_error(outcomes: Sequence[Outcome]) -> float | None:
    """The expected calibration error of the answers; None if there are none."""
    answers = [(each.confidence, each.correct) for each in outcomes if each.confidence is not None]
    return reliability(answers)[0] if answers else None


def share(correct: Sequence[bool]) -> Share:
    """How many are correct, with the interval."""
    total, count = len(correct), sum(correct)
    return Share(total, count, count / total if total else 0.0, wilson_interval(count, total))


def shown(part: Share) -> str:
    """A share in percent with its interval."""
    low, high = part.interval
    return f"{part.accuracy:6.1%} [{low:.1%}, {high:.1%}]"


if __name__ == "__main__":
    start(main)
