"""Questions to train on from the texts that were written for this project, and held-out ones to choose models by.

The file has texts with lists of their persons, places and things, and lines `kind | query | answers` (see FORM). One
text of ten is held out, by its id. A training question stands there with the candidates that gareader proposes, and
once more with a few of its own kind.

Example: `python -m benchmarks.written_questions --train written.jsonl --held-out held_out.jsonl`
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

from benchmarks.own_text import Question, normalised
from benchmarks.script import start
from gareader.core.errors import GareaderError
from gareader.core.files import opened
from gareader.core.whole import written_whole
from gareader.data.corpora.jsonl import written
from gareader.data.examples import Example
from gareader.data.language.name_words import TITLES
from gareader.data.text import question

TEXTS = Path(__file__).with_name("written_texts.txt.xz")

FORM = """=== id | genre
paragraphs of the text
---
persons: some; persons
places: some; places
things: some; things
person | A sentence with ___. | an answer; another spelling of it
place? | Where is an ordinary question? | an answer"""

LISTS = {"person": "persons", "place": "places", "noun": "things"}
"""The list that has the candidates of a kind; other kinds have the answers to the other questions of their kind."""
MOST = 7
"""Candidates of a question, where they are of its own kind."""
OWN = "-own"
"""Ends the id of a question that has candidates of its own kind."""
HELD_OUT = 10
"""One text of so many is held out."""


class FormError(GareaderError):
    """A text is not in the form of the file."""


@dataclass(frozen=True)
class Text:
    """A text with its questions."""

    id: str
    genre: str
    document: str
    questions: tuple[Question, ...]
    """Those with too few candidates of their own kind have none."""


def main(
    *,
    texts: Path = TEXTS,
    train: Path | None = None,
    held_out: Path | None = None,
    proposed: Path | None = None,
    given: Path | None = None,
) -> None:
    """Write the questions to train on, and those held out in the form of own_text.jsonl.

    Parameters
    ----------
    texts
        The file of texts.
    train
        Where the training questions go, as JSON lines.
    held_out
        Where the held-out ones go, for `python -m benchmarks.own_text --questions`.
    proposed
        Where the held-out ones go as JSON lines with proposed candidates, to calibrate by.
    given
        Where they go with candidates of their own kind.
    """
    with opened(texts) as content:
        parsed = [*read(content.read().decode())]
    kept = [text for text in parsed if is_held_out(text)]
    trained = [text for text in parsed if not is_held_out(text)]
    if train is not None:
        write(train, trained, [example for text in trained for example in examples(text)])
    some = [example for text in kept for example in examples(text)] if proposed or given else []
    for path, own in ((proposed, False), (given, True)):
        if path is not None:
            write(path, kept, [example for example in some if example.id.endswith(OWN) == own])
    if held_out is not None:
        with written_whole(held_out) as file:
            file.writelines(json.dumps(record(text), ensure_ascii=False) + "\n" for text in kept)
        count = sum(len(text.questions) for text in kept)
        print(f"{held_out}: {count:,} questions about {len(kept):,} texts")


def write(path: Path, texts: Sequence[Text], questions: Sequence[Example]) -> None:
    """Write questions as JSON lines, and say how many."""
    with written_whole(path) as file:
        file.writelines(map(written, questions))
    print(f"{path}: {len(questions):,} questions about {len(texts):,} texts")


def is_held_out(text: Text) -> bool:
    """Whether the text is not for training; more texts do not change it."""
    return crc32(text.id.encode()) % HELD_OUT == 0


def read(content: str) -> Iterator[Text]:
    """The texts of the file, with the questions that can be asked."""
    for part in ("\n" + content).split("\n=== ")[1:]:
        head, _, rest = part.partition("\n")
        name, _, genre = head.partition("|")
        document, separator, table = rest.partition("\n---\n")
        if not separator or not genre:
            raise FormError(f"{name.strip()}: a text is\n{FORM}")
        yield text_of(name.strip(), genre.strip(), document.strip(), table.splitlines())


def text_of(name: str, genre: str, document: str, table: Sequence[str]) -> Text:
    """One text, from the lines of its lists and questions."""
    lists = {key: parts(values) for key, colon, values in (line.partition(":") for line in table) if colon}
    rows = [tuple(cell.strip() for cell in line.split(" | ")) for line in table if " | " in line]
    rows = [row for row in rows if len(row) == 3]
    questions = []
    for number, (kind, query, answers) in enumerate(rows, 1):
        own = kind.removesuffix("?")
        form = "question" if kind.endswith("?") else "cloze"
        acceptable = tuple(answer for answer in spellings(parts(answers)) if answer in document)
        if not acceptable or query.count("___") != (form == "cloze") or inside(acceptable, query):
            continue
        others = (answer for k, _, a in rows if k.removesuffix("?") == own for answer in parts(a)[:1])
        choices = [*lists.get(LISTS.get(own, ""), ()), *others]
        candidates = of_own_kind(f"{name}-{number}", document, acceptable, choices)
        questions.append(Question(f"{name}-{number}", form, query, acceptable, candidates, own, genre, document))
    return Text(name, genre, document, tuple(questions))


def of_own_kind(name: str, document: str, acceptable: Sequence[str], choices: Sequence[str]) -> tuple[str, ...]:
    """The right answer and up to MOST - 1 others, in alphabetical order; none if there are less than two others."""
    right = {normalised(answer) for answer in acceptable}
    others: dict[str, str] = {}
    for choice in choices:
        key = normalised(choice)
        if choice in document and key and not any(key in known or known in key for known in {*right, *others}):
            others[key] = choice
    if len(others) < 2:
        return ()
    drawn = Random(name).sample([*others.values()], min(MOST - 1, len(others)))  # noqa: S311
    return tuple(sorted([acceptable[0], *drawn]))


def examples(text: Text) -> Iterator[Example]:
    """The training questions about a text: with the proposed candidates, and with those of the answer's kind."""
    for each in text.questions:
        right = {normalised(answer) for answer in each.answers}
        for candidates in (None, each.candidates):
            if candidates == ():
                continue
            try:
                example = question(text.document, each.query, candidates)
            except GareaderError:
                continue
            names = [normalised(" ".join(words)) for words in example.candidates]
            answers = [number for number, name in enumerate(names) if name in right]
            if answers and len(example.candidates) > len(answers):
                first = example.candidates[answers[0]]
                choices = tuple(words for i, words in enumerate(example.candidates) if i not in answers[1:])
                yield replace(
                    example,
                    id=f"{each.id}{'' if candidates is None else OWN}",
                    candidates=choices,
                    answer=choices.index(first),
                    proposed=False,
                )


def record(text: Text) -> dict[str, Any]:
    """A text as own_text.jsonl has it; only questions with candidates of their kind."""
    of_text = {"genre": text.genre, "document": text.document}
    questions = [asdict(each) for each in text.questions if each.candidates]
    own = [{key: value for key, value in each.items() if key not in of_text} for each in questions]
    return {"id": text.id, **of_text, "questions": own}


def spellings(answers: Sequence[str]) -> list[str]:
    """The answers, and the names without their titles: Ruth for Aunt Ruth."""
    bare = [answer.partition(" ")[2] for answer in answers if answer.partition(" ")[0] in TITLES]
    return [*dict.fromkeys([*answers, *filter(None, bare)])]


def inside(acceptable: Sequence[str], query: str) -> bool:
    """Whether the query names an answer."""
    return any(f" {answer.lower()} " in f" {query.lower().strip('.?!')} " for answer in acceptable)


def parts(values: str) -> list[str]:
    """The parts of a list that semicolons separate."""
    return [part.strip() for part in values.split(";") if part.strip()]


if __name__ == "__main__":
    start(main)
