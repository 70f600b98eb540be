"""The description of the service for machines, in the form of OpenAPI; the page /docs shows it as tables."""

from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]

STORY = "Ann has the lamp. Ben has the drum."
OPEN = {"document": STORY, "query": "___ has the drum."}
ASKED = {**OPEN, "candidates": ["Ann", "Ben"]}
SECOND = {"document": STORY, "query": "Ann has the ___.", "candidates": ["lamp", "drum"], "attention": True}
ANSWERED = {
    "id": "question",
    "query": "___ has the drum .",
    "best": "Ben",
    "ranking": [{"answer": "Ben", "probability": 0.8}, {"answer": "Ann", "probability": 0.2}],
    "absent": [],
    "unsure": False,
    "model": "stories",
}
PROBLEMS = {
    400: "The question cannot be answered: no candidate in the document, no blank, and the like.",
    401: "The token is missing or wrong.",
    408: "The request has not come to its end in time.",
    413: "Larger than the service takes.",
    421: "The service is not known by the name in the header Host.",
    422: "Not a question as the service takes it.",
    429: "Too many words of this client wait; Retry-After says when to come again.",
    431: "The headers are too large.",
    500: "The service failed.",
    501: "A transfer coding that the service does not know.",
    503: "Too many questions wait, or the answer took too long; Retry-After says when to come again.",
}


def description(most_questions: int) -> Json:
    """The OpenAPI document of a service that takes so many questions in one request."""
    questions = {"type": "array", "items": _ref("Question"), "minItems": 1, "maxItems": most_questions}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "gareader",
            "version": "1",
            "summary": "Cloze questions about a text: a probability for each possible answer.",
        },
        "paths": {
            "/answer": _post(
                "Answer questions",
                "Answer a question, or each of a list.",
                {"anyOf": [_ref("Question"), questions]},
                {
                    "a question": ASKED,
                    "without candidates: the names of the document are proposed": OPEN,
                    "two questions, the second with attention": [{"id": "first", **ASKED}, {"id": "second", **SECOND}],
                },
                {"anyOf": [_ref("Answer"), _list(_ref("Answer"))]},
                {"the answer to one question": ANSWERED},
            ),
            "/candidates": _post(
                "Propose candidates",
                "Possible answers, proposed from the document: its names first.",
                _ref("Text"),
                {"a document and a query": OPEN},
                _list(_text()),
                {"names": ["Ann", "Ben"]},
            ),
            "/models": _get(
                "List the models",
                "The models that answer, the default first, with their accuracy.",
                _list(_ref("Model")),
                {"the model in the box": [{"name": "stories", "reader": "gated_attention"}]},
            ),
            "/health": _get(
                "Whether the service is up",
                "Whether the service is up, and how many questions wait.",
                _ref("Health"),
                {"nothing to do": {"status": "ok", "waiting": 0}},
                with_token=False,
            ),
            "/metrics": _get(
                "Counters for Prometheus",
                "Requests by path and status, seconds to an answer, batch sizes, waiting questions, connections "
                "and memory, of all workers together.",
                _text(),
                {"a counter": 'gareader_requests_total{path="/answer",status="200"} 12'},
                kind="text/plain",
            ),
        },
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Needed if the service was started with --token.",
                }
            },
            "schemas": SCHEMAS,
        },
    }


def _get(
    summary: str, about: str, gives: Json, examples: Json, *, kind: str = "application/json", with_token: bool = True
) -> Json:
    problems = [400, *[401] * with_token, 408, 413, 421, 431, 501]
    return {"get": _operation(summary, about, with_token, {}, _content(kind, gives, examples), problems)}


def _post(summary: str, about: str, takes: Json, requests: Json, gives: Json, responses: Json) -> Json:
    body = {"requestBody": {"required": True, "content": _content("application/json", takes, requests)}}
    return {"post": _operation(summary, about, True, body, _content("application/json", gives, responses), PROBLEMS)}


