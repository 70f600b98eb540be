"""The HTTP service: answers, plain errors, limits, headers, the token."""

import asyncio
import json
from threading import Event, current_thread
from typing import Any

import httpx
import pytest

from gareader.core.errors import ModelError
from gareader.data.text import question_of
from gareader.readers.settings import GatedAttentionConfig
from gareader.serve.hosts import Hosts
from gareader.serve.log import Log
from gareader.serve.messages import KEYS, Limits, answer_json
from gareader.serve.service import HEADERS, ModelService
from gareader.trained.predictor import untrained
from serve.serving import running

STORY = "Ann has the lamp. Ben has the drum. Mary Ann has the kite."
ASKED: dict[str, Any] = {"document": STORY, "query": "___ has the drum.", "candidates": ["Ann", "Ben", "Mary Ann"]}
TOKEN = "open-sesame"
READER = untrained(GatedAttentionConfig(hidden=6))


def talk(conversation, *, models=None, **settings):
    """Run a coroutine that gets a client of a fresh service."""

    async def run():
        service = ModelService(models or {"small": READER}, **settings)
        async with (
            running(service, body_bytes=service.limits.body_bytes) as server,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", trust_env=False, timeout=60) as client,
        ):
            return await conversation(client)

    return asyncio.run(run())


def post(body, path="/answer", headers=None, **settings):
    content = body if isinstance(body, (bytes, str)) else json.dumps(body)
    headers = {"Content-Type": "application/json", **(headers or {})}
    return talk(lambda client: client.post(path, content=content, headers=headers), **settings)


def get(path, headers=None, **settings):
    return talk(lambda client: client.get(path, headers=headers), **settings)


def test_a_question():
    response = post(ASKED)
    assert response.status_code == 200
    found = response.json()
    expected = READER.answer(STORY, ASKED["query"], ASKED["candidates"])
    assert found["best"] == expected.best
    assert (found["model"], found["id"]) == ("small", "question")
    assert found["absent"] == [" ".join(expected.example.candidates[place]) for place in expected.absent]
    assert [(each["answer"], each["probability"]) for each in found["ranking"]] == [
        (name, pytest.approx(share, abs=1e-6)) for name, share in expected.ranking
    ]
    assert "attention" not in found


def test_an_answer_has_the_shape_of_every_prediction():
    asked = {**ASKED, "id": "seven", "candidates": ["Ann", "Ben", "Zoë"]}
    record = READER.answer(STORY, asked["query"], asked["candidates"]).record()
    found = post(asked).json()
    assert found.keys() - {"model"} == record.keys()
    assert (found["id"], found["absent"], found["best"]) == ("seven", ["Zoë"], record["best"])
    assert [each.keys() for each in found["ranking"]] == [each.keys() for each in record["ranking"]]


def test_a_list_of_questions_keeps_its_order():
    others = {**ASKED, "query": "___ has the lamp."}
    found = post([ASKED, others, ASKED]).json()
    assert len(found) == 3
    assert found[0] == found[2]
    assert found[1] == post(others).json()


def test_attention_on_request():
    seen = post({**ASKED, "attention": True}).json()["attention"]
    assert seen["document"][:3] == ["Ann", "has", "the"]
    assert seen["query"][0] == "@begin"
    assert len(seen["hops"]) == 2
    assert len(seen["hops"][0]) == len(seen["final"]) == len(seen["document"])
    assert sum(seen["hops"][0][0]) == pytest.approx(1, abs=1e-2)
    assert sum(seen["final"]) == pytest.approx(1, abs=1e-2)
    assert all(share == round(share, 4) for hop in seen["hops"] for row in hop for share in row)
    assert all(share == round(share, 5) for share in seen["final"])
    assert all(seen["document"][place] in "Mary Ann Ben" for places in seen["candidates"] for place in places)


def test_candidates_are_proposed():
    without = {key: value for key, value in ASKED.items() if key != "candidates"}
    assert {each["answer"] for each in post(without).json()["ranking"]} >= {"Mary Ann", "Ben"}
    proposed = post({"document": STORY, "query": "___ has the drum."}, "/candidates").json()
    assert {"Mary Ann", "Ben"} <= set(proposed)


