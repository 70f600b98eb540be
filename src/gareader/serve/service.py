"""The HTTP service, which answers a question or a list of questions, and serves the page."""

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from importlib.resources import files
from typing import Annotated, Any

from fastapi import Body, Depends, FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gareader.core.errors import GareaderError, QuestionError
from gareader.data.examples import Example, Prediction
from gareader.data.language.candidates import find_candidates
from gareader.data.language.questions import as_cloze
from gareader.data.text import query_words, question_of, tokenise
from gareader.serve.batcher import Batcher, OverloadedError
from gareader.serve.messages import NOT_MARKED, SENTENCES, Answer, Limits, Problem, Question, answer_of, sentence
from gareader.trained.predictor import Answering

PAGE = files("gareader.serve") / "page"
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem, "description": text}
    for code, text in {
        400: "The question cannot be answered: no candidate in the document, no blank, and the like.",
        401: "The token is missing or wrong.",
        413: "Larger than the service takes.",
        422: "Not a question as the service takes it.",
        500: "The service failed.",
        503: "Too many questions wait, or the answer took too long; Retry-After says when to come again.",
    }.items()
}


def create_app(
    readers: Mapping[str, Answering],
    *,
    about: Sequence[Mapping[str, Any]] = (),
    limits: Limits | None = None,
    token: str | None = None,
    batch_size: int = 32,
) -> FastAPI:
    """The service with these models, the first of them the default; `about` is the response of /readers."""
    limits = limits or Limits()
    batchers: dict[str, Batcher] = {}

    @asynccontextmanager
    async def open_readers(app: FastAPI) -> AsyncIterator[None]:  # noqa: ARG001
        for name, predictor in readers.items():
            batchers[name] = Batcher(predictor, batch_size=batch_size, most_waiting=limits.waiting)
        yield
        for batcher in batchers.values():
            await run_in_threadpool(batcher.close)

    app = FastAPI(
        title="gareader",
        summary="Cloze questions about a text: a probability for each possible answer.",
        version="1",
        lifespan=open_readers,
        docs_url=None,
        redoc_url=None,
    )
    app.add_middleware(Guard, body_bytes=limits.body_bytes)
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(400)(_unreadable)
    app.exception_handler(404)(lambda *_: _problem(404, "there is nothing here; /docs shows what there is"))
    app.exception_handler(405)(_other_method)
    failed = "the service failed, which its log explains; ask something else"
    app.exception_handler(Exception)(lambda *_: _problem(500, failed, HEADERS))
    allowed = [Depends(_token_check(token))]

    @app.post("/answer", response_model=Answer | list[Answer], responses=PROBLEMS, dependencies=allowed)
    async def answer(
        body: Annotated[Question | Annotated[list[Question], Body(min_length=1, max_length=limits.questions)], Body()],
    ) -> Response:
        """Answer a question, or each of a list."""
        questions = body if isinstance(body, list) else [body]
        names = [each.reader or next(iter(batchers)) for each in questions]
        if unknown := next((name for name in names if name not in batchers), None):
            raise HTTPException(400, f"there is no reader {unknown!r} here; known: {', '.join(batchers)}")
        predictions = await _predictions(questions, [batchers[name] for name in names], limits)
        texts = await run_in_threadpool(_as_json, questions, names, predictions)
        return Response(f"[{','.join(texts)}]" if isinstance(body, list) else texts[0], media_type="application/json")

    @app.post("/candidates", responses=PROBLEMS, dependencies=allowed)
    async def candidates(document: Annotated[str, Body(min_length=1)], query: Annotated[str, Body()] = "") -> list[str]:
        """Possible answers, proposed from the document, of the kinds that the query asks for."""
        words = await run_in_threadpool(_words, document, query, limits)
        return await run_in_threadpool(_proposals, *words)

    @app.get("/readers", dependencies=allowed, responses={401: PROBLEMS[401]})
    async def list_readers() -> list[dict[str, Any]]:
        """The readers that answer, the default first."""
        return [dict(each) for each in about] or [{"name": name} for name in readers]

    @app.get("/stories", include_in_schema=False)
    async def stories() -> list[dict[str, Any]]:
        return bundled_stories()

    @app.get("/healthz")
    async def health() -> dict[str, Any]:
        """Whether the service is up, and how many questions wait."""
        return {"status": "ok", "waiting": sum(batcher.waiting for batcher in batchers.values())}

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return _file("index.html")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return _file("docs.html")

    @app.get("/page/{name}", include_in_schema=False)
    async def page_file(name: str) -> Response:
        return _file(name)

    return app


async def _predictions(questions: Sequence[Question], batchers: Sequence[Batcher], limits: Limits) -> list[Prediction]:
    attention: list[int] = []  # the number of weights of each question that asks for attention
    futures: list[Future[Prediction]] = []
    try:
        for number, (each, batcher) in enumerate(zip(questions, batchers, strict=True)):
            make = partial(_example, each, number, limits, attention)
            futures.append(batcher.ask(make, attention=each.attention))
        return await asyncio.wait_for(asyncio.gather(*map(asyncio.wrap_future, futures)), limits.seconds)
    except OverloadedError:
        for future in futures:  # all questions of a list are answered, or none
            future.cancel()
        raise HTTPException(503, "too many questions wait; come again later", {"Retry-After": "1"}) from None
    except TimeoutError:
        problem = f"no answer within {limits.seconds:g} seconds; ask less at a time, or come again later"
        raise HTTPException(503, problem, {"Retry-After": "5"}) from None


