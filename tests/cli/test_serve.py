"""`gareader serve` as a process: it starts, answers, finishes what it has taken, and stops."""

import json
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

import forked
from gareader.benchmark.serving import memory, service
from gareader.cli.serve import listening
from gareader.core.errors import GareaderError

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")]

ASKED = {
    "document": "Ann has the lamp. Ben has the drum. " * 300,
    "query": "___ has the drum.",
    "candidates": ["Ann", "Ben"],
}


def post(port, body, headers=None):
    data = json.dumps(body).encode()
    request = Request(f"http://127.0.0.1:{port}/answer", data, {"Content-Type": "application/json", **(headers or {})})
    with urlopen(request, timeout=60) as response:  # noqa: S310
        return response.status, json.load(response)


def test_on_a_signal_it_finishes_what_it_has_taken():
    with service(8) as (port, process), ThreadPoolExecutor(6) as clients:
        assert post(port, {**ASKED, "document": "Ann has the lamp. Ben has the drum."})[0] == 200
        futures = [clients.submit(post, port, [ASKED] * 4) for _ in range(6)]
        health = f"http://127.0.0.1:{port}/health"
        while json.load(urlopen(health, timeout=60))["waiting"] < 8:
            assert not all(future.done() for future in futures), "the questions were answered before the signal"
        process.send_signal(signal.SIGTERM)
        taken = [future.exception() or future.result() for future in futures]
        assert sum(isinstance(each, tuple) and each[0] == 200 and len(each[1]) == 4 for each in taken) >= 2
        assert process.wait(60) == 0


def test_nothing_of_what_users_write_is_logged_and_memory_stays():
    with service(8) as (port, process):
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
        assert process.stderr is not None
        assert b"Zanzibar" not in process.stderr.read()


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


def test_a_check_without_serving():
    checked = forked.run("serve", "--check")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout.startswith("stories: ready")


@pytest.mark.parametrize("token", ["", " "])
def test_an_empty_token_is_refused(gareader, monkeypatch, token):
    said = "gareader: the token is empty; write one behind --token or into GAREADER_TOKEN, or leave both out\n"
    assert gareader("serve", "--check", "--token", token) == (1, "", said)
    monkeypatch.setenv("GAREADER_TOKEN", token)
    assert gareader("serve", "--check") == (1, "", said)


@pytest.mark.parametrize(
    ("arguments", "said"), [((), "without a token"), (("--token", "sesame"), "to those who send the token")]
)
def test_at_the_start_it_says_whether_a_token_is_needed(gareader, monkeypatch, arguments, said):
    monkeypatch.setattr("gareader.serve.workers.serve", lambda service, listener: listener.close())
    code, _, told = gareader("serve", "--port", "0", *arguments)
    assert code == 0
    assert f"/ {said} (programs: POST /answer, see /docs)" in told