def test_a_question_is_answered_as_a_sentence_with_a_blank():
    found = post({"document": STORY, "query": "Who has the drum?"}).json()
    assert found["query"] == "___ has the drum ."
    assert found["ranking"] == post({"document": STORY, "query": "___ has the drum."}).json()["ranking"]
    assert post({"document": STORY, "query": "Who has the drum?"}, "/candidates").json() == ["Mary Ann", "Ben"]
    for path in ("/answer", "/candidates"):
        response = post({"document": STORY, "query": "Why has Ben the drum?"}, path)
        assert response.status_code == 400
        assert "ask who, whose, what, which, where, when or how many" in response.json()["detail"]


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"query": "has the drum."}, 400, "the query has no placeholder"),
        ({"query": "___ and ___"}, 400, "2 placeholders"),
        ({"candidates": ["Zoë", "Kim"]}, 400, "no candidate occurs in the document"),
        ({"candidates": ["Ann"]}, 400, "give at least two"),
        ({"document": "it was so", "candidates": None}, 400, 'give the candidates, such as "Tom" and "Mary Ann"'),
        ({"candidates": ["Ann", ""]}, 422, "candidates.1: this is empty; give a text"),
        ({"candidates": "Ann"}, 422, "candidates: this is no list; give one, such as"),
        ({"document": ""}, 422, "document: this is empty; give a text"),
        ({"document": "  \n "}, 400, "the document is empty"),
        ({"document": 7}, 422, "document: this is no text; give one, such as"),
        ({"document": "half \ud800 a character"}, 422, "document: this holds half a character; send whole ones"),
        ({"attention": "perhaps"}, 422, "attention: this is neither true nor false; give one of them"),
        ({"canditates": []}, 422, "canditates: unknown key; did you mean 'candidates'? known: attention, "),
        ({"": None}, 422, ": unknown key; known: attention, "),
        ({"model": "huge"}, 400, "there is no model 'huge' here; known: small"),
    ],
)
def test_a_question_that_is_none(change, code, message):
    response = post({**ASKED, **change})
    assert response.status_code == code
    assert message in response.json()["detail"]
    in_a_list = post([ASKED, {**ASKED, **change}])
    assert in_a_list.status_code == code
    assert message.split(": ")[-1] in in_a_list.json()["detail"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("{", 'the request is no JSON; send a question such as {"document": '),
        (b"\xff\xfe", "the request is no JSON; send a question such as"),
        ("null", "this is no question; send one such as"),
        ("7", "this is no question; send one such as"),
        ("[]", "the list is empty; send at least one question"),
        ("[3]", "this is no question; send one such as"),
        ([ASKED, 3], "question 2: this is no question; send one such as"),
        ([ASKED] * 65, "more than 64 questions; send the others in another request"),
        ("", "this is missing; a question is"),
        ({"query": "___"}, 'document: this is missing; a question is {"document": '),
        pytest.param("[" * 100_000, "the request is no JSON; send a question such as", id="nested too deeply"),
        pytest.param("7" * 5_000, "the request is no JSON; send a question such as", id="a number too long"),
    ],
)
def test_what_is_no_question_at_all(body, message):
    response = post(body)
    assert response.status_code == 422
    assert response.json()["detail"].startswith(message)


@pytest.mark.parametrize("path", ["/answer", "/candidates"])
def test_a_request_that_is_not_marked_as_json(path):
    response = post(ASKED, path, headers={"Content-Type": "text/plain"})
    assert response.status_code == 422
    expected = "the request is not marked as JSON; send the header Content-Type: application/json"
    assert response.json() == {"detail": expected}


def test_other_pages_and_methods():
    for path in ("/nowhere", "/page/nothing.js"):
        assert get(path).json() == {"detail": "there is nothing here; /docs shows what there is"}
    response = get("/answer")
    assert (response.status_code, response.headers["Allow"]) == (405, "POST, OPTIONS")
    assert response.json() == {"detail": "/answer takes POST, not GET; /docs shows how"}


