"""`gareader answer` as its users meet it: one question in raw text, or many as JSON lines."""

import gzip
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import log
from threading import Timer

import numpy as np
import pytest

import synthetic
from gareader.cli.answer import coloured, print_attention, print_doubts, print_ranking
from gareader.data.examples import PLACEHOLDER, Attention, Example, Prediction
from gareader.data.store import prepare
from gareader.training.experiment import Experiment
from gareader.training.run import BEST

# cyclopts wants to be sure that a test means its own arguments
pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")

STORY = "Ann has the lamp. Ben has the drum. Cora has the kite. Dan has the rope."
QUERY = "XXXXX has the drum."
KEYS = {"id", "query", "best", "ranking", "absent", "in_part", "unsure"}


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A reader that has learned who has what."""
    folder = tmp_path_factory.mktemp("reader")
    prepare(synthetic.corpus(640, seed=1), folder / "train.arrow")
    prepare(synthetic.corpus(60, seed=2), folder / "validation.arrow")
    table = {
        "data": {"train": f"{folder}/train.arrow", "validation": f"{folder}/validation.arrow", "vector_width": 12},
        "reader": {"hidden": 12, "hops": 2, "dropout": 0.0, "characters": False},
        "train": {"learning_rate": 0.02, "max_epochs": 2, "threads": 1},
    }
    assert Experiment.from_table(table).run(folder / "run").train().best_accuracy > 0.95
    return folder / "run" / BEST


@contextmanager
def standard_input(data, folder):
    """The bytes on file descriptor 0, as a shell's < would put them."""
    file = folder / "stdin"
    file.write_bytes(data)
    kept = os.dup(0)
    with file.open("rb") as stream:
        os.dup2(stream.fileno(), 0)
    try:
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)


@pytest.fixture
def answer(reader, gareader, tmp_path):
    """Runs the command: exit code, stdout, stderr."""

    def run(*arguments, stdin=b"", reader=reader):
        with standard_input(stdin, tmp_path):
            return gareader("answer", "--model", reader, *arguments)

    return run


@pytest.fixture
def story(tmp_path):
    path = tmp_path / "story.txt"
    path.write_text(STORY, encoding="utf-8")
    return path


def candidates(printed):
    return [line.split("  ")[0] for line in printed.splitlines()]


def test_candidates_are_proposed_and_ranked(answer, story):
    code, out, err = answer("--document", story, "--query", QUERY)
    assert (code, err) == (0, "")
    assert all(re.fullmatch(r"\w+ +\d+\.\d%", line) for line in out.splitlines())
    assert candidates(out)[0] == "Ben"
    assert sorted(candidates(out)) == ["Ann", "Ben", "Cora", "Dan"]


def test_a_question_is_asked_as_a_sentence_with_a_blank(answer, story):
    code, out, err = answer("--document", story, "--query", "Who has the drum?")
    assert (code, err) == (0, "")
    first, empty, *rows = out.splitlines()
    assert (first, empty) == ("___ has the drum.", "")
    assert rows == answer("--document", story, "--query", QUERY)[1].splitlines()
    found = json.loads(answer("--document", story, "--query", "Who has the drum?", "--json")[1])
    assert (found["query"], found["best"]) == ("___ has the drum .", "Ben")
    code, out, err = answer("--document", story, "--query", "Why has Ben the drum?")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "ask who, whose, what, which, where, when or how many, or write a sentence with a blank" in err


@pytest.mark.parametrize("blank", ["XXXXX", "___", "______", "@placeholder", "[MASK]", "<mask>", "...", "…"])
def test_every_way_to_write_the_blank(answer, story, blank):
    code, out, _ = answer("--document", story, "--query", f"{blank} has the kite.", "--json")
    assert code == 0
    assert json.loads(out)["best"] == "Cora"


def test_the_document_from_standard_input(answer, story):
    expected = answer("--document", story, "--query", QUERY)
    assert answer("--document", "-", "--query", QUERY, stdin=STORY.encode()) == expected


