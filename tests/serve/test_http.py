"""The HTTP server: requests as h11 reads them, deadlines, the number of connections, and how they end."""

import asyncio
import json
import random
import socket
from contextlib import asynccontextmanager, suppress
from typing import Any

import h11
import pytest

from gareader.readers.settings import GatedAttentionConfig
from gareader.serve import connections
from gareader.serve.connections import Deadlines
from gareader.serve.http import Parser, Problem, Response
from gareader.serve.service import ModelService
from gareader.trained.predictor import untrained
from serve.serving import running

READER = untrained(GatedAttentionConfig(hidden=4))
HEAD = b"POST /answer HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = json.dumps(
    {"document": "Ann has it. Ben has not.", "query": "___ has it.", "candidates": ["Ann", "Ben"]}
).encode()
ASKED = HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY
GET = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


def parsed(data, step=None, body_bytes=1000):
    """All requests of some bytes, which arrive in pieces of `step`; or the status of the refusal."""
    parser, found = Parser(body_bytes), []
    try:
        for start in range(0, len(data), step or len(data)):
            parser.buffer += data[start : start + (step or len(data))]
            while (request := parser.next()) is not None:
                found.append((request.method, request.path, request.body, request.keep))
    except Problem as problem:
        return problem.status
    return found


@pytest.mark.parametrize("step", [None, 1, 7])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (GET, [("GET", "/health", b"", True)]),
        (GET + GET, [("GET", "/health", b"", True)] * 2),
        (b"\r\n" + GET, [("GET", "/health", b"", True)]),
        (b"GET /a%20b?c HTTP/1.0\r\n\r\n", [("GET", "/a b", b"", False)]),
        (b"GET / HTTP/1.1\r\nHost:x\r\nConnection: te, Close\r\n\r\n", [("GET", "/", b"", False)]),
        (b"GET http://localhost/x HTTP/1.1\r\nHost: y\r\n\r\n", [("GET", "/x", b"", True)]),
        (HEAD + b"Content-Length: 3\r\n\r\nabcGET", [("POST", "/answer", b"abc", True)]),
        (
            HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\nA ;x=y\r\n0123456789\r\n0\r\nT: u\r\n\r\n" + GET,
            [("POST", "/answer", b"ab0123456789", True), ("GET", "/health", b"", True)],
        ),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", [("POST", "/answer", b"", True)]),
        (HEAD + b"Content-Length: 1001\r\n\r\n", 413),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n3E9\r\n", 413),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nx\r\n", 400),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", 400),
        (HEAD + b"Transfer-Encoding: gzip\r\n\r\n", 501),
        (HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", 400),
        (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (HEAD + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\n", 400),
        (HEAD + b"Content-Length: -3\r\n\r\n", 400),
        (HEAD + b"Content-Length: \xb2\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\n\r\n", 400),
        (b"GET http://[x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"\x16\x03\x01", 400),
        (b"GET /" + b"x" * 20_000, 431),
        (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 4000, 431),
    ],
)
def test_requests(data, expected, step):
    assert parsed(data, step) == expected


def by_h11(data):
    """The same by h11."""
    connection = h11.Connection(h11.SERVER)
    found: list[list[Any]] = []
    connection.receive_data(data)
    try:
        while (event := connection.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
            if isinstance(event, h11.Request):
                found.append([event.method.decode(), event.target.decode(), b""])
            elif isinstance(event, h11.Data):
                found[-1][2] = found[-1][2] + bytes(event.data)
    except h11.RemoteProtocolError:
        return None
    whole = connection.their_state in (h11.DONE, h11.MUST_CLOSE)
    return tuple(found[0]) if found and whole else None


def test_what_is_taken_h11_takes_too_and_reads_alike():
    """Requests with random faults; one that two servers read differently could be smuggled past the first of them."""
    chance = random.Random(7)
    whole = [
        GET,
        ASKED,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        HEAD + b"Content-Length: 0\r\n\r\n",
    ]
    pieces = [
        b"\r\n",
        b"\n",
        b"\r",
        b" ",
        b"\t",
        b":",
        b"\0",
        b"\x7f",
        b"\xff",
        b"0",
        b"Content-Length: 2\r\n",
        b"chunked",
    ]
    taken = 0
    for _ in range(4_000):
        data = bytearray(chance.choice(whole))
        for _ in range(chance.randrange(3)):
            place = chance.randrange(len(data))
            data[place : place + chance.randrange(3)] = chance.choice(pieces)
        ours = parsed(bytes(data))
        if isinstance(ours, int) or not ours:
            continue
        method, path, body, _ = ours[0]
        theirs = by_h11(bytes(data).lstrip(b"\r\n"))  # empty lines before a request: h11 takes none
        assert theirs is not None, bytes(data)
        assert (method, path, body) == (theirs[0], theirs[1].partition("?")[0], theirs[2]), bytes(data)
        taken += 1
    assert taken > 400


# ---- connections ----


@asynccontextmanager
async def server(**settings):
    async with running(ModelService({"small": READER}), **settings) as made:
        yield made


async def connect(server):
    return await asyncio.open_connection("127.0.0.1", server.port)


async def ask(server, data=ASKED):
    """One request on a connection of its own: the status, the headers and the body of its response."""
    reader, writer = await connect(server)
    writer.write(data)
    answer = await response(reader)
    writer.close()
    return answer


async def response(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:-2])
    return int(head.split()[1]), headers, await reader.readexactly(int(headers.get("Content-Length", 0)))


async def send_until_cut(writer, piece):
    """Send again and again until the server has closed the connection."""
    try:
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.001)
    except ConnectionError:
        writer.close()


def run(conversation, seconds=60, **settings):
    async def inside():
        async with asyncio.timeout(seconds), server(**settings) as made:
            return await conversation(made)

    return asyncio.run(inside())


def test_one_connection_has_many_requests_also_sent_at_once():
    async def conversation(server):
        reader, writer = await connect(server)
        writer.write(ASKED + GET + ASKED)
        first, second, third = [await response(reader) for _ in range(3)]
        writer.close()
        return first, second, third

    first, second, third = run(conversation)
    assert (first[0], second[0]) == (200, 200)
    assert first[2] == third[2]
    assert json.loads(second[2])["status"] == "ok"


@pytest.mark.parametrize(
    ("sent", "deadlines", "status"),
    [
        (b"", Deadlines(head=0.1), None),
        (b"GET / HTTP/1.1\r\nHost:", Deadlines(head=0.1), 408),
        (HEAD + b"Content-Length: 10\r\n\r\nabc", Deadlines(body=0.1), 408),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\na", Deadlines(body=0.1), 408),
        (GET, Deadlines(idle=0.1), 200),
    ],
)
def test_a_client_that_sends_no_more_is_left(sent, deadlines, status):
    async def conversation(server):
        reader, writer = await connect(server)
        writer.write(sent)
        everything = await reader.read()
        writer.close()
        return everything

    everything = run(conversation, deadlines=deadlines)
    assert (int(everything.split()[1]) if everything else None) == status


def test_headers_that_drip_have_one_deadline_for_all_of_them():
    async def conversation(server):
        reader, writer = await connect(server)
        dripping = asyncio.create_task(send_until_cut(writer, b"G"))
        status, _, _ = await response(reader)
        await dripping
        return status

    assert run(conversation, deadlines=Deadlines(head=0.2, leave=0.1)) == 408


def test_half_sent_requests_lock_nobody_out(monkeypatch):
    told = []

    async def conversation(server):
        held = [await connect(server) for _ in range(30)]
        for _, writer in held:
            writer.write(b"POST /answer HTTP/1.1\r\nHost: loc")
        answers = [await ask(server) for _ in range(5)]
        assert server.open <= 8
        for _, writer in held:
            writer.close()
        return answers

    answers = run(conversation, most=8, tell=lambda kind, text: told.append((kind, text)))
    assert [status for status, _, _ in answers] == [200] * 5
    assert ("connections", "more than 8 connections; those that wait longest are closed") in told


def test_without_free_files_the_server_waits_and_says_so(monkeypatch):
    told = []

    class Poor(socket.socket):
        refusals = 3

        def accept(self):
            if self.refusals:
                self.refusals -= 1
                raise OSError(24, "Too many open files")
            return super().accept()

    async def conversation(server):
        server.loop.remove_reader(server.listener)
        server.listener = Poor(fileno=server.listener.detach())
        monkeypatch.setattr(server, "_pause", lambda seconds: None)
        server._listen()
        return await ask(server)

    assert run(conversation, tell=lambda *line: told.append(line))[0] == 200
    assert (
        told == [("accept", "no connection can be accepted (Too many open files); allow more files with ulimit -n")] * 3
    )


def test_a_body_that_is_too_large_is_answered_and_then_no_longer_read(monkeypatch):
    monkeypatch.setattr(connections, "UNREAD_BYTES", 100_000)

    async def conversation(server):
        reader, writer = await connect(server)
        writer.write(HEAD + b"Content-Length: 4000000000\r\n\r\n")
        status, headers, body = await response(reader)
        await send_until_cut(writer, b"x" * 10_000)
        return status, headers["Connection"], json.loads(body)["detail"]

    expected = (413, "close", "the request is larger than 1,000,000 bytes; ask less at a time")
    assert run(conversation, deadlines=Deadlines(body=600, leave=600)) == expected


def test_a_refused_body_that_drips_has_a_deadline():
    async def conversation(server):
        _, writer = await connect(server)
        writer.write(HEAD + b"Content-Length: 4000000000\r\n\r\n")
        await send_until_cut(writer, b"x")

    run(conversation, deadlines=Deadlines(body=0.1))


@pytest.mark.parametrize(
    "head", [b"Content-Length: 30000000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n1C9C380\r\n"]
)
def test_clients_that_send_all_of_a_book_before_they_read_see_why_it_is_refused(head):
    async def conversation(server):
        reader, writer = await connect(server)
        writer.write(HEAD + head)
        for _ in range(300):
            writer.write(b"x" * 100_000)
            await writer.drain()
        status, _, _ = await response(reader)
        writer.close()
        return status

    assert run(conversation, deadlines=Deadlines(leave=0.0)) == 413


def test_stopping_does_not_wait_for_a_refused_body():
    async def conversation(server):
        reader, writer = await connect(server)
        writer.write(HEAD + b"Content-Length: 4000000000\r\n\r\n")
        await response(reader)
        server.stop()
        await send_until_cut(writer, b"x")

    run(conversation, deadlines=Deadlines(body=600, leave=0.1))


def test_a_client_that_asks_whether_to_go_on_is_told():
    async def conversation(server):
        reader, writer = await connect(server)
        writer.write(HEAD + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(BODY))
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(BODY)
        status, _, _ = await response(reader)
        writer.close()
        return status

    assert run(conversation) == 200


def test_a_client_that_does_not_read_does_not_fill_the_memory():
    class Large(ModelService):
        responded = 0

        async def respond(self, _):
            self.responded += 1
            return Response(200, b"x" * 1_000_000)

    async def inside():
        service = Large({})
        made = connections.Server(service, socket.create_server(("127.0.0.1", 0)), deadlines=Deadlines(write=0.2))
        task = asyncio.create_task(made.run())
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", made.port))
        client.sendall(GET * 100)
        async with asyncio.timeout(60):
            while not made.open:
                await asyncio.sleep(0.01)
            while made.open:  # until the server has given up
                await asyncio.sleep(0.01)
        client.close()
        made.stop()
        await task
        return service.responded

    assert asyncio.run(inside()) < 50


@pytest.mark.parametrize("sent", [b"", GET, b"POST /an", HEAD + b"Content-Length: 10\r\n\r\nabc"])
def test_stopping_does_not_wait_for_half_a_request(sent):
    async def conversation(server):
        reader, writer = await connect(server)
        writer.write(sent)
        if sent == GET:
            await response(reader)
        while not server.waiting or any(each.parser.begun != (sent not in (b"", GET)) for each in server.waiting):
            await asyncio.sleep(0.01)
        server.stop()
        everything = await reader.read()
        writer.close()
        return everything

    everything = run(conversation, deadlines=Deadlines(head=600, body=600, idle=600, leave=0.1))
    assert everything[:12] in (b"", b"HTTP/1.1 408")


def test_a_failure_outside_of_the_service_ends_its_connection(monkeypatch):
    async def fail(self, request):
        raise RuntimeError

    monkeypatch.setattr(ModelService, "respond", fail)
    told = []

    async def conversation(server):
        server.loop.set_exception_handler(lambda _, context: told.append(type(context["exception"])))
        reader, writer = await connect(server)
        writer.write(GET)
        with suppress(ConnectionError):
            assert await reader.read() == b""
        writer.close()

    run(conversation)
    assert told == [RuntimeError]