def test_limits():
    limits = Limits(body_bytes=2000, document_words=20, query_words=9, candidates=3, candidate_words=2, questions=2)
    assert post(ASKED, limits=limits).status_code == 200
    for body, message in (
        ({**ASKED, "document": "word " * 21}, "the document has 21 words; 20 are the most"),
        ({**ASKED, "query": "so " * 9 + "___"}, "the query has 10 words; 9 are the most"),
        ({**ASKED, "candidates": ["Ann", "Ben", "Mary", "Kim"]}, "more than 3 candidates"),
        ({**ASKED, "candidates": ["Ann", "Ben of York"]}, "a candidate of more than 2 words"),
        ({**ASKED, "document": "x" * 3000}, "the request is larger than 2,000 bytes"),
    ):
        response = post(body, limits=limits)
        assert response.status_code == 413
        assert message in response.json()["detail"]
    assert post([ASKED] * 3, limits=limits).status_code == 422
    assert post({"document": "word " * 21}, "/candidates", limits=limits).status_code == 413
    assert post({"document": "word", "query": "so " * 10}, "/candidates", limits=limits).status_code == 413


def test_what_is_too_large_is_told_before_it_costs_much(monkeypatch):
    def never(*_):
        raise AssertionError("this was needless work")

    limits = Limits(document_words=20, candidates=3)
    monkeypatch.setattr("gareader.data.text.find_candidates", never)
    assert post({**ASKED, "document": "Ann! " * 11, "candidates": None}, limits=limits).status_code == 413
    monkeypatch.setattr("gareader.serve.service.paragraphs", never)
    assert post({**ASKED, "document": "Ann " * 21}, limits=limits).status_code == 413
    assert post({"document": "Ann " * 21}, "/candidates", limits=limits).status_code == 413
    assert post({**ASKED, "candidates": ["Ann"] * 4}, limits=limits).status_code == 413


def test_the_attention_of_a_request_has_a_limit():
    asked = {**ASKED, "attention": True}  # 16 words of the document, 5 of the query, 3 candidates
    limits = Limits(attention=16 * (5 + 3))
    assert post([asked, ASKED], limits=limits).status_code == 200
    response = post([asked, ASKED, asked], limits=limits)
    assert response.status_code == 413
    expected = "question 3: attention of 256 numbers; 128 are the most; give less at a time, or ask without attention"
    assert response.json() == {"detail": expected}


def test_answers_are_written_where_nobody_waits_for_them(monkeypatch):
    threads = []

    def watched(*given, **wishes):
        threads.append(current_thread())
        return answer_json(*given, **wishes)

    monkeypatch.setattr("gareader.serve.service.answer_json", watched)
    assert post({**ASKED, "attention": True}).status_code == 200
    assert len(threads) == 1
    assert current_thread() not in threads


class Broken:
    """A reader that fails."""

    def __init__(self, error=RuntimeError):
        self.error = error

    def predict(self, *_, **__):
        raise self.error("out of order")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RuntimeError, "the service failed, which its log explains; ask something else"),
        (ModelError, "the model's weights are so large that its probabilities are no numbers; ask another model"),
    ],
)
def test_a_failure_is_told_as_every_error_is(error, message):
    response = post(ASKED, models={"broken": Broken(error)})
    assert response.status_code == 500
    assert response.json() == {"detail": message}
    assert {name: response.headers.get(name) for name in HEADERS} == HEADERS


class Stuck:
    """A reader that does not come back before it is told to."""

    def __init__(self):
        self.began, self.go, self.read = Event(), Event(), []

    def predict(self, examples, *, attention=False):
        self.began.set()
        self.go.wait(10)
        self.read += [len(example.document) for example in examples]
        return READER.predict(examples, attention=attention)


async def until(condition):
    """Wait in the event loop."""
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


