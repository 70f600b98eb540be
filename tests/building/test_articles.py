"""Articles as JSON lines."""

import gzip
import json
import lzma
import tracemalloc
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from gareader.building import articles
from gareader.building.articles import Article, Purpose, read_raw, tokenise_article
from gareader.core.errors import CorpusError
from gareader.data.language.sentences import news_sentences

NEWS = {"id": "a", "article": "Ann met Bob. Bob left.", "highlights": ["Ann met Bob"]}
DATED = {"id": "a", "date": "2016-02-29", "article": "Ann met Bob."}


def read_all(path: Path, kind: Purpose = "news") -> tuple[list[Article], list[str]]:
    """The good articles and what was said about the bad ones, without the folder."""
    bad: list[CorpusError] = []
    found = [tokenise_article(raw) for raw in read_raw([path], kind, bad.append)]
    return found, [str(error).removeprefix(f"{path.parent}/") for error in bad]


def written(folder: Path, *rows: Any) -> Path:
    """A file of these objects, or of text and bytes as they are."""
    path = folder / "news.jsonl"
    lines = [
        row if isinstance(row, bytes) else row.encode() if isinstance(row, str) else json.dumps(row).encode()
        for row in rows
    ]
    path.write_bytes(b"\n".join(lines))
    return path


def test_an_article_for_news(tmp_path: Path) -> None:
    found, bad = read_all(written(tmp_path, {**NEWS, "own": 1, "date": "2015-01-02T12:00:00Z"}, "", "   "))
    assert not bad
    text = (("Ann", "met", "Bob", "."), ("Bob", "left", "."))
    assert found == [Article("a", text, (("Ann", "met", "Bob"),))]
    assert found[0].words == (*text[0], *text[1])


@pytest.mark.parametrize("key", ["article", "text"])
def test_an_article_for_pairs(tmp_path: Path, key: str) -> None:
    row = {"id": 7, "date": "2016-02-29", key: "Ann met Bob."}
    found, bad = read_all(written(tmp_path, row), "pairs")
    assert not bad
    assert found == [Article("7", (("Ann", "met", "Bob", "."),), (), date(2016, 2, 29))]


def test_highlights_as_lines_of_one_text_and_empty_ones_left_out(tmp_path: Path) -> None:
    rows = [{**NEWS, "highlights": "Ann ran .\n\nBob ran ."}, {**NEWS, "id": "b", "highlights": ["", "Ann ran ."]}]
    found, bad = read_all(written(tmp_path, *rows))
    assert not bad
    assert [article.highlights for article in found] == [
        (("Ann", "ran", "."), ("Bob", "ran", ".")),
        (("Ann", "ran", "."),),
    ]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bytes])
def test_packed_files(tmp_path: Path, pack: Any) -> None:
    path = tmp_path / "news.jsonl"
    path.write_bytes(pack(json.dumps(NEWS).encode()))
    assert len(read_all(path)[0]) == 1


def test_a_damaged_file_gives_what_stands_before_the_damage(tmp_path: Path) -> None:
    rows = "\n".join(json.dumps({**NEWS, "id": str(number), "own": f"{number**9}"}) for number in range(1000))
    path = tmp_path / "news.jsonl.gz"
    path.write_bytes(gzip.compress(rows.encode())[:-400])
    found, bad = read_all(path)
    assert 0 < len(found) < 1000
    assert len(bad) == 1
    assert bad[0].startswith(f"news.jsonl.gz:{len(found) + 1}: damaged or cut off here")


def test_a_missing_file(tmp_path: Path) -> None:
    assert read_all(tmp_path / "none") == ([], ["none: there is no such file or folder; check the path"])


