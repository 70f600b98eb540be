"""The HTTP service under load: many clients against it, beside bare batches of the same questions in one process."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from gareader.core.errors import GareaderError
from gareader.data.examples import PLACEHOLDER, Example
from gareader.trained.predictor import load

BATCH = 32
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True)
class Load:
    """Throughput and latency of the service under clients that each ask one question after the other."""

    workers: int
    clients: int
    seconds: float
    answers_per_second: float
    bare_per_second: tuple[float, float]
    """The answers of bare batches of 32 questions in one process, without HTTP and tokeniser: before and after."""
    milliseconds: dict[str, float]
    """Median, 95th and 99th percentile of the time from question to answer."""
    statuses: dict[str, int]
    """The number of responses with each HTTP status."""
    memory_mb: tuple[float, float]
    """Memory of the service after a third of the time and at the end."""

    @property
    def share_of_bare_speed(self) -> float:
        """The service's speed over the mean of the two bare ones."""
        return self.answers_per_second / (sum(self.bare_per_second) / 2)


def bench_serve(examples: Sequence[Example], clients: int, seconds: float, workers: int) -> Load:
    """Measure bare batches, a service in processes of its own, and bare batches again."""
    before = bare_speed(examples, seconds / 4)
    with service("--workers", str(workers)) as (port, process):
        requests = [request_of(question_of(example)) for example in examples]
        crowd, memories = asyncio.run(watched(Crowd(port, requests, clients, seconds), process.pid))
    after = bare_speed(examples, seconds / 4)
    if not crowd.times:
        raise GareaderError("no question was answered; try more seconds")
    speed = len(crowd.times) / seconds
    return Load(workers, clients, seconds, speed, (before, after), crowd.milliseconds(), dict(crowd.statuses), memories)


def bare_speed(examples: Sequence[Example], seconds: float) -> float:
    """The answers per second of the default model to these questions, in batches of similar length."""
    model = load()
    list(model.answer_many(examples[:BATCH], batch_size=BATCH))  # a first time
    count, began = 0, perf_counter()
    while (duration := perf_counter() - began) < seconds:
        count += len(list(model.answer_many(examples, batch_size=BATCH)))
    return count / duration


def question_of(example: Example) -> dict[str, Any]:
    """The question as a program sends it."""
    return {
        "document": " ".join(example.document),
        "query": " ".join("XXXXX" if word == PLACEHOLDER else word for word in example.query),
        "candidates": [" ".join(candidate) for candidate in example.candidates],
    }


def request_of(question: Any) -> bytes:
    body = json.dumps(question).encode()
    head = "POST /answer HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length:"
    return f"{head} {len(body)}\r\n\r\n".encode() + body


@dataclass
class Crowd:
    """Clients of one event loop that each send one request after the other, as cheaply as Python can."""

    port: int
    requests: Sequence[bytes]
    clients: int
    seconds: float
    times: list[float] = field(default_factory=list)
    """Seconds of the responses with status 200."""
    statuses: Counter[str] = field(default_factory=Counter)
    """Responses by status; a connection that was cut counts as `cut`."""
    each: int | None = None
    """The most requests of each client."""

    async def run(self) -> "Crowd":
        loop = asyncio.get_running_loop()
        until = perf_counter() + self.seconds
        members: list[Client] = []

        def client() -> Client:
            members.append(Client(self, len(members), until, loop.create_future()))
            return members[-1]

        await asyncio.gather(*(loop.create_connection(client, "127.0.0.1", self.port) for _ in range(self.clients)))
        await asyncio.gather(*(each.ended for each in members))
        return self

    def milliseconds(self) -> dict[str, float]:
        times = sorted(self.times)
        return {name: 1000 * times[min(int(share * len(times)), len(times) - 1)] for name, share in SHARES.items()}


class Client(asyncio.Protocol):
    transport: asyncio.Transport

    def __init__(self, crowd: Crowd, number: int, until: float, ended: asyncio.Future[None]) -> None:
        self.crowd, self.number, self.until, self.ended = crowd, number, until, ended
        self.left = crowd.each
        self.buffer = bytearray()
        self.began = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - it is a stream
        self.transport = transport
        self._ask()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        match = re.search(rb"\r\nContent-Length: (\d+)", self.buffer[:end]) if end >= 0 else None
        if match is None or len(self.buffer) < end + 4 + int(match[1]):
            return
        status = self.buffer[9:12].decode()
        self.crowd.statuses[status] += 1
        if status == "200":
            self.crowd.times.append(perf_counter() - self.began)
        self.buffer.clear()
        self._ask()

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        """End, before the time is over if the service has cut the connection."""
        if self.began < self.until:
            self.crowd.statuses["cut"] += 1
        self.ended.set_result(None)

    def _ask(self) -> None:
        self.began = perf_counter()
        if self.began >= self.until or self.left == 0:
            self.began = self.until
            self.transport.close()
            return
        if self.left is not None:
            self.left -= 1
        self.transport.write(self.crowd.requests[self.number % len(self.crowd.requests)])
        self.number += 1


async def watched(crowd: Crowd, pid: int) -> tuple[Crowd, tuple[float, float]]:
    """Run a crowd and note the memory of a process and its children after a third of the time and at the end."""
    running = asyncio.create_task(crowd.run())
    await asyncio.sleep(crowd.seconds / 3)
    early = memory(pid)
    return await running, (early, memory(pid))


@contextmanager
def service(*arguments: str, files: int | None = None) -> Iterator[tuple[int, "subprocess.Popen[str]"]]:
    """Run `gareader serve` in a process of its own, with so many files; the values are its port and the process."""
    command = [sys.executable, "-m", "gareader", "serve", "--port", "0", *arguments]
    if files is not None:
        command = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *command]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603 - nothing is from outside
    assert process.stderr is not None  # noqa: S101 - as the line above says
    try:
        line = process.stderr.readline()
        if not (address := re.search(r" at http://\S+:(\d+)/ ", line)):
            raise GareaderError(f"the service did not start: {line + process.stderr.read()}")
        yield int(address[1]), process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(90)
        process.stderr.close()


def memory(pid: int) -> float:
    """The memory of a process and its children in MB; pages that several of them share count once."""
    children = [int(path.name) for path in Path("/proc").glob("[0-9]*") if _parent(path) == pid]
    return sum(map(_share, [pid, *children])) / 1e3


def _parent(process: Path) -> int | None:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def _share(pid: int) -> int:
    """The kilobytes of a process, with its share of shared pages."""
    try:
        return int(Path(f"/proc/{pid}/smaps_rollup").read_text().partition("\nPss:")[2].split()[0])
    except OSError:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1000
