"""Commands that answer questions: answer, demo."""

import json
from collections.abc import Iterator
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from gareader.cli.app import (
    AtLeastOne,
    Candidates,
    DocumentFile,
    Json,
    ModelName,
    Modules,
    Query,
    Skipped,
    import_modules,
    model_folder,
)
from gareader.core.errors import CorpusError, ForeignLineError, GareaderError, QuestionError
from gareader.core.files import LARGEST, STDIN, opened
from gareader.core.terminal import shown
from gareader.data import corpora
from gareader.data.corpora import files, jsonl
from gareader.data.examples import PLACEHOLDER, SURE, Example, Prediction
from gareader.data.prose import detokenise, pieces
from gareader.data.sources import STORIES
from gareader.data.text import query_words, question
from gareader.trained.models import DEFAULT
from gareader.trained.predictor import Answering, load

if TYPE_CHECKING:
    from rich.text import Text

FOR_EXAMPLE = "for example: --candidates 'Tom|Mary Ann'"

CHARACTERS = 4_000_000
"""The most characters of a document: a long novel."""

SHADES = (0.1, "bold black on bright_yellow"), (0.03, "black on yellow"), (0.01, "yellow")
"""Styles of words, by the least share of the attention."""


def answer(
    *,
    document: DocumentFile = None,
    query: Query = None,
    candidates: Candidates = None,
    batch: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    model: ModelName = DEFAULT,
    top: AtLeastOne | None = None,
    modules: Modules = (),
    as_json: Json = False,
) -> None:
    """Answer a question about a text: candidates with their probabilities, the most probable first.

    A candidate that is not in the document has no chance; of one that is there only in part, the words that are there
    count, as in the paper. Both are marked; in JSON they are listed as `absent` and `in_part`.

    Example: `gareader answer --document configs/tiny/story.txt --query "XXXXX has the lamp."`

    Parameters
    ----------
    batch
        Instead of one question: a file of JSON lines with document, query and, if you like, candidates; - for
        standard input, where each question is answered as it comes.
    top
        Show only so many candidates.
    """
    one = document is not None and query is not None and batch is None
    many = batch is not None and document is query is candidates is None
    if not one and not many:
        raise GareaderError("give --document and --query, or --batch and neither of them; - reads standard input")
    folder = model_folder(model)
    if batch is None:
        example = example_of(str(document), str(query), candidates)
    elif not (path := source(batch)).is_fifo() and path != STDIN:  # a pipe can be read only once
        files.beginning(path)  # raises an error for a file that cannot be read at all
    import_modules(modules)
    if batch is not None:
        answer_batch(load(folder), batch, top)
        return
    prediction = load(folder).answer_example(example)
    if as_json:
        print(shown(json.dumps(record(prediction, top), ensure_ascii=False)))
    else:
        if PLACEHOLDER not in query_words(str(query)):
            print(f"{shown(detokenise(example.query))}\n")
        print_ranking(prediction, top)
        print_doubts(prediction)


def example_of(document: str, query: str, candidates: str | None) -> Example:
    """Make the question of --document, --query and --candidates."""
    choices = None if candidates is None else [choice for choice in candidates.split("|") if choice.strip()]
    if choices is not None and len(choices) < 2:
        count = f"{len(choices) or 'no'} candidate answer"
        raise QuestionError(f"{count} in --candidates; separate at least two by |, {FOR_EXAMPLE}")
    try:
        return question(read_text(source(document)), query, choices)
    except QuestionError as error:
        raise QuestionError(f"{error}, {FOR_EXAMPLE}") from None


def answer_batch(model: Answering, name: str, top: int | None) -> None:
    """Read and write JSON lines; the number of a bad line goes to stderr, and the others are answered."""
    skipped = SkippedQuestions()
    questions = batch_questions(source(name), skipped)
    if name == "-":
        predictions: Iterator[Prediction] = (model.predict([question])[0] for question in questions)
    else:
        predictions = model.answer_many(questions)
    for prediction in predictions:
        print(shown(json.dumps(record(prediction, top), ensure_ascii=False)), flush=True)
    if count := skipped.count:
        raise GareaderError(f"{count} bad line{'s' * (count > 1)} passed over; all others are answered")


def batch_questions(path: Path, skipped: Skipped) -> Iterator[Example]:
    """Yield the questions of the lines up to damage of the file; candidates are proposed if a line has none."""
    try:
        yield from jsonl.read(path, skipped, propose=True)
    except CorpusError as damage:
        skipped(damage)


