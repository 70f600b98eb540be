"""The HTTP service under load: many clients against one process, with and without batching."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from time import perf_counter, sleep
from typing import Any

from gareader.core.errors import GareaderError


@dataclass(frozen=True)
class Load:
    """Throughput and latency of the service under clients that each ask one question after the other."""

    batch_size: int
    """The most questions of a batch; 1 is without batching."""
    clients: int
    seconds: float
    answers_per_second: float
    milliseconds: dict[str, float]
    """Median, 95th and 99th percentile of the time from question to answer."""
    statuses: dict[str, int]
    """The number of responses with each HTTP status."""
    memory_mb: tuple[float, float]
    """Memory of the service after a third of the time and at the end."""


def bench_serve(
    questions: Sequence[dict[str, Any]], clients: int, seconds: float, batch_sizes: Sequence[int] = (1, 32)
) -> list[Load]:
    """Measure the same load on a fresh service for each batch size."""
    return [bench_batch_size(questions, clients, seconds, size) for size in batch_sizes]


def bench_batch_size(questions: Sequence[dict[str, Any]], clients: int, seconds: float, batch_size: int) -> Load:
    """Measure a service in a process of its own, with clients in threads of this process."""
    with service(batch_size) as (port, process):
        bodies = [json.dumps(question).encode() for question in questions]
        until = perf_counter() + seconds
        crowd = [Client(port, bodies[n % len(bodies) :] + bodies[: n % len(bodies)], until) for n in range(clients)]
        for client in crowd:
            client.thread.start()
        sleep(seconds / 3)
        early = memory(process.pid)
        for client in crowd:
            client.thread.join()
        late = memory(process.pid)
    times = sorted(time for client in crowd for time in client.times)
    if not times:
        raise GareaderError("no question was answered; try more seconds")
    statuses = sum((client.statuses for client in crowd), Counter[str]())
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    percentiles = {name: 1000 * times[min(int(share * len(times)), len(times) - 1)] for name, share in shares.items()}
    return Load(batch_size, clients, seconds, len(times) / seconds, percentiles, dict(statuses), (early, late))


@dataclass
class Client:
    """Asks one question after the other."""

    port: int
    bodies: list[bytes]
    until: float
    times: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.thread = Thread(target=self.run)

    def run(self) -> None:
        """Ask until the time is over; responses other than 200 are counted, but not timed."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        number = 0
        while (start := perf_counter()) < self.until:
            try:
                body = self.bodies[number % len(self.bodies)]
                connection.request("POST", "/answer", body, {"Content-Type": "application/json"})
                response = connection.getresponse()
                response.read()
            except OSError as error:
                self.statuses[type(error).__name__] += 1
                connection.close()
                continue
            self.statuses[str(response.status)] += 1
            if response.status == 200:
                self.times.append(perf_counter() - start)
            number += 1
        connection.close()


@contextmanager
def service(batch_size: int) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Run `gareader serve` in a process of its own; the values are its port and the process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "gareader", "serve", "--port", str(port), "--batch-size", str(batch_size)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)  # noqa: S603 - nothing in it comes from outside
    try:
        for _ in range(600):
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
            except OSError:
                if process.poll() is not None:
                    message = process.stderr.read().decode() if process.stderr else ""
                    raise GareaderError(f"the service did not start: {message.strip()}") from None
                sleep(0.1)
        yield port, process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        if process.stderr:
            process.stderr.close()


def memory(pid: int) -> float:
    """The resident memory of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
