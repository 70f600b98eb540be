"""`gareader serve` as a process: it starts, answers, finishes what it has taken, and stops."""

import json
import os
import resource
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

import forked
from gareader.benchmark.serving import memory, service
from gareader.cli.serve import listening
from gareader.core.errors import GareaderError
from gareader.serve.workers import most_connections
from gareader.trained.predictor import load
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")]

ASKED: dict[str, Any] = {
    "document": "Ann has the lamp. Ben has the drum. " * 300,
    "query": "___ has the drum.",
    "candidates": ["Ann", "Ben"],
}


def post(port, body, headers=None):
    data = json.dumps(body).encode()
    request = Request(f"http://127.0.0.1:{port}/answer", data, {"Content-Type": "application/json", **(headers or {})})
    with urlopen(request, timeout=60) as response:  # noqa: S310
        return response.status, json.load(response)


def said(process):
    assert process.stderr is not None
    return process.stderr


def test_on_a_signal_it_finishes_what_it_has_taken():
    with service("--batch-size", "8") as (port, process), ThreadPoolExecutor(6) as clients:
        assert post(port, {**ASKED, "document": "Ann has the lamp. Ben has the drum."})[0] == 200
        futures = [clients.submit(post, port, [ASKED] * 4) for _ in range(6)]
        health = f"http://127.0.0.1:{port}/health"
        while json.load(urlopen(health, timeout=60))["waiting"] < 8:
            assert not all(future.done() for future in futures), "the questions were answered before the signal"
        process.send_signal(signal.SIGTERM)
        taken = [future.exception() or future.result() for future in futures]
        assert sum(isinstance(each, tuple) and each[0] == 200 and len(each[1]) == 4 for each in taken) >= 2
        assert process.wait(60) == 0


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_second_signal_ends_it_before_what_it_has_taken_is_answered(workers):
    with service("--batch-size", "2", "--workers", workers) as (port, process), ThreadPoolExecutor(6) as clients:
        assert post(port, {**ASKED, "document": "Ann has the lamp. Ben has the drum."})[0] == 200
        futures = [clients.submit(post, port, [ASKED] * 10) for _ in range(6)]
        wait_until(lambda: "gareader_batch_questions_count 1" not in metrics(port))
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: not listens(port))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert any(isinstance(future.exception(), ConnectionError) for future in futures)