def _operation(summary: str, about: str, with_token: bool, body: Json, content: Json, problems: Iterable[int]) -> Json:
    return {
        "operationId": summary.lower().replace(" ", "_"),
        "summary": summary,
        "description": about,
        **({"security": [{}, {"token": []}]} if with_token else {}),
        **body,
        "responses": {
            "200": {"description": about, "content": content},
            **{
                str(code): {"description": PROBLEMS[code], "content": _content("application/json", _ref("Problem"), {})}
                for code in problems
            },
        },
    }


def _content(kind: str, schema: Json, examples: Json) -> Json:
    named = {name.partition(":")[0].replace(" ", "_"): {"summary": name, "value": examples[name]} for name in examples}
    return {kind: {"schema": schema, **({"examples": named} if named else {})}}


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _text(about: str | None = None, **more: Any) -> Json:
    return {"type": "string", **more, **({"description": about} if about else {})}


def _list(items: Json, about: str | None = None) -> Json:
    return {"type": "array", "items": items, **({"description": about} if about else {})}


def _or_null(schema: Json, about: str) -> Json:
    return {"anyOf": [schema, {"type": "null"}], "description": about}


def _object(about: str, needed: str, **properties: Json) -> Json:
    return {"type": "object", "description": about, "required": needed.split(), "properties": properties}


SCHEMAS = {
    "Question": {
        **_object(
            "A text, a sentence with one blank, and possible answers.",
            "document query",
            document=_text("The text that holds the answer.", minLength=1),
            query=_text("A sentence with one blank, such as ___, or a question that ends with ?", minLength=1),
            candidates=_or_null(
                _list(_text(minLength=1)),
                "Possible answers of one or more words; proposed from the document if not given.",
            ),
            model=_or_null(_text(minLength=1), "A name from /models; the first there if not given."),
            attention={"type": "boolean", "default": False, "description": "Also tell where the model looked."},
            id=_text("A name for the question, which its answer has too.", default="question"),
        ),
        "additionalProperties": False,
    },
    "Text": {
        **_object(
            "A text for which candidates are proposed.",
            "document",
            document=_text("The text that holds the answer.", minLength=1),
            query=_text("The question; its words are not proposed.", default=""),
        ),
        "additionalProperties": False,
    },
    "Answer": _object(
        "The candidates, the most probable first.",
        "id query best ranking absent unsure model",
        id=_text("The question's."),
        best=_text("The most probable candidate."),
        ranking=_list(_ref("Candidate"), "All candidates with their probabilities."),
        query=_text("The query as a sentence with the blank ___, to which a question is rewritten."),
        absent=_list(_text(), "Candidates that are not in the document."),
        unsure={"type": "boolean", "description": "Whether the best answer is more probably wrong than right."},
        remark=_text("What is unusual about the text, if anything."),
        model=_text("The name of the model that has answered."),
        attention=_ref("Attention"),
    ),
    "Candidate": _object(
        "A possible answer.",
        "answer probability",
        answer=_text("Its words."),
        probability={"type": "number", "description": "0 if it is not in the document."},
    ),
    "Attention": _object(
        "Where the model looked.",
        "document query candidates hops final",
        document=_list(_text(), "The document's words."),
        query=_list(_text(), "The query's words, between @begin and @end."),
        candidates=_list(
            _list({"type": "integer"}), "For each candidate, in the order of the ranking, where it stands."
        ),
        hops=_list(
            _list(_list({"type": "number"})),
            "For each hop and document word, its attention with each word of the query.",
        ),
        final=_list({"type": "number"}, "The final attention over the document."),
    ),
    "Model": _object(
        "A model; what else is known about it depends on the model.",
        "name",
        name=_text("What a question gives as its model."),
    ),
    "Health": _object(
        "The state of the service.",
        "status waiting",
        status=_text("ok"),
        waiting={"type": "integer", "description": "Questions without an answer yet."},
    ),
    "Problem": _object(
        "What is wrong with a request, and what to do about it.", "detail", detail=_text("One sentence.")
    ),
}
