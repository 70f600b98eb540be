"""Commands that answer questions: answer, demo."""

import json
import sys
from math import inf
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from gareader.cli.app import Json, Skipped, app
from gareader.errors import GareaderError
from gareader.examples import Prediction


@app.command
def answer(
    *,
    document: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    query: str | None = None,
    candidates: str | None = None,
    batch: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    reader: Path,
    top: int | None = None,
    as_json: Json = False,
) -> None:
    """Answer a question about a text: candidates with their probabilities, the most probable first.

    Example: `gareader answer --reader runs/tiny/best --document configs/tiny/story.txt --query "XXXXX has the lamp."`

    Parameters
    ----------
    document
        The text file that holds the answer; - for standard input.
    query
        A sentence with one blank, written XXXXX, ___ or @placeholder.
    candidates
        Possible answers, of one or more words, separated by |; proposed from the document if not given.
    batch
        Instead of one question: a file of JSON lines with document, query and candidates, - for standard input.
    reader
        The folder of a trained reader.
    top
        Show only so many candidates.
    """
    from gareader.predictor import load

    if (batch is None) == (document is None) or (document is None) != (query is None):
        raise GareaderError("give --document and --query, or --batch; - reads standard input")
    found = load(reader)
    if batch is not None:
        answer_batch(found, batch)
        return
    text = sys.stdin.read() if document == "-" else read_text(Path(str(document)))
    choices = None if candidates is None else [choice for choice in candidates.split("|") if choice.strip()]
    prediction = found.answer(text, str(query), choices)
    if as_json:
        print(json.dumps(record(prediction, top), ensure_ascii=False))
    else:
        print_ranking(prediction, top)


def answer_batch(reader: Any, source: str) -> None:
    """JSON lines in, JSON lines out; a bad line is told by its number, and the others are answered."""
    from gareader.corpora import jsonl

    skipped = Skipped()
    path = Path("/dev/stdin" if source == "-" else source)
    for prediction in reader.answer_many(jsonl.read(path, skipped)):
        print(json.dumps(record(prediction), ensure_ascii=False), flush=True)
    if skipped.count:
        raise GareaderError(f"{skipped.count} bad lines were passed over; all others are answered")


def record(prediction: Prediction, top: int | None = None) -> dict[str, Any]:
    """A prediction as programs read it."""
    return {
        "id": prediction.example.id,
        "best": prediction.best if prediction.answerable else None,
        "ranking": [list(item) for item in prediction.ranking[:top]],
    }


def print_ranking(prediction: Prediction, top: int | None = None) -> None:
    """The candidates as a table, those that are not in the document marked."""
    width = max(len(candidate) for candidate, _ in prediction.ranking)
    for (candidate, probability), place in list(zip(prediction.ranking, prediction.order, strict=True))[:top]:
        note = "   not in the document" if prediction.log_probabilities[place] == -inf else ""
        print(f"{candidate:<{width}}  {probability:6.1%}{note}")


def read_text(path: Path) -> str:
    """A text file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise GareaderError(f"{path}: there is no such file; check the path") from None
    except UnicodeDecodeError as error:
        raise GareaderError(f"{path}: this is not UTF-8 text ({error.reason}); save it as UTF-8") from None


@app.command
def demo() -> None:
    """Answer the question about the bundled story.

    Example: `gareader demo`
    """
    from importlib.resources import as_file, files

    from gareader import corpora
    from gareader.predictor import untrained

    with as_file(files("gareader") / "stories" / "stories.jsonl") as stories:
        example = next(corpora.read(stories))
    console = Console(highlight=False, markup=False)
    console.print(" ".join(example.document), style="dim")
    console.print("\nQuestion: " + " ".join(example.query) + "\n", style="bold")
    print_ranking(untrained().answer_example(example))
    console.print("\nThe weights of this reader are random: it has learned nothing yet, and its answer is a guess.")
