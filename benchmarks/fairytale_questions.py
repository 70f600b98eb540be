"""How many questions that people wrote about fairy tales are answered: FairytaleQA's explicit questions.

Example: `python -m benchmarks.fairytale_questions --questions tests/samples/fairytale_questions.jsonl`
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.script import Json, start
from gareader.core.errors import CorpusError, GareaderError
from gareader.core.files import opened
from gareader.core.significance import wilson_interval
from gareader.core.whole import written_whole
from gareader.data.corpora.jsonl import written
from gareader.data.examples import Example, Words
from gareader.data.language.name_words import TITLES
from gareader.data.text import question, tokenise
from gareader.trained.predictor import load

DATA = Path("../shared/data/fairytaleqa")
BEFORE_NOUN = frozenset(
    """a an the this that these those his her its their my your our some one in at on to into from under near by inside
    behind""".split()
)
"""Determiners, and prepositions, which stand in the cloze of a question and not in its answer."""
_TITLES = frozenset(title.lower() for title in TITLES)
_AFTER_HEAD = frozenset("of with in from at on to who whom whose that which and or , for".split())
"""The first of these words ends the noun phrase of an answer: king of the birds, man who swept the leaves."""


@dataclass(frozen=True)
class Asked:
    """A question with the answers that stand in its text, in normal form."""

    id: str
    word: str
    """Its question word."""
    example: Example | None
    """None if the question cannot be asked as a cloze."""
    answers: tuple[Words, ...]


@dataclass
class Tally:
    """Counts for the questions with one question word."""

    word: str
    questions: int = 0
    refused: int = 0
    """Not turned into a cloze, or with too few candidates."""
    candidates: int = 0
    proposed: int = 0
    """An answer is among the candidates."""
    proposed_head: int = 0
    """An answer is, or its noun with other modifiers: bear for a great white bear."""
    right: int = 0
    right_head: int = 0


def main(
    *,
    model: str = "stories",
    split: str = "validation",
    questions: Path | None = None,
    write: Path | None = None,
    as_json: Json = False,
) -> None:
    """Ask the explicit questions whose answer stands in the text, with candidates proposed from it.

    Parameters
    ----------
    model
        The name or folder of a model.
    split
        The part of FairytaleQA in ../shared/data: train or validation.
    questions
        Instead: a file of JSON lines with document, question, answers and explicit.
    write
        Ask no model, but write the questions whose answer is proposed to this file, as JSON lines to train on.
    """
    asked = [each for row in rows(questions or DATA / f"{split}.jsonl.xz") for each in asked_of(row)]
    if not asked:
        raise GareaderError("no question's answer stands in its text; give other questions")
    if write is not None:
        lines = [written(example) for each in asked if (example := with_answer(each))]
        with written_whole(write) as file:
            file.writelines(lines)
        print(f"{write}: {len(lines):,} of {len(asked):,} questions")
        return
    tallies = measured(model, asked)
    print(json.dumps([asdict(tally) for tally in tallies]) if as_json else in_words(tallies))


def rows(path: Path) -> list[dict[str, object]]:
    """The questions of the file."""
    with opened(path) as content:
        try:
            return [json.loads(line) for line in content.read().decode().splitlines()]
        except ValueError as problem:
            raise CorpusError(f"no JSON lines: {problem}; give a file of questions", path) from None


def asked_of(row: dict[str, object]) -> Iterable[Asked]:
    """The question of a row, if it is explicit and an answer stands in the text; determiners aside."""
    document, words = str(row["document"]), tokenise(str(row["question"]))
    text = f" {' '.join(tokenise(document)).lower()} "
    given = row["answers"] if isinstance(row["answers"], list) else []
    answers = {normal(tokenise(answer)) for answer in given}
    standing = tuple(sorted(answer for answer in answers if answer and f" {' '.join(answer)} " in text))
    if not row["explicit"] or not standing:
        return
    try:
        example = question(document, str(row["question"]))
    except GareaderError:
        example = None
    yield Asked(str(row.get("id", "")), words[0].lower(), example, standing)


def with_answer(asked: Asked) -> Example | None:
    """The example with its answer: the candidate that is equal to one, or else has its noun; None if there is none."""
    example = asked.example
    names = [normal(words) for words in example.candidates] if example else []
    equal = [number for number, name in enumerate(names) if name in asked.answers]
    alike = [number for number, name in enumerate(names) if same_head(name, asked.answers)]
    return replace(example, id=asked.id, answer=(equal or alike)[0]) if example and (equal or alike) else None


def measured(model: str, asked: Sequence[Asked]) -> list[Tally]:
    """The counts by question word, the most frequent first, and of all."""
    predictions = iter(load(model).answer_many(each.example for each in asked if each.example))
    tallies = {"all": Tally("all")}
    for each in asked:
        prediction = next(predictions) if each.example else None
        names = [normal(words) for words in each.example.candidates] if each.example else []
        best = names[prediction.order[0]] if prediction else ()
        for tally in (tallies.setdefault(each.word, Tally(each.word)), tallies["all"]):
            tally.questions += 1
            tally.refused += prediction is None
            tally.candidates += len(names)
            tally.proposed += any(name in each.answers for name in names)
            tally.proposed_head += any(same_head(name, each.answers) for name in names)
            tally.right += best in each.answers
            tally.right_head += same_head(best, each.answers)
    return sorted(tallies.values(), key=lambda tally: -tally.questions)


def normal(words: Words) -> Words:
    """The words in lower case, without determiners, prepositions and titles before them, and without marks."""
    kept = [word.lower() for word in words]
    while kept and (kept[0] in BEFORE_NOUN or not kept[0][0].isalnum() or (len(kept) > 1 and kept[0] in _TITLES)):
        kept = kept[1:]
    while kept and not kept[-1][0].isalnum():
        kept = kept[:-1]
    return tuple(kept)


def same_head(name: Words, answers: Iterable[Words]) -> bool:
    """Whether the name has the noun of an answer, and all other words of one are words of the other."""
    for answer in answers:
        end = next((place for place, word in enumerate(answer) if word in _AFTER_HEAD and place), len(answer))
        phrase = answer[:end]
        if name == answer or (
            name and name[-1] == phrase[-1] and (set(name) <= set(phrase) or set(phrase) <= set(name))
        ):
            return True
    return False


def in_words(tallies: Sequence[Tally]) -> str:
    """The counts as a table."""
    lines = ["word     questions  refused  candidates  proposed  same noun    right [95 %]            same noun [95 %]"]
    for tally in tallies:
        count = tally.questions
        shares = []
        for right in (tally.right, tally.right_head):
            low, high = wilson_interval(right, count)
            shares.append(f"{right / count:6.1%} [{low:6.1%}, {high:6.1%}]")
        lines.append(
            f"{tally.word:8} {count:9}  {tally.refused / count:7.1%}  {tally.candidates / count:10.1f}"
            f"  {tally.proposed / count:8.1%}  {tally.proposed_head / count:9.1%}   {'   '.join(shares)}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    start(main)