def listens(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_nothing_of_what_users_write_is_logged_and_memory_stays():
    with service() as (port, process):
        for number in range(30):
            post(port, {**ASKED, "document": f"Ann Zanzibar{number} has the lamp. Ben has the drum."})
        before = memory(process.pid)
        for number in range(60):
            post(port, {**ASKED, "document": f"Ann Zanzibar{number} has the lamp. Ben has the drum."})
        with pytest.raises(HTTPError):
            post(port, {"document": "Zanzibar"})
        assert memory(process.pid) < before + 30
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        assert "Zanzibar" not in said(process).read()


def children(process):
    return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


def metrics(port):
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as response:
        return response.read().decode()


def test_several_workers_answer_as_one_does_and_are_replaced_when_they_die():
    short = {**ASKED, "document": "Ann has the lamp. Ben has the drum. Mary Ann has the kite."}
    expected = load().answer(short["document"], short["query"], short["candidates"])
    with service("--workers", "2") as (port, process):
        for number in range(6):
            status, found = post(port, {**short, "id": str(number)})
            assert status == 200
            shares = [(each["answer"], each["probability"]) for each in found["ranking"]]
            assert shares == [(name, pytest.approx(share, abs=1e-12)) for name, share in expected.ranking]
        assert 'gareader_requests_total{path="/answer",status="200"} 6' in metrics(port)
        for number in (0, 1):  # a worker is counted once it is ready
            wait_until(lambda number=number: f'gareader_memory_bytes{{worker="{number}"}}' in metrics(port))
        before = children(process)
        assert len(before) == 2
        os.kill(before[0], signal.SIGKILL)
        wait_until(lambda: len(children(process)) == 2 and before[0] not in children(process))
        assert said(process).readline() == "gareader: worker 0 has died (signal 9) and is replaced\n"
        for _ in range(4):
            assert post(port, short)[0] == 200
        ended = children(process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert not [pid for pid in ended if Path(f"/proc/{pid}").exists()]


def test_workers_end_with_the_process_that_has_started_them():
    with service("--workers", "2") as (port, process):
        assert post(port, {**ASKED, "document": "Ann has the lamp. Ben has the drum."})[0] == 200
        orphans = children(process)
        process.kill()
        process.wait(60)
        wait_until(lambda: not [pid for pid in orphans if Path(f"/proc/{pid}").exists()])


def test_half_sent_requests_up_to_the_limit_of_files_lock_nobody_out_and_fill_no_log():
    with service(files=64) as (port, process), ExitStack() as held:
        for _ in range(100):
            slow = held.enter_context(socket.create_connection(("127.0.0.1", port)))
            slow.sendall(b"POST /answer HTTP/1.1\r\nHost: local")
        for _ in range(3):
            assert post(port, {**ASKED, "document": "Ann has the lamp. Ben has the drum."})[0] == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        told = said(process).read().splitlines()
        assert {line.partition(" (")[0] for line in told} == {
            "gareader: more than 32 connections; those that wait longest are closed"
        }


def test_a_half_sent_body_does_not_keep_the_service_from_its_end():
    with service() as (port, process), socket.create_connection(("127.0.0.1", port)) as slow:
        slow.sendall(b"POST /answer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        wait_until(lambda: "gareader_connections 2" in metrics(port))
        process.send_signal(signal.SIGTERM)
        assert process.wait(40) == 0


def test_other_names_are_served_on_request():
    with service("--allowed-host", "reader.example") as (port, _):
        for host, status in (("reader.example", 200), ("127.0.0.1", 200), ("evil.example", 421)):
            request = Request(f"http://127.0.0.1:{port}/models", headers={"Host": host})
            try:
                found = urlopen(request, timeout=60).status  # noqa: S310
            except HTTPError as error:
                found = error.code
            assert found == status


def test_requests_are_logged_on_request():
    with service("--log", "json") as (port, process):
        post(port, {**ASKED, "document": "Ann has the lamp. Ben has the drum."})
        line = json.loads(said(process).readline())
    assert (line["path"], line["status"]) == ("/answer", 200)


def test_there_are_fewer_connections_than_files(monkeypatch):
    limits = [(256, 1024), (10, 10), (resource.RLIM_INFINITY,) * 2, (10**6, 10**6)]
    found = []
    for limit in limits:
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: limit)
        found.append(most_connections())
    assert found == [224, 1, 4096, 4096]


def test_what_cannot_be_served():
    unknown = forked.run("serve", "storys")
    assert unknown.returncode == 1
    assert "did you mean 'stories'" in unknown.stderr
    assert forked.run("serve", "--port", "70000").returncode == 2


def test_a_port_that_is_in_use():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = forked.run("serve", "--port", port)
    said = f"gareader: port {port} is in use; choose another with --port\n"
    assert (refused.returncode, refused.stdout, refused.stderr) == (1, "", said)


def test_an_address_of_another_machine():
    with pytest.raises(GareaderError, match=r"cannot listen at 192\.0\.2\.1, port 0 \(.+\); choose others with --host"):
        listening("192.0.2.1", 0)


OTHERS = ["cnn", "stories", "stories-ensemble", "stories-one-hop"]


def test_a_check_without_serving():
    checked = forked.run("serve", "--check")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert [line.split(":")[0] for line in checked.stdout.splitlines()] == ["general", *OTHERS]


@pytest.mark.parametrize("token", ["", " "])
def test_an_empty_token_is_refused(gareader, monkeypatch, token):
    said = "gareader: the token is empty; write one behind --token or into GAREADER_TOKEN, or leave both out\n"
    assert gareader("serve", "--check", "--token", token) == (1, "", said)
    monkeypatch.setenv("GAREADER_TOKEN", token)
    assert gareader("serve", "--check") == (1, "", said)


@pytest.mark.parametrize("token", ["open sesame", "schlüssel", "a\tb"])
def test_a_token_that_no_page_can_send_is_refused(gareader, token):
    code, out, err = gareader("serve", "--check", "--token", token)
    assert (code, out) == (1, "")
    assert err.startswith("gareader: the token has spaces, accents or control characters")


@pytest.mark.parametrize(
    ("arguments", "said"), [((), "without a token"), (("--token", "sesame"), "to those who send the token")]
)
def test_at_the_start_it_says_whether_a_token_is_needed(gareader, monkeypatch, arguments, said):
    monkeypatch.setattr("gareader.serve.workers.serve", lambda service, listener: listener.close())
    code, _, told = gareader("serve", "--port", "0", *arguments)
    assert code == 0
    assert f"/ {said} (programs: POST /answer, see /docs)" in told
