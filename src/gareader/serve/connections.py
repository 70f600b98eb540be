"""Connections of clients on asyncio: requests within deadlines, one response for each, and room for newcomers."""

import asyncio
import errno
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from math import inf
from time import monotonic
from typing import Protocol

from gareader.serve.http import Parser, Problem, Request, Response

UNREAD_BYTES = 64_000_000
"""So many bytes of a refused request are thrown away: clients send all before they read. Then the connection is cut."""
TICK = 0.25
"""Seconds between two looks at the deadlines."""

_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


@dataclass(frozen=True)
class Deadlines:
    """The seconds that a client has; after them its connection is closed."""

    head: float = 10.0
    """From the connection, or the first byte of a further request, to the end of the headers."""
    body: float = 20.0
    """From the end of the headers to the end of the body; from a refusal to the end of what it refused."""
    idle: float = 60.0
    """Between two requests."""
    write: float = 30.0
    """To take a response."""
    leave: float = 2.0
    """To read that the time is over, and to finish sending a request when the service stops."""


class Service(Protocol):
    """What a server serves."""

    headers: Mapping[str, str]
    """The headers of every response."""

    async def respond(self, request: Request) -> Response:
        """Respond to a request; raises nothing but CancelledError, after its client has gone."""

    def refuse(self, problem: Problem) -> Response:
        """Respond to what is no request."""

    def note(self, connections: int) -> None:
        """Note how many connections are open; called when it changes, and every now and then."""


class Connection(asyncio.Protocol):
    """One client's connection: a request is read, answered, and then the next one."""

    transport: asyncio.Transport

    def __init__(self, server: "Server") -> None:
        self.server = server
        self.task: asyncio.Task[None] | None = None
        """The work on a request; without it, the connection waits for its client until `due`."""
        self.due = inf
        self.stuck = False  # the client does not take what is written
        self.unread: int | None = None  # how many bytes are still thrown away, once no more requests are read

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - it is a stream
        self.transport = transport
        self.server.connections.add(self)
        self.parser = Parser(self.server.body_bytes, (transport.get_extra_info("peername") or ("",))[0])
        self.wait(self.server.deadlines.head)
        if self.server.stopping:
            self.transport.close()

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        """Stop the work whose answer nobody waits for."""
        if self.task is not None:
            self.task.cancel()
        self.server.waiting.pop(self, None)
        self.server.connections.discard(self)
        self.server.left()

    def wait(self, seconds: float) -> None:
        self.due = monotonic() + seconds
        self.server.waiting.pop(self, None)
        self.server.waiting[self] = None

    def data_received(self, data: bytes) -> None:
        """Read a request, or what follows one that is being answered."""
        if self.unread is not None:
            self.unread -= len(data)
            if self.unread < 0:
                self.transport.abort()
            return
        began = self.parser.begun
        self.parser.buffer += data
        if self.task is None and not self.stuck:
            if not began:
                self.due = min(self.due, monotonic() + self.server.deadlines.head)
            self.advance()
        elif len(self.parser.buffer) > self.server.body_bytes:
            self.transport.pause_reading()

    def advance(self) -> None:
        """Answer the next request if it is here."""
        had_head = self.parser.request is not None
        try:
            request = self.parser.next()
        except Problem as problem:
            self.refuse(problem, self.server.deadlines.body)
            return
        if request is not None:
            self.server.waiting.pop(self, None)
            self.due = inf
            self.task = self.server.loop.create_task(self.answer(request))
            return
        self.transport.resume_reading()
        if (head := self.parser.request) is not None and not had_head:
            self.due = monotonic() + self.server.deadlines.body
            if head.headers.get("expect", "").lower() == "100-continue":
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    async def answer(self, request: Request) -> None:
        try:
            response = await self.server.service.respond(request)
        except Exception as error:  # noqa: BLE001 - a fault of the service must not keep the client waiting
            self.transport.abort()
            self.server.loop.call_exception_handler({"message": "no response", "exception": error})
            return
        self.task = None
        keep = request.keep and not self.server.stopping
        self.send(response, keep=keep, with_body=request.method != "HEAD")
        if not keep:
            self.wait(self.server.deadlines.write)
            self.transport.close()
        elif self.stuck:
            self.wait(self.server.deadlines.write)
        else:
            self.read_on()

    def read_on(self) -> None:
        """Wait for the next request, or go on with the one that has begun."""
        self.wait(self.server.deadlines.idle)
        if self.parser.begun:
            self.due = monotonic() + self.server.deadlines.head
            self.advance()

    def send(self, response: Response, *, keep: bool = False, with_body: bool = True) -> None:
        if self.transport.is_closing():
            return
        lines = [f"HTTP/1.1 {response.status} {_PHRASES[response.status]}", f"Date: {self.server.date}"]
        if response.status != HTTPStatus.NO_CONTENT:
            lines += [f"Content-Type: {response.kind}", f"Content-Length: {len(response.body)}"]
        if not keep:
            lines.append("Connection: close")
        lines += [f"{name}: {value}" for name, value in response.headers.items()]
        head = "\r\n".join(lines).encode("latin-1") + self.server.headers
        self.transport.write(head + response.body if with_body else head)

    def refuse(self, problem: Problem, seconds: float) -> None:
        """Refuse a request and throw away what still comes in so many seconds, so that the client can read why."""
        self.send(self.server.service.refuse(problem))
        self.unread = UNREAD_BYTES
        self.parser.buffer.clear()
        self.wait(seconds)
        if not self.transport.is_closing():
            self.transport.resume_reading()
            with suppress(OSError):  # the client has gone
                self.transport.write_eof()

    def late(self) -> None:
        """End a connection whose time is over."""
        if self.transport.is_closing() or self.unread is not None or self.stuck:
            self.transport.abort()
        elif self.parser.begun:
            self.refuse(Problem(408, "the request has not come to its end; send it again"), self.server.deadlines.leave)
        else:
            self.wait(self.server.deadlines.leave)
            self.transport.close()

    def pause_writing(self) -> None:
        """Wait until the client has read what is written."""
        self.stuck = True

    def resume_writing(self) -> None:
        """Go on with the next request."""
        self.stuck = False
        if self.task is None and self.unread is None and not self.transport.is_closing():
            self.read_on()