async def waiting(client, number):
    """Wait for so many questions to wait."""
    async with asyncio.timeout(60):
        while (await client.get("/health")).json()["waiting"] != number:
            await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    ("limits", "status", "message"),
    [
        (Limits(waiting_words=2 * (16 + 50)), 503, "too many questions wait; come again later"),
        (Limits(client_words=2 * (16 + 50)), 429, "too many of your words wait; ask again when there are answers"),
    ],
)
def test_overload_is_told_with_a_time_to_come_again(limits, status, message):
    stuck = Stuck()

    async def conversation(client):
        tasks = [asyncio.create_task(client.post("/answer", json=ASKED))]
        await until(stuck.began.is_set)
        tasks += [asyncio.create_task(client.post("/answer", json=ASKED)) for _ in range(2)]
        await waiting(client, 3)
        refused = await client.post("/answer", json=ASKED)
        assert (await client.post("/answer", json=[ASKED] * 2)).status_code == status
        assert (await client.get("/health")).json() == {"status": "ok", "waiting": 3}
        stuck.go.set()
        return refused, [await task for task in tasks]

    refused, answered = talk(conversation, models={"stuck": stuck}, limits=limits)
    assert refused.status_code == status
    assert refused.json()["detail"].startswith(message)
    assert refused.headers["Retry-After"] == "1"
    assert [response.status_code for response in answered] == [200] * 3


def test_slowness_is_told_with_a_time_to_come_again():
    stuck = Stuck()

    async def impatient(client):
        response = await client.post("/answer", json=ASKED)
        stuck.go.set()
        return response

    late = talk(impatient, models={"stuck": stuck}, limits=Limits(seconds=0.2))
    assert late.status_code == 503
    assert "no answer within 0.2 seconds" in late.json()["detail"]
    assert late.headers["Retry-After"] == "5"


class Slow:
    """Proposes candidates; for long texts, not before it is told to."""

    def __init__(self):
        self.go, self.read = Event(), []

    def __call__(self, document, _query):
        length = sum(map(len, document))
        if length > 1000:
            self.go.wait(60)
        self.read.append(length)
        return [("Ann",)]


LONG = "Ann has the lamp. " * 1200


def test_short_texts_do_not_wait_for_long_ones_nor_for_those_of_clients_that_have_gone(monkeypatch):
    slow, in_turn, arrived = Slow(), ModelService._in_turn, []
    monkeypatch.setattr("gareader.serve.service.propose_candidates", slow)

    def noted(service, work, text, client):
        arrived.append(text)
        return in_turn(service, work, text, client)

    monkeypatch.setattr(ModelService, "_in_turn", noted)

    async def conversation(client):
        gone = [asyncio.create_task(client.post("/candidates", json={"document": LONG})) for _ in range(40)]
        while len(arrived) < len(gone):
            await asyncio.sleep(0.005)
        short = await asyncio.wait_for(client.post("/candidates", json={"document": "Ann has it."}), 20)
        for task in gone:
            task.cancel()
        async with asyncio.timeout(60):
            while 'path="/candidates",status="499"} 40' not in (await client.get("/metrics")).text:
                await asyncio.sleep(0.005)
        slow.go.set()
        last = await client.post("/candidates", json={"document": LONG})
        return short, last

    short, last = talk(conversation)
    assert (short.status_code, last.status_code) == (200, 200)
    assert len(slow.read) == 3  # of the forty, one had begun


@pytest.mark.parametrize(
    ("limits", "status"), [(Limits(waiting_words=10_000), 503), (Limits(client_words=10_000), 429)]
)
def test_texts_that_wait_for_candidates_are_counted(monkeypatch, limits, status):
    slow = Slow()
    monkeypatch.setattr("gareader.serve.service.propose_candidates", slow)

    async def conversation(client):
        tasks = [asyncio.create_task(client.post("/candidates", json={"document": LONG})) for _ in range(4)]
        await until(lambda: any(task.done() for task in tasks))
        slow.go.set()
        return [await task for task in tasks]

    refused = [each for each in talk(conversation, limits=limits) if each.status_code != 200]
    assert [each.status_code for each in refused] == [status]
    assert refused[0].headers["Retry-After"] == "1"


