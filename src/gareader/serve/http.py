"""HTTP/1.1 on asyncio: requests within limits and deadlines, one response for each."""

import asyncio
import errno
import re
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from http import HTTPStatus
from math import inf
from time import monotonic
from typing import Protocol
from urllib.parse import unquote, urlsplit

HEAD_BYTES = 16_384
"""The most bytes of a request line with its headers."""
UNREAD_BYTES = 64_000_000
"""So many bytes of a refused request are thrown away: clients send all before they read. Then the connection is cut."""
TICK = 0.25
"""Seconds between two looks at the deadlines."""

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_HEAD = re.compile(rb"(%b) ([\x21-\x7e]+) HTTP/1\.([01])((?:\r\n%b:[\t\x20-\x7e\x80-\xff]*)*)" % (_TOKEN, _TOKEN))
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?")
_ONCE = frozenset(["host", "content-length", "transfer-encoding", "content-type", "authorization"])
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Problem(Exception):  # noqa: N818 - it becomes a response
    """A request that cannot be answered: the status, and what is wrong and what to do about it."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers or {}


@dataclass(frozen=True, slots=True)
class Request:
    """One request, read to its end."""

    method: str
    path: str
    headers: Mapping[str, str]
    """By their names in small letters."""
    host: str | None
    """The name and the port that the client has asked for."""
    body: bytes = b""
    client: str = ""
    """The client's address."""
    keep: bool = True
    """Whether the connection stays open for another request."""


@dataclass(frozen=True, slots=True)
class Response:
    """What a request gets."""

    status: int
    body: bytes = b""
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


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


class Parser:
    """Requests from the bytes of a connection; what RFC 9112 lets a server refuse is refused."""

    def __init__(self, body_bytes: int, client: str = "") -> None:
        self.body_bytes, self.client = body_bytes, client
        self.buffer = bytearray()
        self.request: Request | None = None
        self.size: int | None = 0  # of the body; None if it comes in chunks
        self.body = bytearray()
        self.searched = 0

    @property
    def begun(self) -> bool:
        """Whether a part of a request is here."""
        return self.request is not None or bool(self.buffer)

    def next(self) -> Request | None:
        """The next request, if all of it is here; raise Problem for what is none."""
        if self.request is None and not self._read_head():
            return None
        assert self.request is not None  # noqa: S101 - as the line above says
        complete = self._read_chunks() if self.size is None else self._read_body(self.size)
        if not complete:
            return None
        request = replace(self.request, body=bytes(self.body), client=self.client)
        self.request, self.body = None, bytearray()
        return request

    def _read_head(self) -> bool:
        while self.buffer.startswith(b"\r\n"):  # some clients end a body with an empty line
            del self.buffer[:2]
        if self.buffer and not self.buffer[:1].isalpha() and self.buffer != b"\r":
            raise Problem(400, "this is no HTTP request; ask with http://, not https://")
        end = self.buffer.find(b"\r\n\r\n", self.searched)
        if (len(self.buffer) if end < 0 else end) > HEAD_BYTES:
            raise Problem(431, f"the headers are larger than {HEAD_BYTES:,} bytes; send less")
        self.searched = max(0, len(self.buffer) - 3)
        if end < 0:
            return False
        self.request, self.size = parse_head(bytes(self.buffer[:end]))
        del self.buffer[: end + 4]
        self.searched = 0
        if self.size is not None and self.size > self.body_bytes:
            raise self._too_large()
        return True

    def _read_body(self, size: int) -> bool:
        if len(self.buffer) < size:
            return False
        self.body = self.buffer[:size]
        del self.buffer[:size]
        return True

    def _read_chunks(self) -> bool:
        while (end := self.buffer.find(b"\r\n", 0, HEAD_BYTES)) >= 0:
            match = _CHUNK.fullmatch(self.buffer, 0, end)
            if match is None:
                break
            size = int(match[1], 16)
            if len(self.body) + size > self.body_bytes:
                raise self._too_large()
            if size == 0:
                return self._read_trailers(end)
            start = end + 2
            if len(self.buffer) < start + size + 2:
                return False
            if self.buffer[start + size : start + size + 2] != b"\r\n":
                break
            self.body += self.buffer[start : start + size]
            del self.buffer[: start + size + 2]
        else:
            if len(self.buffer) < HEAD_BYTES:
                return False
        raise Problem(400, "the chunks of the body are not as HTTP has them; send Content-Length instead")

    def _read_trailers(self, start: int) -> bool:
        """Skip the trailers, which mean nothing here."""
        end = self.buffer.find(b"\r\n\r\n", start, start + HEAD_BYTES)
        if end < 0 and len(self.buffer) > start + HEAD_BYTES:
            raise Problem(431, f"the trailers are larger than {HEAD_BYTES:,} bytes; send none")
        if end >= 0:
            del self.buffer[: end + 4]
        return end >= 0

    def _too_large(self) -> Problem:
        return Problem(413, f"the request is larger than {self.body_bytes:,} bytes; ask less at a time")


def parse_head(data: bytes) -> tuple[Request, int | None]:
    """A request without its body, and the body's size; None if it comes in chunks."""
    match = _HEAD.fullmatch(data)
    if match is None:
        raise Problem(400, "this is no request of HTTP/1.1; check the request line and the headers")
    headers: dict[str, str] = {}
    for line in match[4].decode("latin-1").split("\r\n")[1:]:
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip(" \t")
        if name in headers and name in _ONCE:
            raise Problem(400, f"the header {name} is there twice; send it once")
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    target, host, newest = match[2].decode(), headers.get("host"), match[3] == b"1"
    if target.lower().startswith(("http://", "https://")):
        try:
            parts = urlsplit(target)
        except ValueError:
            raise Problem(400, "the address of the request is none; check it") from None
        target, host = parts.path or "/", parts.netloc
    if newest and "host" not in headers:
        raise Problem(400, "the header Host is missing; send it")
    words = {word.strip().lower() for word in headers.get("connection", "").split(",")}
    path = unquote(target.partition("?")[0])
    request = Request(match[1].decode(), path, headers, host, keep=newest and "close" not in words)
    length, coding = headers.get("content-length"), headers.get("transfer-encoding")
    if coding is None:
        if length is not None and not (length.isascii() and length.isdigit() and len(length) < 20):
            raise Problem(400, "Content-Length is no number; send the bytes of the body")
        return request, int(length or 0)
    if length is not None or not newest:
        raise Problem(400, "the body's length is told in two ways; send Content-Length alone")
    if coding.lower() != "chunked":
        raise Problem(501, "only chunked is known as Transfer-Encoding; send Content-Length instead")
    return request, None


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
        """Wait for the client so many seconds."""
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
        """Respond, and read on."""
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
        """Write a response."""
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
        """Count a connection that has ended."""
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
