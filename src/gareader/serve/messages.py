"""Requests and responses of the service, and limits on their size."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from gareader.core.errors import did_you_mean
from gareader.data.examples import Attention, Prediction, counted_words


@dataclass(frozen=True)
class Limits:
    """The limits of a request."""

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
    waiting: int = 256
    """The most questions that wait for one model; above it the service answers 503."""
    seconds: float = 30.0
    """The longest time to an answer."""


class Question(BaseModel):
    """A text, a sentence with one blank, and possible answers."""

    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, Field(description="A name for the question, which its answer has too.")] = "question"
    document: Annotated[str, Field(min_length=1, description="The text that holds the answer.")]
    query: Annotated[str, Field(min_length=1, description="A sentence with one blank, such as ___, or a question.")]
    candidates: Annotated[
        list[Annotated[str, Field(min_length=1)]] | None,
        Field(description="Possible answers of one or more words; proposed from the document if not given."),
    ] = None
    reader: Annotated[str | None, Field(description="A name from /readers; the first there if not given.")] = None
    attention: Annotated[bool, Field(description="Also tell where the reader looked.")] = False


class AttentionWeights(BaseModel):
    """Where the reader looked."""

    document: Annotated[list[str], Field(description="The document's words.")]
    query: Annotated[list[str], Field(description="The query's words, between @begin and @end.")]
    candidates: Annotated[
        list[list[int]], Field(description="For each candidate, in the order of the ranking, where it stands.")
    ]
    hops: Annotated[
        list[list[list[float]]],
        Field(description="For each hop and document word, its attention with each word of the query."),
    ]
    final: Annotated[list[float], Field(description="The final attention over the document.")]


class Candidate(BaseModel):
    """A possible answer."""

    answer: str
    probability: float


class Answer(BaseModel):
    """The candidates, the most probable first."""

    id: Annotated[str, Field(description="The question's.")]
    query: Annotated[
        str, Field(description="The query as a sentence with the blank ___, to which a question is rewritten.")
    ]
    best: str
    ranking: list[Candidate]
    absent: Annotated[list[str], Field(description="Candidates that are not in the document.")]
    reader: str
    attention: AttentionWeights | None = None


class Problem(BaseModel):
    """What is wrong with a request, and what to do about it."""

    detail: str


SHAPE = '{"document": "…", "query": "… ___ …", "candidates": ["…", "…"]}'
NOT_MARKED = "the request is not marked as JSON; send the header Content-Type: application/json"
SENTENCES = {
    "json_invalid": f"the request is no JSON; send a question such as {SHAPE}",
    "model_attributes_type": f"this is no question; send one such as {SHAPE}, or a list of them",
    "missing": f"this is missing; a question is {SHAPE}",
    "too_short": "the list is empty; send at least one question",
    "string_too_short": "this is empty; give a text",
    "string_type": 'this is no text; give one, such as "Mary Ann"',
    "string_unicode": "this holds half a character; send whole ones in UTF-8",
    "list_type": 'this is no list; give one, such as ["Tom", "Mary Ann"]',
    "bool_type": "this is neither true nor false; give one of them",
    "bool_parsing": "this is neither true nor false; give one of them",
}
"""The message for each error type of pydantic: what is wrong, and what to do."""


def sentence(problem: Mapping[str, Any]) -> str:
    """An error of pydantic in plain words, without the user's text, except an unknown key."""
    kind = problem["type"]
    if kind == "too_long":
        return f"more than {problem['ctx']['max_length']} questions; send the others in another request"
    if kind == "extra_forbidden":
        return f"unknown key; {did_you_mean(str(problem['loc'][-1]), Question.model_fields)}"
    return SENTENCES.get(kind, f"{problem['msg']}; /docs shows what a question is")


def answer_of(prediction: Prediction, reader: str, *, attention: bool) -> Answer:
    """The response for a prediction."""
    weights = _weights(prediction, prediction.attention) if attention and prediction.attention else None
    return Answer(**prediction.record(), reader=reader, attention=weights)


def _weights(prediction: Prediction, attention: Attention) -> AttentionWeights:
    example = prediction.example
    candidates = [set(counted_words(example.candidates[number])) for number in prediction.order]
    return AttentionWeights(
        document=list(example.document),
        query=list(attention.query),
        candidates=[[place for place, word in enumerate(example.document) if word in each] for each in candidates],
        hops=[hop.astype(float).round(4).tolist() for hop in attention.hops],
        final=attention.document.astype(float).round(5).tolist(),
    )
