"""Questions as Python has them: Examples, tuples, and dicts such as the rows of data frames and datasets."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gareader.core.errors import CorpusError, ExampleError, QuestionError
from gareader.data.corpora import jsonl
from gareader.data.examples import Example
from gareader.data.text import question

Question = Example | tuple[str, str] | tuple[str, str, Iterable[str] | None] | Mapping[str, Any]
"""An Example, (document, query), (document, query, candidates), or a dict with the keys of a line of JSON."""

SHAPE = '(document, query), (document, query, candidates) or {"document": …, "query": …, "candidates": […]}'


def example_of(item: Question, number: int) -> Example:
    """The Example of a question; candidates are proposed if there are none; errors name the question's number."""
    if isinstance(item, Example):
        return item
    try:
        as_dict = getattr(item, "_asdict", None)  # of a named tuple, such as a row of DataFrame.itertuples
        item = item if as_dict is None else as_dict()
        if isinstance(item, Mapping):
            row = {str(key): _plain(value) for key, value in item.items() if not _missing(value)}
            return jsonl.question_of(row, Path("question"), number)
        if isinstance(item, tuple | list) and len(item) in (2, 3):
            return replace(question(*_checked(*item)), id=f"question:{number}")
    except CorpusError as error:
        raise QuestionError(f"question {number}: {error.problem}") from None
    except (ExampleError, QuestionError) as error:
        raise QuestionError(f"question {number}: {error}") from None
    raise QuestionError(f"question {number}: this is {type(item).__name__}; give an Example, {SHAPE}")


def _checked(document: Any, query: Any, candidates: Any = None) -> tuple[str, str, Any]:
    """The parts of a tuple; raises QuestionError for one that is no text."""
    choices = None if _missing(candidates) else candidates
    if choices is not None and not isinstance(choices, str):
        choices = [*choices] if isinstance(choices, Iterable) else [choices]
    for name, text in (("document", document), ("query", query), *(("candidates", each) for each in choices or ())):
        if not isinstance(text, str):
            raise QuestionError(f"{name}: {type(text).__name__} where text is due; give {SHAPE}")
    return document, query, choices


def _missing(value: Any) -> bool:
    """Whether a cell is empty: None, NaN or pandas' NA."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NAType"


def _plain(value: Any) -> Any:
    """Arrays, tuples and numbers of numpy as Python's lists and numbers."""
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
