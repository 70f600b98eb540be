"""The Children's Book Test format: its quirks, and one broken file per message."""

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from data.corpora.writers import read_all
from gareader.core.errors import CorpusError, ExampleError
from gareader.data.corpora import cbt, read
from gareader.data.examples import PLACEHOLDER, Example
from places import SAMPLES

EXAMPLE = SAMPLES / "cbt.txt"
GOOD = "1 Otto saw Tess .\n2 Tess ran .\n3 Otto saw XXXXX .\tTess\t\tOtto|Tess\n"
QUESTION = Example("q", ("a",), (PLACEHOLDER,), (("a",), ("b",)), 0)


def test_the_example_file_word_for_word() -> None:
    first, second, third = read(EXAMPLE)
    assert first.id == "cbt:21"
    assert len(first.document) == 259
    assert " ".join(first.document[:13]) == "Otto the otter lived under the old mill with his aunt Brindle ."
    assert " ".join(first.document[-8:]) == "tub and drew it to the steps ."
    assert " ".join(first.query) == "Mrs. Gray took @placeholder in her arms and could not speak ."
    candidates = "Brindle|Gray|Mr.|Mrs.|Otto|Tess|branch|gate|rope|tub"
    assert first.candidates == tuple((word,) for word in candidates.split("|"))
    assert first.answer == 5
    assert second.id == "cbt:43"
    assert second.document[:4] == ("Every", "morning", "he", "slid")
    assert second.document[-4:] == ("could", "not", "speak", ".")
    assert second.document[:-12] == first.document[13:]
    assert second.candidates[-2:] == (("wheel",), ("|",))
    assert third.candidates[third.answer or 0] == ("steps",)
    assert third.document is second.document  # the store need not encode it again


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("a|b||", ["a", "b", "|"]),
        ("||a|b", ["|", "a", "b"]),
        ("a|||b", ["a", "|", "b"]),
        ("|||", ["|", "|"]),
        ("a|b|b", ["a", "b", "b"]),
        ("a b|cafe\u0301", ["a b", "caf\u00e9"]),
    ],
)
def test_candidates_that_are_bars(tmp_path: Path, field: str, expected: list[str]) -> None:
    (tmp_path / "cbt.txt").write_text(f"1 a .\n2 XXXXX .\t\t\t{field}\n", encoding="utf-8")
    (example,) = read(tmp_path / "cbt.txt")
    assert [" ".join(candidate) for candidate in example.candidates] == expected
    assert example.answer is None


def test_the_answer_is_the_first_of_equal_candidates_and_capitals_count(tmp_path: Path) -> None:
    (tmp_path / "cbt.txt").write_text("1 Tess ran .\n2 XXXXX .\ttess\t\tTess|tess|tess\n")
    (example,) = read(tmp_path / "cbt.txt")
    assert example.answer == 1