def _as_json(questions: Sequence[Question], names: Sequence[str], predictions: Sequence[Prediction]) -> list[str]:
    """The answers as JSON, one at a time: with attention a single answer may have a million numbers."""
    texts = []
    for number, (each, name, prediction) in enumerate(zip(questions, names, predictions, strict=True)):
        if not prediction.answerable:
            raise HTTPException(400, f"{_place(number)}no candidate occurs in the document; give others")
        texts.append(answer_of(prediction, name, attention=each.attention).model_dump_json(exclude_none=True))
    return texts


def _example(question: Question, number: int, limits: Limits, attention: list[int]) -> Example:
    """The question as words; limits are checked before the work that they limit."""
    if len(question.candidates or ()) > limits.candidates:
        raise HTTPException(413, f"{_place(number)}more than {limits.candidates} candidates; give fewer")
    document, query = _words(question.document, question.query, limits, number)
    try:
        example = replace(question_of(document, query, question.candidates), id=question.id)
    except QuestionError as error:
        raise HTTPException(400, f'{_place(number)}{error}, for example "candidates": ["Tom", "Mary Ann"]') from None
    except GareaderError as error:
        raise HTTPException(400, f"{_place(number)}{error}") from None
    if max(map(len, example.candidates)) > limits.candidate_words:
        raise HTTPException(
            413, f"{_place(number)}a candidate of more than {limits.candidate_words} words; give a part"
        )
    if question.attention:
        attention.append(len(document) * (len(query) + len(example.candidates)))
        if sum(attention) > limits.attention:
            problem = f"attention of {sum(attention):,} numbers; {limits.attention:,} are the most"
            raise HTTPException(413, f"{_place(number)}{problem}; give less at a time, or ask without attention")
    return example


def _proposals(document: tuple[str, ...], query: tuple[str, ...]) -> list[str]:
    """Candidates from the document for this query, which may be empty."""
    try:
        cloze = as_cloze(query)
    except GareaderError as error:
        raise HTTPException(400, str(error)) from None
    return [" ".join(words) for words in find_candidates(document, cloze.query, cloze.kinds)]


def _words(document: str, query: str, limits: Limits, number: int = 0) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of document and query; raise 413 if they are too many."""
    _check_length(document.split(), query.split(), limits, number)  # cheap, and enough for most texts
    words = tokenise(document), query_words(query)
    _check_length(*words, limits, number)
    return words


def _check_length(document: Sequence[str], query: Sequence[str], limits: Limits, number: int) -> None:
    for name, words, most in (("document", document, limits.document_words), ("query", query, limits.query_words)):
        if len(words) > most:
            problem = f"the {name} has {len(words):,} words; {most:,} are the most; give a part of it"
            raise HTTPException(413, f"{_place(number)}{problem}")


def _place(number: int) -> str:
    return f"question {number + 1}: " if number else ""


def _token_check(token: str | None) -> Callable[..., None]:
    bearer = HTTPBearer(auto_error=False)

    def check(given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]) -> None:
        if token is not None and not (given and hmac.compare_digest(given.credentials.encode(), token.encode())):
            raise HTTPException(
                401, "send the service's token: Authorization: Bearer …", {"WWW-Authenticate": "Bearer"}
            )

    return check


class Guard:
    """Limits the bytes of a request while they arrive, and adds the security headers to every response."""

    def __init__(self, app: ASGIApp, body_bytes: int) -> None:
        self.app = app
        self.body_bytes = body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        size = 0

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self.body_bytes:
                raise HTTPException(413, f"the request is larger than {self.body_bytes:,} bytes; ask less at a time")
            return message

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] == "http":
            await self.app(scope, counted, with_headers)
        else:
            await self.app(scope, receive, send)


def _invalid(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """Respond with one plain sentence instead of pydantic's list of errors."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - it is this handler's only kind
    if isinstance(error.body, bytes):
        return _problem(422, NOT_MARKED)
    # pydantic has errors for both kinds of body, a question and a list: keep those of the kind that was sent
    is_list = isinstance(error.body, list)
    relevant = [each for each in error.errors() if any("list[" in str(part) for part in each["loc"]) == is_list]
    first = (relevant or error.errors())[0]
    place = [part for part in first["loc"][1:] if "Question" not in str(part)] * (first["type"] != "json_invalid")
    number = place.pop(0) if place and isinstance(place[0], int) else 0
    key = ".".join(map(str, place))
    return _problem(422, f"{_place(number)}{key}{': ' * bool(key)}{sentence(first)}")


def _unreadable(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """Respond to a 400: FastAPI raises it for JSON that Python cannot read, such as one nested too deeply."""
    if error.__cause__:
        return _problem(422, SENTENCES["json_invalid"])
    return _problem(400, getattr(error, "detail", ""))


def _problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"detail": detail}, status, headers)


def _other_method(request: Request, error: Exception) -> Response:
    headers = getattr(error, "headers", None) or {}
    problem = f"{request.url.path} takes {headers.get('Allow')}, not {request.method}; /docs shows how"
    return _problem(405, problem, headers)


def bundled_stories() -> list[dict[str, Any]]:
    """The bundled stories, in the form of the page's links."""
    rows = (files("gareader.data") / "stories" / "stories.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        {
            "t": f"the {row['id']}",
            "d": row["document"],
            "q": row["query"].replace("XXXXX", "___"),
            "c": row["candidates"],
        }
        for row in map(json.loads, rows)
    ]


def _file(name: str) -> Response:
    """A file of the page."""
    kind = KINDS.get(name.rpartition(".")[2])
    path = PAGE / name
    if kind is None or "/" in name or not path.is_file():
        raise HTTPException(404)
    return Response(path.read_bytes(), media_type=kind, headers={"Cache-Control": "no-cache"})
