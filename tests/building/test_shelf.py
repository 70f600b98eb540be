"""Books out of files, and a message for every bad one."""

import gzip
import lzma
import os

import pytest

from gareader.building import shelf as shelf_module
from gareader.building.shelf import books, texts
from gareader.core.errors import CorpusError

STORY = "The fox was in the wood and she saw a hen. It was not her hen, but he had to go for it.\n"


def shelf(*paths):
    bad: list[CorpusError] = []
    found = list(books(paths, bad.append))
    return found, [str(error) for error in bad]


def test_a_raw_file_is_one_book(tmp_path):
    path = tmp_path / "Fox and Hen.txt"
    path.write_text(STORY)
    (book,), bad = shelf(path)
    assert (book.title, book.tokenised, bad) == ("Fox and Hen", False, [])
    assert [" ".join(words) for words in book.sentences()] == [
        "The fox was in the wood and she saw a hen .",
        "It was not her hen , but he had to go for it .",
    ]


@pytest.mark.parametrize("compress", [None, gzip.compress, lzma.compress])
def test_a_tokenised_file_holds_several(tmp_path, compress):
    text = "_BOOK_TITLE_ : One.txt.out\nthe fox was `` here '' .\nit was .\n\n_BOOK_TITLE_ : Two\nand the end .\n"
    path = tmp_path / "books.txt"
    path.write_bytes(compress(text.encode()) if compress else text.encode())
    found, bad = shelf(path)
    assert [(book.title, book.line) for book in found] == [("One", 1), ("Two", 5)]
    assert [list(map(" ".join, book.sentences())) for book in found] == [
        ["the fox was `` here '' .", "it was ."],
        ["and the end ."],
    ]
    assert bad == []


def test_equal_titles_are_told_apart(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "fox.txt").write_text(STORY)
        (tmp_path / folder / "fox (2).txt").write_text(STORY)
    found, _ = shelf(*(tmp_path / folder / name for folder in "ab" for name in ("fox.txt", "fox (2).txt")))
    assert [book.title for book in found] == ["fox", "fox (2)", "fox (3)", "fox (2) (2)"]


def test_old_files_in_latin_letters(tmp_path):
    path = tmp_path / "cafe.txt"
    path.write_bytes("The café was “shut”.".encode("cp1252"))
    (book,), bad = shelf(path)
    assert book.text == "The café was “shut”."
    assert bad == []


BAD = {
    "empty": (b" \n", "the file is empty"),
    "no text": (b"\x7fELF\0\0\0", "this is no text; give books as plain text, UTF-8"),
    "mixed": ("The café.\n".encode() + "The café.\n".encode("cp1252"), ":2: some of it is UTF-8, but not byte 0xe9"),
    "neither": (b"one\n\x81\n", ":2: byte 0x81 is neither UTF-8 nor Latin text"),
    "archive": (b"PK\x03\x04rest", "a zip archive; unpack it first"),
    "cut off": (lzma.compress(STORY.encode() * 5000)[:60], "damaged or cut off here"),
    "long line": (b"_BOOK_TITLE_ : A\n" + b"a " * 600_000, ":2: a line of more than 1,000,000 bytes"),
    "long book": (b"a" * 50_000_001, "more than 50,000,000 bytes, longer than any book"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_reported_and_the_next_one_read(tmp_path, case):
    content, message = BAD[case]
    bad_path, good_path = tmp_path / "bad.txt", tmp_path / "good.txt"
    bad_path.write_bytes(content)
    good_path.write_text(STORY)
    found, (bad,) = shelf(bad_path, good_path)
    assert [book.title for book in found] == ["good"]
    assert bad.startswith(str(bad_path))
    assert message in bad


def test_a_file_that_is_not_there(tmp_path):
    found, (bad,) = shelf(tmp_path / "none.txt")
    assert found == []
    assert "there is no such file" in bad


def test_a_bad_book_among_good_ones(tmp_path):
    path = tmp_path / "books.txt"
    path.write_bytes(b"_BOOK_TITLE_ : A\nthe fox .\n_BOOK_TITLE_ : B\nthe \xff hen .\n_BOOK_TITLE_ : C\nthe end .\n")
    found, (bad,) = shelf(path)
    assert [book.title for book in found] == ["A", "C"]
    assert f"{path}:4: byte 0xff at column 5 is not UTF-8" in bad


@pytest.mark.parametrize("limit", ["_LONGEST_LINE", "_LONGEST_BOOK"])
def test_a_book_that_is_too_long_among_good_ones(tmp_path, limit, monkeypatch):
    monkeypatch.setattr(shelf_module, limit, 100)
    path = tmp_path / "books.txt"
    row = "the fox " * 8
    long = " ".join([row] * 4) if limit == "_LONGEST_LINE" else "\n".join([row] * 4)
    path.write_text(f"_BOOK_TITLE_ : A\nthe fox .\n_BOOK_TITLE_ : B\n{long}\nthe hen .\n_BOOK_TITLE_ : C\nthe end .\n")
    found, (bad,) = shelf(path)
    assert [(book.title, book.text) for book in found] == [("A", "the fox ."), ("C", "the end .")]
    place = {"_LONGEST_LINE": "4: a line of more than 100 bytes", "_LONGEST_BOOK": "3: more than 100 bytes"}[limit]
    assert bad.startswith(f"{path}:{place}")


def test_a_pipe_is_no_shelf(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found, (bad,) = shelf(tmp_path / "pipe")
    assert found == []
    assert "this is a pipe, and a corpus is read more than once; write it to a file first" in bad


def test_another_language_is_refused(tmp_path):
    path = tmp_path / "fuchs.txt"
    path.write_text("Der Fuchs ging durch den Wald und sah ein Huhn. Es war nicht sein Huhn. " * 5)
    (book,), _ = shelf(path)
    with pytest.raises(Exception, match=r"fuchs\.txt: this does not look like English"):
        book.sentences()


def test_texts_of_a_question_file_have_the_answer_in_its_place(tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text("1 Ann ran .\n2 Ben sat .\n3 Then XXXXX slept .\tAnn\t\tAnn|Ben\n")
    assert list(texts(path)) == [tuple("Ann ran . Ben sat . Then Ann slept .".split())]


def test_texts_of_books(tmp_path):
    path = tmp_path / "books.txt"
    path.write_text("_BOOK_TITLE_ : A\nthe fox .\nthe hen .\n_BOOK_TITLE_ : B\nthe end .\n")
    assert [" ".join(text) for text in texts(path)] == ["the fox . the hen .", "the end ."]
