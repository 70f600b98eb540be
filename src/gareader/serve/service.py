"""The HTTP service, which answers a question or a list of questions, and serves the page."""

import asyncio
import hmac
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from time import perf_counter
from typing import Any, TypeVar

from gareader.core.errors import GareaderError, ModelError, QuestionError
from gareader.data.examples import Example, Prediction, Words
from gareader.data.text import paragraphs, propose_candidates, query_words, question_of
from gareader.kernels.library import threads
from gareader.serve.batcher import Batcher, OverloadedError
from gareader.serve.hosts import Hosts
from gareader.serve.http import Problem, Request, Response
from gareader.serve.log import Log
from gareader.serve.messages import (
    CHARACTERS,
    Limits,
    Question,
    answer_json,
    body_of,
    document_and_query,
    place,
    questions_of,
)
from gareader.serve.metrics import Metrics
from gareader.serve.openapi import description
from gareader.serve.turns import Turns
from gareader.trained.predictor import Answering

KINDS = {"html": "text/html; charset=utf-8", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
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
OTHER = "other"
"""The path of requests to nowhere, in metrics and log: the sent one may have a user's text."""
FAILED = "the service failed, which its log explains; ask something else"
BROKEN = "the model's weights are so large that its probabilities are no numbers; ask another model"
INLINE = 20_000
"""Questions with candidates and at most so many characters become words in the event loop, others in a thread.

Longer texts have a thread of their own, so that the others need not wait for them.
"""
Result = TypeVar("Result")


@dataclass(frozen=True)
class Route:
    method: str
    respond: Callable[[Request], Awaitable[Response]]
    with_token: bool = True


class ModelService:
    """Answers requests with models, the first of which is the default."""

    headers: Mapping[str, str] = HEADERS

    def __init__(
        self,
        models: Mapping[str, Answering],
        *,
        about: Sequence[Mapping[str, Any]] = (),
        limits: Limits | None = None,
        token: str | None = None,
        batch_size: int = 32,
        hosts: Hosts | None = None,
        log: Log | None = None,
        workers: int = 1,
    ) -> None:
        """`about` is the response of /models."""
        self.models, self.limits, self.token, self.batch_size = models, limits or Limits(), token, batch_size
        self.hosts = hosts or Hosts.of("127.0.0.1")
        self.log = log or Log(lambda line: None)
        self.batchers: dict[str, Batcher] = {}
        self.turns: dict[bool, Turns] = {}
        """Where texts become words, by whether they are long."""
        listed = as_json([dict(each) for each in about] or [{"name": name} for name in models])
        self.routes = {
            "/answer": Route("POST", self.answer),
            "/candidates": Route("POST", self.candidates),
            "/models": Route("GET", fixed(listed)),
            "/health": Route("GET", self.health, with_token=False),
            "/metrics": Route("GET", self.show_metrics),
            "/openapi.json": Route("GET", fixed(as_json(description(self.limits.questions))), with_token=False),
            **{path: Route("GET", fixed(page), with_token=False) for path, page in pages().items()},
        }
        self.metrics = Metrics([*self.routes, OTHER], workers)

    @asynccontextmanager
    async def open(self, worker: int = 0) -> AsyncIterator[None]:
        """Read questions as long as this context lasts, as the worker of that number."""
        self.metrics.worker = worker
        self.metrics.set("pid", os.getpid())
        words = {"most_words": self.limits.waiting_words, "client_words": self.limits.client_words}
        overlap = threads() > 1  # on one core a second batch takes memory and no less time
        self.turns = {long: Turns(**words) for long in (False, True)}
        for name, model in self.models.items():
            self.batchers[name] = Batcher(
                model, batch_size=self.batch_size, on_batch=self.metrics.read_together, overlap=overlap, **words
            )
        yield
        for turns in self.turns.values():
            turns.close()
        for batcher in self.batchers.values():
            await batcher.close()

    # ---- any request ----

    async def respond(self, request: Request) -> Response:
        """Respond to a request; raises nothing but CancelledError, after its client has gone."""
        began = perf_counter()
        path = request.path if request.path in self.routes else OTHER
        status = 499
        try:
            response = await self._respond(request)
            status = response.status
        except Problem as problem:
            status = problem.status
            response = as_problem(problem)
        except Exception as error:  # noqa: BLE001 - the client gets it
            self.log.failure(error)
            status = 500
            response = as_problem(Problem(500, BROKEN if isinstance(error, ModelError) else FAILED))
        finally:
            self._note(request.method, path, status, began)
        return response

    def refuse(self, problem: Problem) -> Response:
        self._note(None, OTHER, problem.status, perf_counter())
        return as_problem(problem)

    def note(self, connections: int) -> None:
        """Note how many connections are open, and how many questions wait."""
        self.metrics.set("gareader_connections", connections)
        self.metrics.set("gareader_questions_waiting", self.waiting)

    def _note(self, method: str | None, path: str, status: int, began: float) -> None:
        seconds = perf_counter() - began
        self.metrics.responded(path, status)
        if path == "/answer" and status == 200:
            self.metrics.answered(seconds)
        known = method if method in ("GET", "HEAD", "POST", "OPTIONS") else OTHER
        self.log.request(method=known, path=path, status=status, milliseconds=round(1000 * seconds, 3))

    async def _respond(self, request: Request) -> Response:
        if request.host is not None and request.host not in self.hosts:
            known = ", ".join(sorted(self.hosts.names))
            raise Problem(421, f"the service is not known by this name; ask {known}, or start it with --allowed-host")
        if (request.method, request.path) == ("OPTIONS", "*"):
            return Response(204)
        route = self.routes.get(request.path)
        if route is None:
            raise Problem(404, "there is nothing here; /docs shows what there is")
        methods = ["GET", "HEAD", "OPTIONS"] if route.method == "GET" else [route.method, "OPTIONS"]
        allow = {"Allow": ", ".join(methods)}
        if request.method == "OPTIONS":
            return Response(204, headers=allow)
        if request.method not in methods:
            raise Problem(
                405, f"{request.path} takes {route.method}, not {request.method[:20]}; /docs shows how", allow
            )
        if route.with_token:
            self._check_token(request.headers.get("authorization", ""))
        async with self._in_time():
            return await route.respond(request)

    def _check_token(self, authorization: str) -> None:
        scheme, _, given = authorization.partition(" ")
        right = scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), (self.token or "").encode())
        if self.token is not None and not right:
            headers = {"WWW-Authenticate": "Bearer"}
            raise Problem(401, "send the service's token: Authorization: Bearer …", headers)

    # ---- the requests ----

    async def answer(self, request: Request) -> Response:
        """Answer a question, or each of a list."""
        body = body_of(request)
        questions = questions_of(body, self.limits.questions)
        names = [each.model or next(iter(self.batchers)) for each in questions]
        if unknown := next((name for name in names if name not in self.batchers), None):
            raise Problem(400, f"there is no model {unknown[:40]!r} here; known: {', '.join(self.batchers)}")
        examples = []
        attention = 0  # the weights of all questions that ask for attention
        for number, each in enumerate(questions):
            make = partial(self._example, each, number)
            if each.candidates is None or len(each.document) > INLINE:
                examples.append(await self._in_turn(make, each.document, request.client))
            else:
                await asyncio.sleep(0)  # others have their turn between two texts
                examples.append(make())
            if each.attention:
                example = examples[-1]
                attention += len(example.document) * (len(example.query) + len(example.candidates))
                if attention > self.limits.attention:
                    problem = f"attention of {attention:,} numbers; {self.limits.attention:,} are the most"
                    raise Problem(413, f"{place(number)}{problem}; give less at a time, or ask without attention")
        predictions = await self._predictions(questions, names, examples, request.client)
        if attention:
            text = await asyncio.to_thread(answers_json, questions, names, predictions)
        else:
            text = answers_json(questions, names, predictions)
        return Response(200, (text if isinstance(body, list) else text[1:-1]).encode())

    async def candidates(self, request: Request) -> Response:
        """Possible answers, proposed from the document, of the kinds that the query asks for."""
        texts = document_and_query(body_of(request))
        try:
            proposed = await self._in_turn(lambda: propose_candidates(*self._words(*texts)), texts[0], request.client)
        except GareaderError as error:
            raise Problem(400, str(error)) from None
        return as_json([" ".join(each) for each in proposed])

    async def health(self, request: Request) -> Response:  # noqa: ARG002
        """Whether the service is up, and how many questions wait."""
        return as_json({"status": "ok", "waiting": self.waiting})

    async def show_metrics(self, request: Request) -> Response:  # noqa: ARG002
        self.metrics.set("gareader_questions_waiting", self.waiting)
        return Response(200, self.metrics.text().encode(), "text/plain; version=0.0.4; charset=utf-8")

    @property
    def waiting(self) -> int:
        return sum(batcher.unanswered for batcher in self.batchers.values())

    async def _in_turn(self, work: Callable[[], Result], text: str, client: str) -> Result:
        """Do the work on a text in a thread."""
        return await self.turns[len(text) > INLINE].do(work, len(text), client)

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """Raise Problem if there is too much to do, or it takes too long."""
        try:
            async with asyncio.timeout(self.limits.seconds):
                yield
        except OverloadedError as error:
            if error.own:
                problem = "too many of your words wait; ask again when there are answers, or ask less at a time"
                raise Problem(429, problem, {"Retry-After": "1"}) from None
            raise Problem(503, "too many questions wait; come again later", {"Retry-After": "1"}) from None
        except TimeoutError:
            problem = f"no answer within {self.limits.seconds:g} seconds; ask less at a time, or come again later"
            raise Problem(503, problem, {"Retry-After": "5"}) from None

    async def _predictions(
        self, questions: Sequence[Question], names: Sequence[str], examples: Sequence[Example], client: str
    ) -> list[Prediction]:
        futures: list[asyncio.Future[Prediction]] = []
        try:
            for each, name, example in zip(questions, names, examples, strict=True):
                futures.append(self.batchers[name].ask(example, attention=each.attention, client=client))
            return [await future for future in futures]
        finally:
            for future in futures:  # all questions of a list are answered, or none; nobody may wait for them any more
                future.cancel()

    def _example(self, question: Question, number: int) -> Example:
        """The question as words; limits are checked before the work that they limit."""
        limits, where = self.limits, place(number)
        for each in question.candidates or ():
            check_length("candidate", len(each), CHARACTERS * limits.candidate_words, "characters", where)
        if len(question.candidates or ()) > limits.candidates:
            raise Problem(413, f"{where}more than {limits.candidates} candidates; give fewer")
        document, query = self._words(question.document, question.query, where)
        try:
            example = replace(question_of(document, query, question.candidates), id=question.id)
        except QuestionError as error:
            raise Problem(400, f'{where}{error}, such as "Tom" and "Mary Ann"') from None
        except GareaderError as error:
            raise Problem(400, f"{where}{error}") from None
        if max(map(len, example.candidates)) > limits.candidate_words:
            raise Problem(413, f"{where}a candidate of more than {limits.candidate_words} words; give a part")
        return example

    def _words(self, document: str, query: str, where: str = "") -> tuple[list[Words], Words]:
        """The words of the document's paragraphs and of the query; raise 413 if they are too many."""
        most = {"document": self.limits.document_words, "query": self.limits.query_words}
        for name, text in (("document", document), ("query", query)):
            check_length(name, len(text), CHARACTERS * most[name], "characters", where)
            check_length(name, len(text.split()), most[name], "words", where)  # cheap, and enough for most texts
        parts, asked = paragraphs(document), query_words(query)
        for name, length in zip(most, (sum(map(len, parts)), len(asked)), strict=True):
            check_length(name, length, most[name], "words", where)
        return parts, asked