def test_slow_candidates_are_told(monkeypatch):
    slow = Slow()
    monkeypatch.setattr("gareader.serve.service.propose_candidates", slow)

    async def impatient(client):
        response = await client.post("/candidates", json={"document": LONG})
        slow.go.set()
        return response

    late = talk(impatient, limits=Limits(seconds=0.2))
    assert late.status_code == 503
    assert "no answer within 0.2 seconds" in late.json()["detail"]


def test_what_is_taken_is_left_when_the_server_is_stopped_twice():
    stuck = Stuck()

    async def conversation():
        models: dict[str, Any] = {"stuck": stuck}
        service = ModelService(models)
        async with running(service) as server, httpx.AsyncClient(trust_env=False, timeout=60) as client:
            address = f"http://127.0.0.1:{server.port}/answer"
            tasks = [asyncio.create_task(client.post(address, json=ASKED))]
            await until(stuck.began.is_set)
            tasks += [asyncio.create_task(client.post(address, json={**ASKED, "document": LONG})) for _ in range(3)]
            await until(lambda: service.waiting == 4)
            server.stop()
            server.stop()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            stuck.go.set()
        return results

    results = asyncio.run(conversation())
    assert all(isinstance(each, httpx.TransportError) for each in results)
    assert len(stuck.read) == 1


def test_the_token():
    for headers in (None, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}):
        response = post(ASKED, token=TOKEN, headers=headers)
        assert response.status_code == 401
        assert "token" in response.json()["detail"]
        assert get("/models", token=TOKEN, headers=headers).status_code == 401
    right = {"Authorization": f"Bearer {TOKEN}"}
    assert post(ASKED, token=TOKEN, headers=right).status_code == 200
    assert get("/models", token=TOKEN, headers=right).status_code == 200
    assert get("/health", token=TOKEN).status_code == 200
    assert post(ASKED, token="").status_code == 401


def test_the_models():
    assert get("/models").json() == [{"name": "small"}]
    assert get("/models", about=[{"name": "small", "about": "nothing"}]).json() == [
        {"name": "small", "about": "nothing"}
    ]


@pytest.mark.parametrize("path", ["/", "/docs", "/page/page.js", "/page/page.css", "/openapi.json", "/nowhere"])
def test_every_answer_has_the_headers_and_the_page_asks_nobody_else(path):
    response = get(path)
    assert response.status_code == (404 if path == "/nowhere" else 200)
    assert {name: response.headers.get(name) for name in HEADERS} == HEADERS
    if path != "/openapi.json":
        assert "https://" not in response.text


def test_no_file_beside_the_page_is_served():
    for name in ("..%2fservice.py", "service.py", "__init__.py", "page.txt"):
        assert get(f"/page/{name}").status_code == 404


def test_what_a_user_writes_is_in_no_log(caplog, capfd):
    post({**ASKED, "document": STORY + " Zanzibar"})
    post({**ASKED, "document": STORY + " Zanzibar", "candidates": ["Zanzibar"]})
    post("Zanzibar")
    printed = capfd.readouterr()
    assert "Zanzibar" not in caplog.text + printed.out + printed.err


@pytest.mark.parametrize("path", ["/", "/docs", "/models", "/health", "/openapi.json", "/metrics"])
def test_head_has_the_headers_of_get_and_nothing_else(path):
    async def both(client):
        return await client.get(path), await client.head(path), await client.get(path)

    full, head, again = talk(both)
    assert (head.status_code, head.content) == (200, b"")
    if path != "/metrics":  # which has counted
        assert head.headers["Content-Length"] == full.headers["Content-Length"] == str(len(full.content))
    assert head.headers["Content-Type"] == full.headers["Content-Type"]
    assert again.status_code == 200


@pytest.mark.parametrize(
    ("path", "methods"), [("/", "GET, HEAD, OPTIONS"), ("/models", "GET, HEAD, OPTIONS"), ("/answer", "POST, OPTIONS")]
)
def test_options_names_the_methods_and_lets_no_other_page_in(path, methods):
    asked = {"Origin": "http://elsewhere.example", "Access-Control-Request-Method": "POST"}
    response = talk(lambda client: client.options(path, headers=asked))
    assert (response.status_code, response.content, response.headers["Allow"]) == (204, b"", methods)
    assert not [name for name in response.headers if name.lower().startswith("access-control")]