def test_a_compressed_document_with_a_byte_order_mark(answer, story, tmp_path):
    packed = tmp_path / "story.gz"
    packed.write_bytes(gzip.compress(STORY.encode("utf-8-sig")))
    assert answer("--document", packed, "--query", QUERY) == answer("--document", story, "--query", QUERY)


def test_given_candidates_of_several_words_and_one_that_is_not_in_the_document(answer, tmp_path):
    story = tmp_path / "story.txt"
    story.write_text("Ann has the lamp. Ben Zöller has the drum.", encoding="utf-8")
    code, out, err = answer("--document", story, "--query", QUERY, "--candidates", "Zoë|Ann| Ben Zöller |Ann||")
    assert (code, err) == (0, "")
    first, second, third = out.splitlines()[:3]
    assert re.fullmatch(r"Ben Zöller +\d+\.\d%", first)
    assert re.fullmatch(r"Ann +\d+\.\d%", second)
    assert re.fullmatch(r"Zoë +0\.0%   not in the document", third)


def test_a_candidate_that_is_there_only_in_part_is_marked(answer, story):
    asked = ["--document", story, "--query", QUERY, "--candidates", "Ann|Ben Poppins|Zoë|Cora"]
    rows = {row.split("  ")[0]: row for row in answer(*asked)[1].splitlines()}
    assert re.fullmatch(r"Ben Poppins +\d+\.\d%   only in part in the document", rows["Ben Poppins"])
    assert rows["Zoë"].endswith("   not in the document")
    assert rows["Ann"].endswith("%")
    found = json.loads(answer(*asked, "--json", "--top", 1)[1])
    assert (found["absent"], found["in_part"]) == (["Zoë"], ["Ben Poppins"])


def test_only_so_many(answer, story):
    _, everything, _ = answer("--document", story, "--query", QUERY)
    _, out, _ = answer("--document", story, "--query", QUERY, "--top", 2)
    assert out.splitlines() == everything.splitlines()[:2]
    for number in ("0", "-1", "x"):
        code, out, err = answer("--document", story, "--query", QUERY, f"--top={number}")
        assert (code, out) == (2, "")
        assert "--top" in err


def test_json_for_programs(answer, story):
    code, out, err = answer(
        "--document", story, "--query", QUERY, "--candidates", "Ann|Ben|Zoë", "--json", "--top", "3"
    )
    assert (code, err) == (0, "")
    assert out.endswith("\n")
    assert out.count("\n") == 1
    found = json.loads(out)
    assert found.keys() - {"remark"} == KEYS
    assert (found["absent"], found["in_part"]) == (["Zoë"], [])
    assert found["best"] == found["ranking"][0]["answer"] == "Ben"
    assert found["ranking"][2] == {"answer": "Zoë", "probability": 0.0}
    assert sum(each["probability"] for each in found["ranking"]) == pytest.approx(1)
    assert len(json.loads(answer("--document", story, "--query", QUERY, "--json", "--top", 1)[1])["ranking"]) == 1


BAD = {
    "no blank": (STORY, "Ann has the drum.", None, "the query has no placeholder; mark one blank, and only one, with"),
    "two blanks": (STORY, "XXXXX has the ___.", None, "the query has 2 placeholders; mark one blank, and only one"),
    "empty document": ("", QUERY, None, "the document is empty; give the text that holds the answer"),
    "blank document": (" \n ", QUERY, "Ann|Ben", "the document is empty"),
    "one candidate": (STORY, QUERY, "Ann,Ben", "1 candidate answer in --candidates; separate at least two by |, for"),
    "no candidate": (STORY, QUERY, " | ", "no candidate answer in --candidates; separate at least two by |, for"),
    "nothing to propose": (
        "it was so",
        QUERY,
        None,
        "the document has no two names or nouns to choose from; give the candidates, "
        "for example: --candidates 'Tom|Mary Ann'",
    ),
    "none in document": (STORY, QUERY, "Xerxes|Zoë", "no candidate occurs in the document, so there is nothing to"),
}