class SkippedQuestions(Skipped):
    """Skips bad lines, unless the first line is no JSON object: then the file has another format."""

    def __call__(self, error: CorpusError) -> None:
        """Report the error, or raise it."""
        if error.line == 1 and isinstance(error, ForeignLineError):
            problem = f"this is no JSON object; --batch takes lines {jsonl.SHAPE}, id and answer if you like"
            other = "for other formats type: gareader evaluate MODEL FILE --predictions answers.jsonl"
            raise GareaderError(f"{error.path}:1: {problem}; {other}")
        super().__call__(error)


def source(name: str) -> Path:
    """The file of that name; - is standard input."""
    return STDIN if name == "-" else Path(name)


def record(prediction: Prediction, top: int | None = None) -> dict[str, Any]:
    """The JSON record of a prediction, with the candidates that are only in part in the document."""
    in_part = [" ".join(prediction.example.candidates[place]) for place in prediction.in_part]
    return {**prediction.record(top), "in_part": in_part}


def print_ranking(prediction: Prediction, top: int | None = None) -> None:
    """Print the candidates as a table, with a note on those that are not in the document, or only in part."""
    candidates = [shown(detokenise(prediction.example.candidates[place])) for place in prediction.order]
    width = max(map(len, candidates))
    notes = dict.fromkeys(prediction.in_part, "   only in part in the document")
    notes |= dict.fromkeys(prediction.absent, "   not in the document")
    for candidate, place in list(zip(candidates, prediction.order, strict=True))[:top]:
        print(f"{candidate:<{width}}  {exp(prediction.log_probabilities[place]):6.1%}{notes.get(place, '')}")


def print_doubts(prediction: Prediction) -> None:
    """Print that the answer is more probably wrong than right, and what is unusual about the text."""
    if prediction.unsure:
        print(f"\nNot sure: no answer has {SURE:.0%} or more, so the first one is more probably wrong than right.")
    if prediction.remark:
        print(f"\nNote: {prediction.remark}.")


def read_text(path: Path) -> str:
    """Read a text file, which may be compressed."""
    with opened(path) as content:
        try:
            text = content.read(LARGEST + 1)
            if len(text) > LARGEST:
                raise files.too_large("text", path)
            characters = len(document := text.decode())
        except UnicodeDecodeError as error:
            raise CorpusError(f"this is not UTF-8 text ({error.reason}); save it as UTF-8", path) from None
    if characters > CHARACTERS:
        limit = f"{characters:,} characters in one text, and {CHARACTERS:,} are the most"
        raise CorpusError(f"{limit}; give a part of it, such as a chapter", path)
    return document


def demo() -> None:
    """Answer the question about the bundled story, and show where the model looked.

    Example: `gareader demo`
    """
    from rich.console import Console  # answers do not wait for it

    example = next(corpora.read(STORIES))
    prediction = load().answer_example(example)
    console = Console(highlight=False, markup=False)
    console.print(coloured(prediction))
    console.print("\nQuestion: " + detokenise(example.query) + "\n", style="bold")
    print_ranking(prediction)
    console.print("\nWhere it looked (words with most of the final attention):", style="bold")
    print_attention(prediction)
    own = 'Your own text: gareader answer --document story.txt --query "XXXXX has the lamp."'
    console.print(f"\n{own}", style="dim", soft_wrap=True)


def coloured(prediction: Prediction) -> "Text":
    """The document in colours: the more of the final attention a word has, the brighter it is."""
    from rich.text import Text

    text = Text()
    shares = prediction.attention.document if prediction.attention else ()
    for (space, word), share in zip(pieces(prediction.example.document), shares, strict=True):
        style = next((style for least, style in SHADES if share >= least), "dim")
        text.append(space).append(word, style)
    return text


def print_attention(prediction: Prediction, places: int = 8, context: int = 4, width: int = 30) -> None:
    """Print the words with the largest shares of the final attention, each in brackets between its neighbours."""
    words = list(pieces(prediction.example.document))
    shares = prediction.attention.document if prediction.attention else ()
    for place in sorted(range(len(shares)), key=lambda i: -shares[i])[:places]:
        space, word = words[place]
        before = "".join(each for piece in words[max(0, place - context) : place] for each in piece)
        before = before.lstrip(" .,;:!?…”’)]}") + space  # no excerpt begins with the end of a sentence
        after = "".join(each for piece in words[place + 1 : place + 1 + context] for each in piece)
        before = before if len(before) <= width else "…" + before[1 - width :]
        after = after if len(after) <= width else after[: width - 1] + "…"
        print(shown(f"{shares[place]:6.1%}  {before:>{width}}[{word}]{after}"))