def test_metrics():
    async def conversation(client):
        await client.post("/answer", json=[ASKED, ASKED])
        await client.post("/answer", json={**ASKED, "candidates": ["Ann"]})
        await client.get("/no/such/Zanzibar")
        return await client.get("/metrics")

    response = talk(conversation)
    assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = response.text.splitlines()
    for line in (
        'gareader_requests_total{path="/answer",status="200"} 1',
        'gareader_requests_total{path="/answer",status="400"} 1',
        'gareader_requests_total{path="other",status="404"} 1',
        'gareader_answer_seconds_bucket{le="+Inf"} 1',
        "gareader_answer_seconds_count 1",
        "gareader_batch_questions_sum 2",
        "gareader_questions_waiting 0",
        "gareader_connections 1",
        "# TYPE gareader_answer_seconds histogram",
    ):
        assert line in lines
    batches = next(line for line in lines if line.startswith('gareader_batch_questions_bucket{le="+Inf"} '))
    assert batches.split()[1] in ("1", "2")  # the first question may be read before the second is there
    memory = next(line for line in lines if line.startswith('gareader_memory_bytes{worker="0"} '))
    assert float(memory.split()[1]) > 1e6
    assert "Zanzibar" not in response.text


def test_metrics_need_the_token():
    assert get("/metrics", token=TOKEN).status_code == 401
    assert get("/metrics", token=TOKEN, headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_a_log_on_request_has_a_line_for_each_request_and_none_of_the_texts():
    lines: list[str] = []

    async def conversation(client):
        await client.post("/answer", json={**ASKED, "document": STORY + " Zanzibar"})
        await client.get("/Zanzibar?Zanzibar")
        await client.request("ZANZIBAR", "/")
        await client.post("/answer", content="Zanzibar", headers={"Content-Type": "application/json"})

    talk(conversation, log=Log(lines.append, as_json=True))
    assert "zanzibar" not in "".join(lines).lower()
    seen = [(each["method"], each["path"], each["status"]) for each in map(json.loads, lines)]
    assert seen == [("POST", "/answer", 200), ("GET", "other", 404), ("other", "/", 405), ("POST", "/answer", 422)]
    assert all(json.loads(line)["milliseconds"] > 0 for line in lines)


def test_a_failure_is_logged_with_its_place_and_without_its_message():
    class Talkative:
        def predict(self, *_, **__):
            raise RuntimeError("Zanzibar")

    for as_json in (True, False):
        lines: list[str] = []
        post(ASKED, models={"talkative": Talkative()}, log=Log(lines.append, as_json=as_json))
        assert "RuntimeError at " in lines[0]
        assert "test_service.py:" in lines[0]
        assert "Zanzibar" not in "".join(lines)


def test_a_log_that_cannot_be_written_stops_nothing():
    def full(line):
        raise OSError(28, "No space left on device")

    assert post(ASKED, log=Log(full, as_json=True)).status_code == 200


def test_of_one_kind_there_is_one_line_a_second():
    lines: list[str] = []
    time = [100.0]
    log = Log(lines.append, clock=lambda: time[0])
    for _ in range(50):
        log.tell("one", "it happens")
    log.tell("other", "that too")
    time[0] += 1
    log.tell("one", "it happens")
    expected = ["gareader: it happens", "gareader: that too", "gareader: it happens (and 49 times before)"]
    assert lines == expected


def test_every_request_has_an_example_in_the_description_that_is_answered():
    description = get("/openapi.json").json()
    asked = [
        (path, example["value"])
        for path, methods in description["paths"].items()
        for operation in methods.values()
        if "requestBody" in operation
        for example in operation["requestBody"]["content"]["application/json"]["examples"].values()
    ]
    assert {path for path, _ in asked} == {"/answer", "/candidates"}
    for path, body in asked:
        assert post(body, path).status_code == 200
    for methods in description["paths"].values():
        for operation in methods.values():
            assert operation["operationId"].isidentifier()
            assert operation["summary"]
            assert next(iter(operation["responses"]["200"]["content"].values()))["examples"]


def test_the_description_has_the_keys_that_the_service_knows():
    schemas = get("/openapi.json").json()["components"]["schemas"]
    assert schemas["Question"]["properties"].keys() == KEYS
    answer = post({**ASKED, "attention": True}).json()
    assert schemas["Answer"]["properties"].keys() == answer.keys()
    assert schemas["Attention"]["properties"].keys() == answer["attention"].keys()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.", "[::2]"])
def test_a_foreign_name_is_refused(host):
    response = get("/models", headers={"Host": host})
    if host == "localhost.":
        assert response.status_code == 200
        return
    assert response.status_code == 421
    assert "127.0.0.1" in response.json()["detail"]
    assert "--allowed-host" in response.json()["detail"]
    assert host.partition(":")[0] not in response.text.replace("127.0.0.1", "") or host == "[::2]"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8000", "localhost:1", "LOCALHOST", "[::1]:8000", "[::1]"])
def test_the_names_of_this_machine_are_served(host):
    assert get("/models", headers={"Host": host}).status_code == 200


def test_which_names_are_served():
    assert "reader.example:80" in Hosts.of("127.0.0.1", ["Reader.example"])
    assert "10.0.0.7:8000" in Hosts.of("10.0.0.7")
    assert "localhost" not in Hosts.of("10.0.0.7")
    everywhere = Hosts.of("0.0.0.0")  # noqa: S104
    assert "10.1.2.3:80" in everywhere
    assert "[fe80::1]:80" in everywhere
    assert "localhost" in everywhere
    assert "evil.example" not in everywhere
    assert "[fe80::1]" in Hosts.of("fe80::1")


def test_a_path_with_a_slash_too_many_is_no_redirect():
    response = get("/models/", headers={"Host": "127.0.0.1"})
    assert (response.status_code, "Location" in response.headers) == (404, False)


def test_a_name_of_300_characters_is_no_file():
    assert get(f"/page/{'x' * 300}.js").status_code == 404
    assert get(f"/page/{'é' * 200}").status_code == 404


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"document": "x" * 201}, "the document has 201 characters; 200 are the most; give a part of it"),
        ({"query": "___ " + "x" * 97}, "the query has 101 characters; 100 are the most; give a part of it"),
        ({"candidates": ["Ann", "x" * 31]}, "the candidate has 31 characters; 30 are the most; give a part of it"),
    ],
)
def test_characters_have_a_limit(change, message):
    limits = Limits(document_words=20, query_words=10, candidate_words=3)
    response = post({**ASKED, **change}, limits=limits)
    assert (response.status_code, response.json()) == (413, {"detail": message})
    in_a_list = post([ASKED, {**ASKED, **change}], limits=limits)
    assert in_a_list.json() == {"detail": f"question 2: {message}"}


