"""The service under load and abuse: a crowd, slow clients, long texts, many connections, broken requests.

Example: `python -m benchmarks.load --seconds 1 --connections 20 --requests 50`
"""

import asyncio
import json
import random
import re
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.request import urlopen

from cyclopts import Parameter
from cyclopts.validators import Number

from benchmarks.script import AtLeastOne, Json, start
from gareader.benchmark.serving import Crowd, memory, question_of, request_of, service
from gareader.core.errors import GareaderError
from gareader.data.examples import Example
from gareader.data.sources import read_examples

Scenario = Literal["crowd", "slow", "long", "connections", "fuzz"]
GOOD = 8
"""The clients beside the slow ones and beside those with long texts."""
LONG = 9_500
"""The words of a long text, near the limit of the service."""


@dataclass(frozen=True)
class Outcome:
    """What one scenario has shown."""

    scenario: str
    asked: str
    answers: int
    milliseconds: dict[str, float]
    statuses: dict[str, int]
    """Responses by HTTP status; `cut` are connections that ended without one."""
    memory_mb: tuple[float, float]
    """Memory of the service before and after."""
    wrong: list[str]
    """Responses that are none: server errors, answers and errors without a text."""


def main(
    *scenarios: Scenario,
    corpus: Path | None = None,
    seconds: Annotated[float, Parameter(validator=Number(gt=0))] = 60.0,
    clients: AtLeastOne = 64,
    slow: AtLeastOne = 200,
    connections: AtLeastOne = 500,
    requests: AtLeastOne = 10_000,
    seed: int = 0,
    workers: AtLeastOne = 1,
    as_json: Json = False,
) -> None:
    """Run scenarios, each against a service of its own; exit with 1 if a request was answered wrongly.

    Parameters
    ----------
    scenarios
        Which: crowd, slow, long, connections, fuzz; all if none is named.
    corpus
        Where the questions come from; the bundled stories if not given.
    seconds
        How long the clients of crowd, slow and long ask.
    clients
        Clients of crowd, each of which asks one question after the other.
    slow
        Clients of slow that send one byte a second, beside 8 good ones.
    connections
        Clients of connections that connect at once and ask one question each.
    requests
        Requests of fuzz, made at random from the service's own description.
    seed
        Determines the random requests.
    workers
        Processes of the service.
    """
    source = Path(str(files("gareader.data") / "stories" / "stories.jsonl")) if corpus is None else corpus
    examples = list(islice(read_examples(source), 256))
    questions = [request_of(question_of(example)) for example in examples]
    runs: dict[str, Callable[[int], tuple[str, Crowd, list[str]]]] = {
        "crowd": lambda port: (f"{clients} clients, {seconds:g} s", asked(port, questions, clients, seconds), []),
        "slow": lambda port: (
            f"{slow} slow clients beside {GOOD} good ones, {seconds:g} s",
            asyncio.run(beside_slow(port, questions, slow, seconds)),
            [],
        ),
        "long": lambda port: (
            f"{GOOD} clients with texts of {LONG:,} words beside {GOOD} others, {seconds:g} s",
            asyncio.run(beside_long(port, questions, request_of(long_question(examples)), seconds)),
            [],
        ),
        "connections": lambda port: (
            f"{connections} connections at once",
            asyncio.run(once_each(port, questions, connections)),
            [],
        ),
        "fuzz": lambda port: (f"{requests:,} random requests, seed {seed}", *fuzz(port, requests, seed)),
    }
    wrong = 0
    for name in scenarios or runs:
        with service("--workers", str(workers)) as (port, process):
            before = memory(process.pid)
            about, crowd, faults = runs[name](port)
            outcome = result(name, about, crowd, faults, (before, memory(process.pid)), process)
        print(json.dumps(asdict(outcome)) if as_json else in_words(outcome), flush=True)
        wrong += len(outcome.wrong)
    if wrong:
        raise GareaderError(f"{wrong} requests were answered wrongly; the first of them are above")