BAD: list[tuple[Purpose, Any, str]] = [
    ("news", '{"id": "b"', "broken JSON: Expecting ',' delimiter"),
    ("news", '{"id": NaN}', "broken JSON: NaN is no JSON; write each article as one whole object on one line"),
    ("news", '{"id": -Infinity}', "broken JSON: -Infinity is no JSON"),
    ("news", "[" * 100_000, "broken JSON: "),
    ("news", '{"id": ' + "1" * 5000 + "}", "broken JSON: "),
    ("news", "[1]", 'a list where an object is due: {"id": ..., "article": ..., "highlights": [...]}'),
    ("news", "null", "null where an object is due"),
    ("news", b'{"id": "caf\xe9"}', "byte 0xe9 at column 12 is not UTF-8; save the file as UTF-8 or mend the line"),
    ("news", r'{"id": "b", "article": "\ud800", "highlights": ["x"]}', r"half a character (\ud800) at column 1"),
    ("news", {"id": "b", "highlights": ["x"]}, 'the key \'article\' is missing; an article is {"id": ..., "article"'),
    ("news", {"id": "b", "article": "x"}, "the key 'highlights' is missing; an article is"),
    ("news", {"article": "x", "highlights": ["x"]}, "the key 'id' is missing"),
    (
        "pairs",
        {"id": "b", "article": "x"},
        'the key \'date\' is missing; an article is {"id": ..., "date": "YYYY-MM-DD"',
    ),
    ("news", {"id": "b", "artikle": "x", "highlights": ["x"]}, "unknown key 'artikle'; did you mean 'article'?"),
    ("news", {**NEWS, "id": "b", "article": 5}, "the key 'article' holds a number; give a text"),
    ("news", {**NEWS, "id": "b", "article": "\u2003\x00"}, "the key 'article' holds no words; give the article's text"),
    ("news", {**NEWS, "id": "b", "highlights": {}}, "the key 'highlights' holds an object; give a list of texts"),
    ("news", {**NEWS, "id": "b", "highlights": [True]}, "the key 'highlights' holds true or false; give a text"),
    ("news", {**NEWS, "id": "b", "highlights": [" "]}, "no highlights; questions are made of them: give at least one"),
    ("news", {**NEWS, "id": "b", "highlights": []}, "no highlights; "),
    ("news", {**NEWS, "id": None}, "the key 'id' holds null; give a text or a number"),
    ("news", {**NEWS, "id": " b"}, "the key 'id' holds \" b\"; give a line of text without white space around it"),
    ("news", {**NEWS, "id": "b\nc"}, "the key 'id' holds \"b\\nc\"; give a line of text"),
    ("news", {**NEWS, "id": ""}, "the key 'id' holds \"\"; give a line of text"),
    ("news", {**NEWS, "id": "good"}, "a second article with the id 'good'; give each its own"),
    ("pairs", {**DATED, "date": "2015-02-29"}, "the key 'date' holds \"2015-02-29\"; give a day as YYYY-MM-DD"),
    ("pairs", {**DATED, "date": "20150228"}, "the key 'date' holds \"20150228\"; give a day"),
    ("pairs", {**DATED, "date": None}, "the key 'date' holds null; give a day as YYYY-MM-DD"),
]


@pytest.mark.parametrize(("kind", "row", "problem"), BAD)
def test_a_bad_line_is_told_with_its_place_and_passed_over(
    tmp_path: Path, kind: Purpose, row: Any, problem: str
) -> None:
    good = {**NEWS, **DATED}
    found, bad = read_all(written(tmp_path, {**good, "id": "good"}, row, {**good, "id": "last"}), kind)
    assert [article.id for article in found] == ["good", "last"]
    assert len(bad) == 1
    assert bad[0].startswith(f"news.jsonl:2: {problem}")


def test_a_line_too_long_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(articles, "LONGEST_LINE", 1 << 20)
    long = json.dumps({**NEWS, "id": "b", "own": "x" * (8 << 20)})
    path = written(tmp_path, NEWS, long, {**NEWS, "id": "c"})
    read_all(path)  # what is loaded once does not count
    tracemalloc.start()
    found, bad = read_all(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20
    assert [article.id for article in found] == ["a", "c"]
    assert bad == [f"news.jsonl:2: a line of {len(long):,} characters, more than 1 MiB; write one article on each line"]


def test_a_line_that_is_no_object_shows_what_is_due(tmp_path: Path) -> None:
    for kind, shape in articles.SHAPES.items():
        found, (bad,) = read_all(written(tmp_path, "[1]"), kind)
        assert found == []
        assert bad == f"news.jsonl:1: a list where an object is due: {shape}"


def test_ids_over_several_files(tmp_path: Path) -> None:
    bad: list[CorpusError] = []
    path = written(tmp_path, NEWS)
    assert len(list(read_raw([path, path], "news", bad.append))) == 1
    assert [error.problem for error in bad] == ["a second article with the id 'a'; give each its own"]


def test_a_raised_report_ends_the_reading(tmp_path: Path) -> None:
    def refuse(error: CorpusError) -> None:
        raise error

    with pytest.raises(CorpusError, match="broken JSON"):
        list(read_raw([written(tmp_path, "x", NEWS)], "news", refuse))


def test_characters_that_no_file_can_hold_are_spaces(tmp_path: Path) -> None:
    found, _ = read_all(written(tmp_path, {**NEWS, "article": "Ann\x00met\x08Bob\uffff."}))
    assert found[0].sentences == (("Ann", "met", "Bob", "."),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Storm hits\n\nIt rained. It did!", ["Storm hits", "It rained .", "It did !"]),
        ("Rep. Lee left Jan. 5 for St. Louis. He ran.", ["Rep. Lee left Jan. 5 for St. Louis .", "He ran ."]),
        ('"Why?" he asked. "No." Then he left.', ["`` Why ? '' he asked .", "`` No . ''", "Then he left ."]),
        ("A line\nbroken in two. Yes.", ["A line broken in two .", "Yes ."]),
        ("( CNN ) -- it did n't rain , he said .", ["-LRB- CNN -RRB- -- it did n't rain , he said ."]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [" ".join(words) for words in news_sentences(text)] == expected


def test_the_beginning_of_an_article_ends_with_a_sentence():
    sentences = (("One", "two", "."), ("Three", "."), ("Four", "five", "."))
    article = articles.Article("a", sentences)
    assert [len(article.beginning(most).sentences) for most in (1, 3, 4, 5, 7, 8, 99)] == [1, 1, 1, 2, 2, 3, 3]