@pytest.mark.parametrize("change", [{"candidates": None}, {"document": STORY * 500}])
def test_texts_that_take_long_become_words_in_a_thread(monkeypatch, change):
    threads = []

    def watched(*given):
        threads.append(current_thread())
        return question_of(*given)

    monkeypatch.setattr("gareader.serve.service.question_of", watched)
    assert post({**ASKED, **change}).status_code == 200
    assert post(ASKED).status_code == 200
    assert [each is current_thread() for each in threads] == [False, True]


def test_the_questions_of_a_client_that_has_gone_are_not_read():
    stuck = Stuck()

    async def conversation(client):
        first = asyncio.create_task(client.post("/answer", json=ASKED))
        await until(stuck.began.is_set)
        gone = [asyncio.create_task(client.post("/answer", json={**ASKED, "document": STORY * 50})) for _ in range(6)]
        await waiting(client, 7)
        for task in gone:
            task.cancel()
        await waiting(client, 1)
        metrics = (await client.get("/metrics")).text
        stuck.go.set()
        await first
        return metrics

    metrics = talk(conversation, models={"stuck": stuck})
    assert stuck.read == [len(READER.answer(STORY, ASKED["query"]).example.document)]
    assert 'gareader_requests_total{path="/answer",status="499"} 6' in metrics
