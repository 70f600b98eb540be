"""Messages of HTTP/1.1: requests from bytes, within limits, and responses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import unquote, urlsplit

HEAD_BYTES = 16_384
"""The most bytes of a request line with its headers."""

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_HEAD = re.compile(rb"(%b) ([\x21-\x7e]+) HTTP/1\.([01])((?:\r\n%b:[\t\x20-\x7e\x80-\xff]*)*)" % (_TOKEN, _TOKEN))
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?")
_ONCE = frozenset(["host", "content-length", "transfer-encoding", "content-type", "authorization"])


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
    status: int
    body: bytes = b""
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


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