def result(
    name: str,
    about: str,
    crowd: Crowd,
    faults: list[str],
    memories: tuple[float, float],
    process: "subprocess.Popen[str]",
) -> Outcome:
    """The outcome of a scenario; a service that has ended, server errors and cut connections are faults."""
    faults += [f"{count} times {status}" for status, count in crowd.statuses.items() if status in ("cut", "500")]
    if process.poll() is not None:
        faults.append(f"the service has ended with {process.returncode}")
    milliseconds = crowd.milliseconds() if crowd.times else {}
    statuses = dict(sorted(crowd.statuses.items()))
    return Outcome(name, about, len(crowd.times), milliseconds, statuses, memories, faults)


def in_words(outcome: Outcome) -> str:
    """The outcome as text."""
    latency = "   ".join(f"{name} {value:.0f} ms" for name, value in outcome.milliseconds.items())
    early, late = outcome.memory_mb
    lines = [
        f"{outcome.scenario}: {outcome.asked}",
        f"  {outcome.answers:,} answers   {latency}",
        f"  statuses {outcome.statuses}   memory {early:.0f} → {late:.0f} MB",
    ]
    return "\n".join([*lines, *(f"  WRONG {fault}" for fault in outcome.wrong[:10])])


# ---- clients ----


def asked(port: int, questions: Sequence[bytes], clients: int, seconds: float) -> Crowd:
    """A crowd that asks for so many seconds."""
    return asyncio.run(Crowd(port, questions, clients, seconds).run())


async def beside_slow(port: int, questions: Sequence[bytes], slow: int, seconds: float) -> Crowd:
    """Good clients beside slow ones, which come back when they are cut."""
    dripping = [asyncio.create_task(drip(port, questions[0])) for _ in range(slow)]
    crowd = await Crowd(port, questions, GOOD, seconds).run()
    for task in dripping:
        task.cancel()
    await asyncio.gather(*dripping, return_exceptions=True)
    return crowd


async def drip(port: int, request: bytes) -> None:
    """Send a request one byte a second, again and again."""
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            for place in range(len(request)):
                writer.write(request[place : place + 1])
                await writer.drain()
                await asyncio.sleep(1)
        except OSError:
            await asyncio.sleep(0.1)


async def beside_long(port: int, questions: Sequence[bytes], long: bytes, seconds: float) -> Crowd:
    """Clients with short texts beside as many that ask about a long one again and again."""
    crowds = Crowd(port, questions, GOOD, seconds), Crowd(port, [long], GOOD, seconds)
    return (await asyncio.gather(*(crowd.run() for crowd in crowds)))[0]


def long_question(examples: Sequence[Example]) -> dict[str, Any]:
    """The first question, about the text of all of them, repeated up to LONG words."""
    words = chain.from_iterable(example.document for example in cycle(examples))
    return question_of(replace(examples[0], document=tuple(islice(words, LONG))))


async def once_each(port: int, questions: Sequence[bytes], connections: int) -> Crowd:
    """Clients that connect at once and ask one question each."""
    return await Crowd(port, questions, connections, seconds=60.0, each=1).run()


# ---- random requests ----

TEXTS = [
    "",
    " ",
    "Ann",
    "___",
    "XXXXX has it.",
    "Ann has it. Ben has not. " * 20,
    "é" * 50,
    "\0\x07\u202e",
    "𝔸🙂",
    "\ud800",
    "x" * 200_000,
]
OTHERS: list[Any] = [None, True, 0, -1, 1e308, 10**400, [], {}, [[]], {"": ""}, "text", ["text"], float("nan")]
HEADERS = [
    "Content-Type: application/json",
    "Content-Type: application/json; charset=utf-8",
    "Content-Type: text/plain",
    "Authorization: Bearer \xff",
    "Accept: nothing/at-all",
    "Connection: close",
    "X-Long: " + "y" * 5000,
]
HOSTS = ["localhost", "127.0.0.1:80", "evil.example", ""]
METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"]
PATHS = [
    "/",
    "/docs",
    "/openapi.json",
    "/nowhere",
    "/page/",
    "/page/..%2f..",
    "/%00",
    f"/page/{'x' * 300}",
    "/answer/",
    "*",
]


