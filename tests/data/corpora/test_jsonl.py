"""The JSON lines format: texts and word lists, and one broken file per message."""

import json
from pathlib import Path
from typing import Any

import pytest

from data.corpora.writers import read_all
from gareader.core.errors import CorpusError
from gareader.data.corpora import read
from gareader.data.examples import Example
from places import SAMPLES

EXAMPLE = SAMPLES / "questions.jsonl"
QUESTION: dict[str, Any] = {
    "document": "Ann met Bob.",
    "query": "___ met Bob.",
    "candidates": ["Ann", "Bob"],
    "answer": "Ann",
}


def changed(**changes: object) -> str:
    """The question as a line, with other keys."""
    return json.dumps(QUESTION | changes)


def without(key: str, **more: object) -> str:
    """The question as a line, without one key."""
    return json.dumps({name: value for name, value in QUESTION.items() if name != key} | more)


def test_the_example_file_word_for_word() -> None:
    otter, tree, entities = read(EXAMPLE)
    assert otter.id == "otter"
    assert " ".join(otter.document) == (
        "Otto the otter did n't sleep . `` Wake up , Mr. Gray ! '' he said -LRB- it was late -RRB- ."
    )
    assert " ".join(otter.query) == "`` Wake up ! '' said @placeholder 's friend ."
    assert otter.candidates == (("Otto",), ("Mr.", "Gray"))
    assert otter.answer == 0
    document = ("Tess", "sat", "in", "the", "pear", "tree", ".")
    query = ("@placeholder", "sat", "in", "a", "tree", ".")
    assert tree == Example("questions:3", document, query, (("pear", "tree"), ("Tess",)), 1)
    assert entities.id == "7"
    assert entities.document == ("@entity1", "met", "@entity2", ".")
    assert entities.query == ("@placeholder", "met", "@entity2", ".")
    assert entities.answer is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (changed(candidates=["Ann", ["Ann"], "Bob"]), {"candidates": (("Ann",), ("Ann",), ("Bob",)), "answer": 0}),
        (changed(candidates=[["Ann", "Lee"], "Bob"], answer="Ann Lee"), {"answer": 0}),
        (changed(answer=["Bob"]), {"answer": 1}),
        (changed(answer=None), {"answer": None}),
        (without("answer"), {"answer": None}),
        (without("answer", date="1901"), {"answer": None}),
        (changed(answers="kept for myself"), {"answer": 0}),
        (changed(id=None), {"id": "mine:1"}),
        (changed(id=0), {"id": "0"}),
        (changed(document=["cafe\u0301", "(", "don't"]), {"document": ("caf\u00e9", "(", "don't")}),
        (changed(query=["XXXXX", "met"]), {"query": ("@placeholder", "met")}),
        (changed(query=["@placeholder", "met"]), {"query": ("@placeholder", "met")}),
    ],
)
def test_what_is_accepted(tmp_path: Path, line: str, expected: dict[str, object]) -> None:
    (tmp_path / "mine.jsonl").write_text(line)
    (example,) = read(tmp_path / "mine.jsonl")
    assert {key: getattr(example, key) for key in expected} == expected


WORD = "a word is text without white space, and not empty"
BROKEN = {
    "no JSON": (
        '{"document": "a", ',
        "broken JSON: Expecting property name enclosed in double quotes: line 1 column 19",
    ),
    "pretty JSON": (
        "{",
        "broken JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1); write each",
    ),
    "a list": ("[1]", 'a list where an object is due: {"id": ..., "document": ...'),
    "a number too long": ("1" * 5000, "broken JSON: a number has thousands of digits"),
    "too deep": ("[" * 100_000, "broken JSON: it is nested too deeply"),
    "no document": (without("document"), "the key 'document' is missing; a question is {"),
    "no query": (without("query"), "the key 'query' is missing"),
    "no candidates": (without("candidates"), "the key 'candidates' is missing"),
    "a key misspelt": (
        without("candidates", candidate=["a", "b"]),
        "unknown key 'candidate'; did you mean 'candidates'? known: answer, candidates, document, id, query",
    ),
    "an optional key misspelt": (without("answer", anwser="Ann"), "unknown key 'anwser'; did you mean 'answer'?"),
    "document of no text": (changed(document=5), "the key 'document' holds a number; give a text or a list of words"),
    "query of no text": (changed(query=None), "the key 'query' holds null; give a text or a list of words"),
    "candidates of one text": (changed(candidates="Ann, Bob"), "the key 'candidates' holds a text; give a list of"),
    "candidate of no text": (changed(candidates=["Ann", {}]), "the key 'candidates' holds an object; give a text or"),
    "answer by number": (changed(answer=0), "the key 'answer' holds a number; give a text or a list of words"),
    "id of no text": (changed(id=True), "the key 'id' holds true; give a text or a number, or leave it out"),
    "an empty id": (changed(id=""), "the key 'id' holds \"\"; give a text or a number"),
    "an empty word": (changed(document=["a", ""]), f"the key 'document' holds \"\" as a word; {WORD}"),
    "two words in one": (changed(query=["___", "a b"]), f"the key 'query' holds \"a b\" as a word; {WORD}"),
    "a word of no text": (changed(candidates=[["a", 1], "b"]), f"the key 'candidates' holds 1 as a word; {WORD}"),
    "an empty document": (changed(document=" "), "the document is empty"),
    "no blank": (changed(query="Ann met Bob."), "the query has no placeholder; mark one blank, and only one"),
    "a question for a reason": (
        changed(query="Why did Ann go?"),
        "this question does not ask for a name, thing, place, date",
    ),
    "two blanks": (changed(query="XXXXX met ____."), "the query has 2 placeholders"),
    "one candidate": (changed(candidates=["Ann"]), "1 candidate answer; give at least two"),
    "an empty candidate": (changed(candidates=["Ann", ""]), "a candidate answer is empty"),
    "an answer of its own": (changed(answer="ann"), "the answer 'ann' is not among the candidates: Ann, Bob"),
    "bytes that are no UTF-8": ('{"document": "\udcff"}', "byte 0xff at column 15 is not UTF-8"),
    "half a character": (changed(document="\ud800"), "half a character (\\ud800) at column 1 is not UTF-8"),
    "half a character in an id": (changed(id="\ud800"), "half a character (\\ud800) at column 1 is not UTF-8"),
}


@pytest.mark.parametrize(("line", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_line_between_two_good_ones(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(f"{changed()}\n\n{line}\n{changed()}\n", encoding="utf-8", errors="surrogateescape")
    with pytest.raises(CorpusError) as raised:
        list(read(path))
    assert str(raised.value).startswith(f"{path}:3: {message}")
    examples, bad = read_all(path)
    assert [example.id for example in examples] == ["mine:1", "mine:4"]
    assert bad == [str(raised.value)]