@pytest.mark.parametrize(("document", "query", "given", "message"), BAD.values(), ids=BAD)
def test_questions_that_cannot_be_answered(answer, tmp_path, document, query, given, message):
    story = tmp_path / "story.txt"
    story.write_text(document, encoding="utf-8")
    code, out, err = answer("--document", story, "--query", query, *(["--candidates", given] if given else []))
    assert (code, out) == (1, "")
    assert err.startswith("gareader: ")
    assert message in err
    assert err.count("\n") == 1


def test_too_little_memory_is_told(answer, tmp_path, monkeypatch):
    def full(*_):
        raise MemoryError("Unable to allocate 6 GiB")

    monkeypatch.setattr("gareader.cli.answer.load", full)
    story = tmp_path / "story.txt"
    story.write_text(STORY, encoding="utf-8")
    code, out, err = answer("--document", story, "--query", QUERY)
    assert (code, out) == (1, "")
    assert (
        err
        == "gareader: there is not enough memory (Unable to allocate 6 GiB); give a smaller text, or smaller batches\n"
    )


def test_documents_that_cannot_be_read(answer, tmp_path):
    latin, folder, cut, shelf = (tmp_path / name for name in ("latin.txt", "folder", "cut.gz", "shelf.txt"))
    latin.write_bytes("Zoë has the drum.".encode("latin-1"))
    folder.mkdir()
    cut.write_bytes(gzip.compress(STORY.encode() * 99)[:-20])
    shelf.write_text("Zoë, " * 800_001, "utf-8")
    for document, message in (
        (tmp_path / "nowhere.txt", "nowhere.txt: there is no such file or folder; check the path"),
        (latin, "latin.txt: this is not UTF-8 text (invalid continuation byte); save it as UTF-8"),
        (shelf, "shelf.txt: 4,000,005 characters in one text, and 4,000,000 are the most; give a part of it"),
        (folder, "folder: this is a folder; name one of its files"),
        (cut, "cut.gz: damaged or cut off here"),
    ):
        code, out, err = answer("--document", document, "--query", QUERY)
        assert (code, out) == (1, "")
        assert message in err
        assert err.count("\n") == 1
    code, out, err = answer("--document", "-", "--query", QUERY, stdin=latin.read_bytes())
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "/dev/stdin: this is not UTF-8 text" in err


def test_a_reader_that_is_not_there(answer, story, tmp_path):
    code, out, err = answer("--document", story, "--query", QUERY, reader=tmp_path / "no")
    assert (code, out) == (1, "")
    assert "there is no model here (no reader.json); check the path\n" in err


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--query", QUERY],
        ["--document", "-"],
        ["--document", "-", "--query", QUERY, "--batch", "-"],
        ["--batch", "-", "--query", QUERY],
        ["--batch", "-", "--candidates", "Ann|Ben"],
    ],
    ids=" ".join,
)
def test_one_question_or_many(answer, options):
    code, out, err = answer(*options)
    assert (code, out) == (1, "")
    assert err == ("gareader: give --document and --query, or --batch and neither of them; - reads standard input\n")


def line(thing, **changes):
    question = {"document": STORY, "query": f"XXXXX has the {thing}.", "candidates": ["Ann", "Ben", "Cora", "Dan"]}
    return json.dumps({**question, **changes})


BATCH = [
    line("drum", id="first"),
    "{broken",
    line("kite"),
    line("rope", candidates=["Dan"]),
    line("lamp", query="no blank"),
    "",
    line("rope", candidates=["Zoë", "Xerxes"]),
    line("lamp", document=STORY.replace(".", " .").split()),
]