def fuzz(port: int, requests: int, seed: int) -> tuple[Crowd, list[str]]:
    """Send random requests one after the other; each must get an answer, or an error that says what to do."""
    with urlopen(f"http://127.0.0.1:{port}/openapi.json", timeout=60) as response:
        description = json.load(response)
    chance, crowd, faults = random.Random(seed), Crowd(port, [], 1, 0.0), []  # noqa: S311
    connection = socket.create_connection(("127.0.0.1", port), timeout=90)
    for number in range(requests):
        method, sent = random_request(description, chance)
        try:
            connection.sendall(sent)
            status, body, closed = response_to(method, connection)
        except (OSError, ValueError) as error:
            status, body, closed = "cut", repr(error).encode(), True
        crowd.statuses[status] += 1
        if not right(method, status, body):
            faults.append(f"request {number}: {sent[:200]!r} … got {status} {body[:200]!r}")
        if closed:
            connection.close()
            connection = socket.create_connection(("127.0.0.1", port), timeout=90)
    connection.close()
    return crowd, faults


def random_request(description: Mapping[str, Any], chance: random.Random) -> tuple[str, bytes]:
    """A request that fits the description, nearly fits it, or does not at all."""
    operations = [
        (path, method.upper(), each) for path, of in description["paths"].items() for method, each in of.items()
    ]
    path, method, operation = chance.choice(operations)
    body = b""
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        wrong = chance.choice([0.0, 0.05, 0.3])
        body = json.dumps(random_value(description, schema, chance, wrong)).encode()
    if chance.random() < 0.1 and body:
        place = chance.randrange(len(body))
        body = body[:place] + chance.randbytes(chance.randrange(4)) + body[place + chance.randrange(4) :]
    if chance.random() < 0.1:
        method = chance.choice(METHODS)
    if chance.random() < 0.1:
        path = chance.choice(PATHS)
    host = chance.choice(HOSTS) if chance.random() < 0.1 else "localhost"
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"Content-Length: {len(body)}"]
    lines += chance.sample(HEADERS, chance.randrange(3)) if chance.random() < 0.2 else HEADERS[:1]
    return method, "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def random_value(description: Mapping[str, Any], schema: Mapping[str, Any], chance: random.Random, wrong: float) -> Any:
    """A value of a schema, whose parts are wrong with that probability."""
    if chance.random() < wrong:
        return chance.choice(OTHERS)
    if "$ref" in schema:
        return random_value(
            description, description["components"]["schemas"][schema["$ref"].split("/")[-1]], chance, wrong
        )
    if "anyOf" in schema:
        return random_value(description, chance.choice(schema["anyOf"]), chance, wrong)
    match schema.get("type"):
        case "object":
            names = [name for name in schema["properties"] if name in schema["required"] or chance.random() < 0.5]
            made = {name: random_value(description, schema["properties"][name], chance, wrong) for name in names}
            if made.get("model") is not None and chance.random() > wrong:
                made["model"] = "stories"
            if chance.random() < wrong:
                made[chance.choice(TEXTS[:9])] = chance.choice(OTHERS)
            return made
        case "array":
            length = chance.choice([0, 1, 2, 5, 70]) if chance.random() < wrong else chance.randrange(1, 5)
            return [random_value(description, schema["items"], chance, wrong) for _ in range(length)]
        case "string" if chance.random() > wrong:
            return chance.choice(TEXTS[2:9])
        case "string":
            return chance.choice(TEXTS)
        case "boolean":
            return chance.random() < 0.5
        case _:
            return None


def response_to(method: str, connection: socket.socket) -> tuple[str, bytes, bool]:
    """Status and body of the next response, and whether the connection ends with it."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += _received(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    found = re.search(rb"\r\nContent-Length: (\d+)", head)
    length = int(found[1]) if found and method != "HEAD" else 0
    while len(body) < length:
        body += _received(connection)
    return head[9:12].decode(), body, b"\r\nConnection: close" in head


def _received(connection: socket.socket) -> bytes:
    if not (data := connection.recv(65536)):
        raise ConnectionError("the service has closed the connection")
    return data


def right(method: str, status: str, body: bytes) -> bool:
    """Whether a response is an answer, or an error of the client with a sentence that says so."""
    if status[0] == "2":
        return bool(body) != (method in ("HEAD", "OPTIONS"))
    if status[0] != "4":
        return False
    return method == "HEAD" or len(json.loads(body)["detail"]) > 10


if __name__ == "__main__":
    start(main)
