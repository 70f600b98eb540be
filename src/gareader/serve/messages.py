"""Requests and responses of the service as JSON, and limits on their size."""

import json
from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any

from gareader.core.errors import did_you_mean
from gareader.data.examples import Attention, Prediction, counted_words
from gareader.serve.http import Problem, Request

CHARACTERS = 10
"""The most characters of a text for each word of its limit; English has five or six, with the space."""


@dataclass(frozen=True)
class Limits:
    body_bytes: int = 1_000_000
    """The most bytes of a request."""
    document_words: int = 10_000
    query_words: int = 1_000
    candidates: int = 100
    candidate_words: int = 100
    """The most words of one candidate."""
    questions: int = 64
    """The most questions of one request."""
    attention: int = 1_000_000
    """The most document words × (query words + candidates), summed over the questions that ask for attention."""
    waiting_words: int = 500_000
    """The most words that wait for one model before a question; above it the service answers 503."""
    client_words: int = 250_000
    """The most of them that are of one client; above it the service answers 429."""
    seconds: float = 30.0
    """The longest time to an answer."""


@dataclass(frozen=True, slots=True)
class Question:
    """A text, a sentence with one blank, and possible answers."""

    document: str
    query: str
    candidates: list[str] | None = None
    model: str | None = None
    attention: bool = False
    id: str = "question"


SHAPE = '{"document": "…", "query": "… ___ …", "candidates": ["…", "…"]}'
NOT_MARKED = "the request is not marked as JSON; send the header Content-Type: application/json"
NO_JSON = f"the request is no JSON; send a question such as {SHAPE}"
MISSING = f"this is missing; a question is {SHAPE}"
NO_QUESTION = f"this is no question; send one such as {SHAPE}, or a list of them"
KEYS = frozenset(field.name for field in fields(Question))


def body_of(request: Request) -> Any:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Problem(422, NOT_MARKED)
    if not request.body:
        raise Problem(422, MISSING)
    try:
        return json.loads(request.body)
    except (ValueError, RecursionError):
        raise Problem(422, NO_JSON) from None


def questions_of(body: Any, most: int) -> list[Question]:
    """The questions of a body: one, or a list."""
    questions = body if isinstance(body, list) else [body]
    if not questions:
        raise Problem(422, "the list is empty; send at least one question")
    if len(questions) > most:
        raise Problem(422, f"more than {most} questions; send the others in another request")
    return [_question(each, place(number)) for number, each in enumerate(questions)]


def document_and_query(body: Any) -> tuple[str, str]:
    """The texts of a request for candidates."""
    _check_keys(body, {"document", "query"}, "")
    return _text(body, "document", ""), _text(body, "query", "", may_be_empty=True) if "query" in body else ""


def place(number: int) -> str:
    """The beginning of a message about a question of a list, which counts from 0."""
    return f"question {number + 1}: " if number else ""


def _question(body: Any, where: str) -> Question:
    _check_keys(body, KEYS, where)
    candidates, attention = body.get("candidates"), body.get("attention", False)
    if candidates is not None:
        if not isinstance(candidates, list):
            raise Problem(422, f'{where}candidates: this is no list; give one, such as ["Tom", "Mary Ann"]')
        for number, each in enumerate(candidates):
            _check_text(each, f"{where}candidates.{number}")
    if not isinstance(attention, bool):
        raise Problem(422, f"{where}attention: this is neither true nor false; give one of them")
    return Question(
        _text(body, "document", where),
        _text(body, "query", where),
        candidates,
        None if body.get("model") is None else _text(body, "model", where),
        attention,
        _text(body, "id", where, may_be_empty=True) if "id" in body else "question",
    )


def _check_keys(body: Any, known: Collection[str], where: str) -> None:
    if not isinstance(body, dict):
        raise Problem(422, f"{where}{NO_QUESTION}")
    if (unknown := next((key for key in body if key not in known), None)) is not None:
        raise Problem(422, f"{where}{unknown[:40]}: unknown key; {did_you_mean(unknown[:40], known)}")


def _text(body: dict[str, Any], key: str, where: str, *, may_be_empty: bool = False) -> str:
    if key not in body:
        raise Problem(422, f"{where}{key}: {MISSING}")
    return _check_text(body[key], f"{where}{key}", may_be_empty=may_be_empty)


def _check_text(text: Any, where: str, *, may_be_empty: bool = False) -> str:
    if not isinstance(text, str):
        raise Problem(422, f'{where}: this is no text; give one, such as "Mary Ann"')
    if not text and not may_be_empty:
        raise Problem(422, f"{where}: this is empty; give a text")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Problem(422, f"{where}: this holds half a character; send whole ones in UTF-8") from None
    return text


def answer_json(prediction: Prediction, model: str, *, attention: bool) -> str:
    text = json.dumps({**prediction.record(), "model": model}, ensure_ascii=False)
    if attention and prediction.attention:
        return f'{text[:-1]}, "attention": {_attention_json(prediction, prediction.attention)}}}'
    return text


def _attention_json(prediction: Prediction, attention: Attention) -> str:
    """The attention, row by row: there may be a million numbers, and other threads have their turn between rows."""
    example = prediction.example
    candidates = [set(counted_words(example.candidates[number])) for number in prediction.order]
    small = {
        "document": example.document,
        "query": attention.query,
        "candidates": [[at for at, word in enumerate(example.document) if word in each] for each in candidates],
        "final": attention.document.astype(float).round(5).tolist(),
    }
    hops = ", ".join(
        f"[{', '.join(json.dumps(row.tolist()) for row in hop.astype(float).round(4))}]" for hop in attention.hops
    )
    return f'{json.dumps(small, ensure_ascii=False)[:-1]}, "hops": [{hops}]}}'
