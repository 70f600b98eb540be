"""The HTTP service: answers, plain errors, limits, headers, the token."""

import asyncio
import json
from threading import Event, current_thread
from typing import Any

import httpx
import pytest

from gareader.readers.settings import GatedAttentionConfig
from gareader.serve.messages import Limits, answer_of, sentence
from gareader.serve.service import HEADERS, create_app
from gareader.trained.predictor import untrained

STORY = "Ann has the lamp. Ben has the drum. Mary Ann has the kite."
ASKED: dict[str, Any] = {"document": STORY, "query": "___ has the drum.", "candidates": ["Ann", "Ben", "Mary Ann"]}
TOKEN = "open-sesame"
READER = untrained(GatedAttentionConfig(hidden=6))


def talk(conversation, *, readers=None, strict=True, **settings):
    """Run a coroutine that gets a client of a fresh service; unless `strict`, it sees what a server makes of errors."""

    async def run():
        app = create_app(readers or {"small": READER}, **settings)
        transport = httpx.ASGITransport(app, raise_app_exceptions=strict)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://x") as client,
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
    assert (found["reader"], found["id"]) == ("small", "question")
    assert found["absent"] == [" ".join(expected.example.candidates[place]) for place in expected.absent]
    assert [(each["answer"], each["probability"]) for each in found["ranking"]] == [
        (name, pytest.approx(share, abs=1e-6)) for name, share in expected.ranking
    ]
    assert "attention" not in found


def test_an_answer_has_the_shape_of_every_prediction():
    asked = {**ASKED, "id": "seven", "candidates": ["Ann", "Ben", "Zoë"]}
    record = READER.answer(STORY, asked["query"], asked["candidates"]).record()
    found = post(asked).json()
    assert found.keys() - {"reader"} == record.keys()
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


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"query": "has the drum."}, 400, "the query has no placeholder"),
        ({"query": "___ and ___"}, 400, "2 placeholders"),
        ({"candidates": ["Zoë", "Kim"]}, 400, "no candidate occurs in the document"),
        ({"candidates": ["Ann"]}, 400, "give at least two"),
        ({"document": "it was so", "candidates": None}, 400, 'for example "candidates": ["Tom", "Mary Ann"]'),
        ({"candidates": ["Ann", ""]}, 422, "candidates.1: this is empty; give a text"),
        ({"candidates": "Ann"}, 422, "candidates: this is no list; give one, such as"),
        ({"document": ""}, 422, "document: this is empty; give a text"),
        ({"document": "  \n "}, 400, "the document is empty"),
        ({"document": 7}, 422, "document: this is no text; give one, such as"),
        ({"document": "half \ud800 a character"}, 422, "document: this holds half a character; send whole ones"),
        ({"attention": "perhaps"}, 422, "attention: this is neither true nor false; give one of them"),
        ({"canditates": []}, 422, "canditates: unknown key; did you mean 'candidates'? known: attention, "),
        ({"reader": "huge"}, 400, "there is no reader 'huge' here; known: small"),
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
    assert (response.status_code, response.headers["Allow"]) == (405, "POST")
    assert response.json() == {"detail": "/answer takes POST, not GET; /docs shows how"}


def test_other_complaints_are_passed_on():
    assert sentence({"type": "new", "msg": "Odd"}) == "Odd; /docs shows what a question is"


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
    monkeypatch.setattr("gareader.serve.service.tokenise", never)
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
        return answer_of(*given, **wishes)

    monkeypatch.setattr("gareader.serve.service.answer_of", watched)
    assert post({**ASKED, "attention": True}).status_code == 200
    assert len(threads) == 1
    assert current_thread() not in threads


class Broken:
    """A reader that fails."""

    def predict(self, *_, **__):
        raise RuntimeError("out of order")


def test_a_failure_is_told_as_every_error_is():
    response = post(ASKED, readers={"broken": Broken()}, strict=False)
    assert response.status_code == 500
    assert response.json() == {"detail": "the service failed, which its log explains; ask something else"}
    assert {name: response.headers.get(name) for name in HEADERS} == HEADERS


class Stuck:
    """A reader that does not come back before it is told to."""

    def __init__(self):
        self.go = Event()

    def predict(self, examples, *, attention=False):
        self.go.wait(10)
        return READER.predict(examples, attention=attention)


def test_overload_and_slowness_are_told_with_a_time_to_come_again():
    stuck = Stuck()

    async def conversation(client):
        waiting = [asyncio.create_task(client.post("/answer", json=ASKED)) for _ in range(3)]
        async with asyncio.timeout(60):
            while (await client.get("/healthz")).json()["waiting"] < 3:
                await asyncio.sleep(0.005)
        refused = await client.post("/answer", json=ASKED)
        assert (await client.post("/answer", json=[ASKED] * 2)).status_code == 503
        health = await client.get("/healthz")
        stuck.go.set()
        return refused, health, [await task for task in waiting]

    refused, health, answered = talk(conversation, readers={"stuck": stuck}, limits=Limits(waiting=3))
    assert refused.status_code == 503
    assert refused.headers["Retry-After"] == "1"
    assert health.json() == {"status": "ok", "waiting": 3}
    assert [response.status_code for response in answered] == [200] * 3

    stuck = Stuck()

    async def impatient(client):
        response = await client.post("/answer", json=ASKED)
        stuck.go.set()
        return response

    late = talk(impatient, readers={"stuck": stuck}, limits=Limits(seconds=0.2))
    assert late.status_code == 503
    assert "no answer within 0.2 seconds" in late.json()["detail"]
    assert late.headers["Retry-After"] == "5"


def test_the_token():
    for headers in (None, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}):
        response = post(ASKED, token=TOKEN, headers=headers)
        assert response.status_code == 401
        assert "token" in response.json()["detail"]
        assert get("/readers", token=TOKEN, headers=headers).status_code == 401
    right = {"Authorization": f"Bearer {TOKEN}"}
    assert post(ASKED, token=TOKEN, headers=right).status_code == 200
    assert get("/readers", token=TOKEN, headers=right).status_code == 200
    assert get("/healthz", token=TOKEN).status_code == 200
    assert post(ASKED, token="").status_code == 401


def test_the_readers():
    assert get("/readers").json() == [{"name": "small"}]
    assert get("/readers", about=[{"name": "small", "about": "nothing"}]).json() == [
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