@pytest.mark.parametrize("name", ["questions.jsonl", "-"])
def test_many_questions(answer, tmp_path, name):
    data = ("\n".join(BATCH) + "\n").encode()
    path = tmp_path / "questions.jsonl"
    path.write_bytes(data)
    code, out, err = answer("--batch", path if name != "-" else name, stdin=data)
    found = [json.loads(row) for row in out.splitlines()]
    assert [row["best"] for row in found] == ["Ben", "Cora", None, "Ann"]
    stem = "stdin" if name == "-" else "questions"
    assert [row["id"] for row in found] == ["first", f"{stem}:3", f"{stem}:7", f"{stem}:8"]
    assert all(row.keys() - {"remark"} == KEYS for row in found)
    assert found[2]["absent"] == ["Zoë", "Xerxes"]
    assert [each["answer"] for each in found[2]["ranking"]] == ["Zoë", "Xerxes"]
    place = "/dev/stdin" if name == "-" else path
    told = err.splitlines()
    assert told[0].startswith(f"gareader: skipped: {place}:2: broken JSON")
    assert told[1].startswith(f"gareader: skipped: {place}:4: 1 candidate answer")
    assert told[2].startswith(f"gareader: skipped: {place}:5: the query has no placeholder")
    assert told[3:] == ["gareader: 3 bad lines passed over; all others are answered"]
    assert code == 1


@pytest.mark.parametrize("first", ["1 Once upon a time", "<ROOT>", "{broken", '"a text"'])
@pytest.mark.parametrize("name", ["questions.jsonl", "-"])
def test_a_batch_of_another_kind_is_told_once(answer, tmp_path, name, first):
    data = "\n".join([first] * 9).encode()
    path = tmp_path / "questions.jsonl"
    path.write_bytes(data)
    code, out, err = answer("--batch", path if name != "-" else name, stdin=data)
    assert (code, out, err.count("\n")) == (1, "", 1)
    place = "/dev/stdin" if name == "-" else path
    assert err.startswith(f'gareader: {place}:1: this is no JSON object; --batch takes lines {{"id"')
    assert err.endswith("for other formats type: gareader evaluate MODEL FILE --predictions answers.jsonl\n")


@pytest.mark.parametrize("name", ["questions.jsonl", "-"])
def test_candidates_are_proposed_for_a_line_without_them(answer, tmp_path, name):
    data = json.dumps({"document": STORY, "query": QUERY}).encode()
    path = tmp_path / "questions.jsonl"
    path.write_bytes(data)
    code, out, err = answer("--batch", path if name != "-" else name, stdin=data)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["best"] == "Ben"
    assert sorted(each["answer"] for each in found["ranking"]) == ["Ann", "Ben", "Cora", "Dan"]