@pytest.mark.parametrize(
    "text",
    [
        GOOD + "\n" + GOOD,
        GOOD + GOOD,  # no blank line between
        GOOD + "\n \n\t\n" + GOOD + "\n\n",
        (GOOD + "\n" + GOOD).rstrip("\n"),
        "\n" + (GOOD + "\n" + GOOD).replace("\n", "\r\n"),
        (GOOD + "\n" + GOOD).replace("\n", "\r"),
        (GOOD + "\n" + GOOD).replace("2 Tess ran .", "2  Tess\u00a0ran  . "),
        "\ufeff" + GOOD + "\n" + GOOD,
    ],
)
def test_layouts_that_are_accepted(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cbt.txt"
    path.write_bytes(text.encode())
    examples = list(read(path))
    assert [example.document for example in examples] == [("Otto", "saw", "Tess", ".", "Tess", "ran", ".")] * 2
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert all("\t" in lines[int(example.id.removeprefix("cbt:")) - 1] for example in examples)


def test_a_question_of_any_number_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "cbt.txt"
    path.write_text(cbt.written(QUESTION, ["b"] * 149))
    assert next(read(path)).document == ("b",) * 149


def test_a_sentence_of_no_words(tmp_path: Path) -> None:
    path = tmp_path / "cbt.txt"
    path.write_text("1 a\n2\n3 \n4 b\n5 XXXXX\ta\t\ta|b\n")
    assert next(read(path)).document == ("a", "b")


def test_a_window_that_does_not_simply_move_on(tmp_path: Path) -> None:
    documents = [["x", "a", "x", "b"], ["x", "b", "c"], ["c"], ["x", "c"], ["c", "x"], ["x", "d"], ["x", "a", "x", "b"]]
    (tmp_path / "cbt.txt").write_text("".join(cbt.written(QUESTION, rows) for rows in documents))
    assert [list(example.document) for example in read(tmp_path / "cbt.txt")] == documents


def test_a_question_is_written_a_line_for_each_sentence() -> None:
    document = tuple("Otto saw Tess . Tess ran .".split())
    example = Example("q", document, ("Otto", "saw", PLACEHOLDER, "."), (("Otto",), ("Tess",)), 1)
    assert cbt.written(example, ["Otto saw Tess .", "Tess ran ."]) == GOOD + "\n"
    assert cbt.written(example).startswith("1 Otto saw Tess . Tess ran .\n2 Otto")


@pytest.mark.parametrize(
    "example",
    [
        Example("q", ("a",), (PLACEHOLDER,), (("a|b",), ("b",)), 0),
        Example("q", ("a",), (PLACEHOLDER,), (("|", "a"), ("b",)), 0),
        Example("q", ("a",), (PLACEHOLDER, "XXXXX"), (("a",), ("b",)), 0),
    ],
)
def test_what_the_format_cannot_hold_is_not_written(example: Example) -> None:
    with pytest.raises(ExampleError, match=r"q: '\|' in a candidate or XXXXX in the query; write the question as JSON"):
        cbt.written(example)


BROKEN = {
    "numbers that do not start at one": (
        "2 Otto saw Tess .\n3 XXXXX .\tTess\t\tOtto|Tess\n",
        "{path}:5: this line begins with '2' where 1 is due; a question's lines count up from 1",
    ),
    "a gap in the numbers": (
        "1 Otto saw Tess .\n3 Tess ran .\n4 XXXXX .\tTess\t\tOtto|Tess\n",
        "{path}:6: this line begins with '3' where 2 is due",
    ),
    "no number": ("1 Otto saw Tess .\nTess ran .\n", "{path}:6: this line begins with 'Tess' where 2 is due"),
    "no query line": (
        "1 Otto saw Tess .\n2 Tess ran .\n",
        "{path}:6: the question ends here without its query line, '21 query with XXXXX<TAB>answer<TAB><TAB>c1|c2|...'",
    ),
    "a field missing": ("1 Otto saw Tess .\n2 XXXXX .\tTess\tOtto|Tess\n", "{path}:6: the question ends here without"),
    "a field too many": ("1 Otto .\n2 XXXXX .\tTess\tx\tOtto|Tess\n", "{path}:6: the question ends here without"),
    "no blank": ("1 Otto saw Tess .\n2 YYYYY .\tTess\t\tOtto|Tess\n", "{path}:6: the query has no placeholder"),
    "two blanks": ("1 Otto .\n2 XXXXX XXXXX .\tTess\t\tOtto|Tess\n", "{path}:6: the query has 2 placeholders"),
    "no document": ("1 XXXXX .\tTess\t\tOtto|Tess\n", "{path}:5: the document is empty"),
    "one candidate": ("1 Otto saw Tess .\n2 XXXXX .\tTess\t\tTess\n", "{path}:6: 1 candidate"),
    "an empty candidate": (
        "1 Otto saw Tess .\n2 XXXXX .\tTess\t\tOtto||Tess\n",
        "{path}:6: a candidate answer is empty",
    ),
    "a blank candidate": (
        "1 Otto saw Tess .\n2 XXXXX .\tTess\t\tOtto| |Tess\n",
        "{path}:6: a candidate answer is empty",
    ),
    "an answer of its own": (
        "1 Otto saw Tess .\n2 XXXXX .\ttess\t\tOtto|Tess\n",
        "{path}:6: the answer 'tess' is not among the candidates: Otto, Tess; spelling and capitals count",
    ),
    "bytes that are no UTF-8": (
        "1 Otto saw \udcff .\n2 XXXXX .\tTess\t\tOtto|Tess\n",
        "{path}:5: byte 0xff at column 12 is not UTF-8; save the file as UTF-8 or mend the line",
    ),
}


@pytest.mark.parametrize("separator", ["\n", "", "\n \n"])
@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_question_between_two_good_ones(tmp_path: Path, text: str, message: str, separator: str) -> None:
    path = tmp_path / "cbt.txt"
    path.write_text(GOOD + "\n" + text + separator + GOOD, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(CorpusError) as raised:
        list(read(path))
    assert str(raised.value).startswith(message.format(path=path))
    examples, bad = read_all(path)
    assert len(examples) == 2
    assert bad == [str(raised.value)]


@pytest.mark.parametrize(
    "line",
    [
        "XXXXX " * 20_000 + "\tTess\t\tOtto|Tess",
        "XXXXX .\tTess\t\tTess" + "|" * 20_000,
        "XXXXX .\t\t\t" + "a b|" * 9000,
    ],
)
def test_the_work_is_linear_in_the_length_of_a_line(tmp_path: Path, line: str) -> None:
    query, answer, _, candidates = line.split("\t")
    short = "\t".join((query[: len(query) // 16], answer, "", candidates[: len(candidates) // 16]))
    work(tmp_path / "cbt.txt", short)  # imports and caches
    assert work(tmp_path / "cbt.txt", line) < 20 * work(tmp_path / "cbt.txt", short)  # quadratic work is 256 times


def work(path: Path, line: str) -> int:
    """Calls while a question with this query line is read, and the lengths of the texts and lists that they go over."""
    path.write_text(f"1 Otto saw Tess .\n2 {line}\n")
    total = 0

    def count(_: FrameType, event: str, function: Any) -> None:
        nonlocal total
        total += event in ("call", "c_call")
        if event == "c_call" and function.__name__ not in ("append", "extend"):
            owner = getattr(function, "__self__", None)
            total += len(owner) if isinstance(owner, str | list | tuple) else 0

    sys.setprofile(count)
    try:
        read_all(path, "cbt")
    finally:
        sys.setprofile(None)
    return total