def check_length(name: str, length: int, most: int, unit: str, where: str) -> None:
    """Raise 413 for a text of too many characters or words."""
    if length > most:
        raise Problem(413, f"{where}the {name} has {length:,} {unit}; {most:,} are the most; give a part of it")


def answers_json(questions: Sequence[Question], names: Sequence[str], predictions: Sequence[Prediction]) -> str:
    texts = []
    for number, (each, name, prediction) in enumerate(zip(questions, names, predictions, strict=True)):
        if not prediction.answerable:
            raise Problem(400, f"{place(number)}no candidate occurs in the document; give others")
        texts.append(answer_json(prediction, name, attention=each.attention))
    return f"[{', '.join(texts)}]"


def as_json(value: Any) -> Response:
    return Response(200, json.dumps(value, ensure_ascii=False).encode())


def as_problem(problem: Problem) -> Response:
    body = json.dumps({"detail": problem.detail}, ensure_ascii=False).encode(errors="replace")
    return Response(problem.status, body, headers=problem.headers)


def fixed(response: Response) -> Callable[[Request], Awaitable[Response]]:
    """Respond to every request alike."""

    async def respond(request: Request) -> Response:  # noqa: ARG001
        return response

    return respond


def pages() -> dict[str, Response]:
    fresh = {"Cache-Control": "no-cache"}
    by_path = {
        f"/page/{file.name}": Response(200, file.read_bytes(), kind, fresh)
        for file in (files("gareader.serve") / "page").iterdir()
        if (kind := KINDS.get(file.name.rpartition(".")[2]))
    }
    return by_path | {"/": by_path["/page/index.html"], "/docs": by_path["/page/docs.html"]}