def test_many_good_questions(answer, tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text(line("drum") + "\n" + line("kite"))
    code, out, err = answer("--batch", path, "--top", 1)
    assert (code, err) == (0, "")
    assert [json.loads(row)["ranking"][0]["answer"] for row in out.splitlines()] == ["Ben", "Cora"]
    assert all(len(json.loads(row)["ranking"]) == 1 for row in out.splitlines())
    assert answer("--batch", "-", stdin=b"") == (0, "", "")


def test_a_batch_from_a_pipe(answer, tmp_path):
    line = json.dumps({"document": "Ann has the lamp.", "query": "XXXXX has the lamp.", "candidates": ["Ann", "Ben"]})
    reader, writer = os.pipe()
    with ThreadPoolExecutor(1) as worker, os.fdopen(writer, "w") as pipe:
        worker.submit(pipe.write, line + "\n").add_done_callback(lambda _: pipe.close())
        code, out, err = answer("--batch", f"/dev/fd/{reader}")  # as bash gives it for <(command)
    os.close(reader)
    assert (code, err, len(out.splitlines())) == (0, "", 1)


def test_a_pipe_that_nobody_has_opened_is_not_waited_for(answer, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for options in (("--batch", tmp_path / "pipe"), ("--document", tmp_path / "pipe", "--query", "XXXXX ran.")):
        code, out, err = answer(*options)
        assert (code, out) == (1, "")
        assert "this is a pipe or a device and no file; copy its content to one" in err


def test_a_batch_that_is_damaged_is_answered_up_to_there(answer, tmp_path):
    path = tmp_path / "questions.jsonl.gz"
    rows = [line("drum"), *(line("kite", document=f"{n} {STORY}") for n in range(200))]
    path.write_bytes(gzip.compress("\n".join(rows).encode())[:-12])
    code, out, err = answer("--batch", path)
    assert code == 1
    assert json.loads(out.splitlines()[0])["best"] == "Ben"
    assert "damaged or cut off here" in err
    code, out, err = answer("--batch", tmp_path / "nowhere.jsonl")
    assert (code, out, err.count("\n")) == (1, "", 1)


@pytest.mark.slow
def test_a_program_may_ask_and_wait_for_each_answer(reader):
    """As a child process, the way another program uses it."""
    command = [sys.executable, "-m", "gareader", "answer", "--reader", reader, "--batch", "-"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        patience = Timer(60, process.kill)  # for an answer that never comes
        patience.start()
        for thing, holder in (("drum", "Ben"), ("kite", "Cora")):
            process.stdin.write(line(thing) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["best"] == holder
        patience.cancel()
        process.stdin.write("{broken\n")
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.stderr.read().splitlines()[-1] == "gareader: 1 bad line passed over; all others are answered"
    assert process.returncode == 1


@pytest.mark.parametrize(("best", "told"), [(0.49, "Not sure: no answer has 50% or more"), (0.51, "")])
def test_an_answer_that_is_more_probably_wrong_than_right_is_told(best, told, capsys):
    example = Example("q", ("Ann", "met", "Ben"), (PLACEHOLDER, "met", "Ben"), (("Ann",), ("Ben",), ("met",)), None)
    shares = (best, (1 - best) / 2, (1 - best) / 2)
    prediction = Prediction(example, tuple(map(log, shares)), remark="the text is odd")
    assert (prediction.unsure, prediction.record()["unsure"]) == (bool(told), bool(told))
    print_doubts(prediction)
    out = capsys.readouterr().out
    assert told in out
    assert ("Not sure" in out) == bool(told)
    assert out.endswith("Note: the text is odd.\n")


def test_the_demo_prints_text_as_people_write_it(gareader):
    code, out, err = gareader("demo")
    assert (code, err) == (0, "")
    joined = " ".join(out.split())
    assert "“Do not stop at the inn,” he said, “and do not talk to the miller" in joined
    assert "bought a ribbon from old ___, who had told him" in joined
    assert re.search(r"^ *\d+\.\d% +and there sat old \[Bessie\], who sold ribbons$", out, re.MULTILINE)
    assert not re.search(r"``|''|@\w|⊢|⊣| [.,!?”]", out)


def test_words_of_the_treebank_are_not_printed(capsys):
    document = tuple("`` Mary Ann 's -LRB- old -RRB- dog did n't bark ! ''".split())
    example = Example("q", document, (PLACEHOLDER,), (("Mary", "Ann", "'s"), ("dog",)), None)
    final = np.asarray([0.01] * 7 + [0.9] + [0.02] * 5, dtype=np.float32)
    prediction = Prediction(example, (log(0.9), log(0.1)), Attention(("@begin", PLACEHOLDER, "@end"), (), final))
    print_ranking(prediction)
    print_attention(prediction, places=1, context=7, width=12)
    assert capsys.readouterr().out == "Mary Ann’s   90.0%\ndog          10.0%\n 90.0%  …nn’s (old) [dog] didn’t bar…\n"
    assert coloured(prediction).plain == "“Mary Ann’s (old) dog didn’t bark!”"
    assert [span.style for span in coloured(prediction).spans if "bold" in str(span.style)] == [
        "bold black on bright_yellow"
    ]


def test_an_unusual_text_is_told(answer, tmp_path):
    text = tmp_path / "text.txt"
    asked = ["--document", text, "--query", "XXXXX has the drum.", "--candidates", "Ann|Ben"]
    text.write_text("Ann has the lamp. Ben has the drum.")
    assert answer(*asked)[1].endswith("Note: the text has only 10 words, and models are trained on longer ones.\n")
    text.write_text("Ann has the lamp. Ben has the drum. " * 3)
    assert "Note" not in answer(*asked)[1]
    text.write_text("Ann zub kefwim dovpel. Ben xubb kixx qorr. " * 3)
    assert "Note: the model does not know 75% of the words of this text." in answer(*asked)[1]