class Server:
    """Accepts connections, not more than `most`; a newcomer takes the place of the one that has waited longest."""

    def __init__(
        self,
        service: Service,
        listener: socket.socket,
        *,
        body_bytes: int = 1_000_000,
        most: int = 1000,
        deadlines: Deadlines | None = None,
        tell: Callable[[str, str], None] = lambda kind, text: None,
    ) -> None:
        """`tell` logs a line of some kind."""
        self.service, self.listener, self.body_bytes, self.most, self.tell = service, listener, body_bytes, most, tell
        self.port: int = listener.getsockname()[1]
        self.deadlines = deadlines or Deadlines()
        self.headers = "".join(f"\r\n{name}: {value}" for name, value in service.headers.items()).encode() + b"\r\n\r\n"
        self.waiting: dict[Connection, None] = {}
        """The connections that wait for their clients, in the order in which they began to."""
        self.connections: set[Connection] = set()
        self.open = 0
        """How many connections there are, those among them that are still being accepted."""
        self.stopping = False
        self.date = formatdate(usegmt=True)
        self._ended = asyncio.Event()
        self._opening: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve until `stop` was called and the accepted requests are answered."""
        self.loop = asyncio.get_running_loop()
        self.listener.setblocking(False)
        self._listen()
        ticking = asyncio.create_task(self._tick())
        try:
            await self._ended.wait()
        finally:
            ticking.cancel()
            for connection in [*self.connections]:  # nobody waits for these answers any more
                connection.transport.abort()

    def stop(self) -> None:
        """Accept nothing more and answer what was accepted; called again, cut all connections."""
        if self.stopping:
            self._ended.set()
            return
        self.stopping = True
        self.loop.remove_reader(self.listener)
        self.listener.close()
        for connection in list(self.waiting):
            if connection.parser.begun:
                connection.due = min(connection.due, monotonic() + self.deadlines.leave)
            else:
                connection.transport.close()
        if not self.open:
            self._ended.set()

    def left(self) -> None:
        self._count(-1)
        if self.stopping and not self.open:
            self._ended.set()

    def _listen(self) -> None:
        if not self.stopping:
            self.loop.add_reader(self.listener, self._accept)

    def _pause(self, seconds: float) -> None:
        self.loop.remove_reader(self.listener)
        self.loop.call_later(seconds, self._listen)

    def _accept(self) -> None:
        """Accept one connection; others come at the next turn of the loop, or go to another process."""
        if self.open >= self.most and not self.waiting:
            self.tell("connections", f"all {self.most} connections are at work; others wait")
            self._pause(TICK)
            return
        try:
            accepted, _ = self.listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            self.tell("accept", f"no connection can be accepted ({error.strerror}); allow more files with ulimit -n")
            self._pause(1.0)
            return
        if self.open >= self.most:
            self.tell("connections", f"more than {self.most} connections; those that wait longest are closed")
            oldest = next(iter(self.waiting))
            del self.waiting[oldest]
            oldest.transport.abort()
        self._count(1)
        task = self.loop.create_task(self._open(accepted))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _open(self, accepted: socket.socket) -> None:
        accepted.setblocking(False)
        try:
            await self.loop.connect_accepted_socket(lambda: Connection(self), accepted)
        except OSError:
            accepted.close()
            self.left()

    def _count(self, change: int) -> None:
        self.open += change
        self.service.note(self.open)

    async def _tick(self) -> None:
        while True:
            self.date = formatdate(usegmt=True)
            now = monotonic()
            for connection in [each for each in self.waiting if each.due < now]:
                connection.late()
            self.service.note(self.open)
            await asyncio.sleep(TICK)
