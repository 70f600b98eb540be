"""The `.question` format: its quirks, the folders users have, and one broken file per message."""

import gzip
import lzma
import os
from pathlib import Path

import pytest

from data.corpora.writers import read_all
from gareader.core.errors import CorpusError
from gareader.data.corpora import read
from gareader.data.examples import Example
from places import SAMPLES

FOLDER = SAMPLES / "question"
GOOD = "id\n\n@entity1 met @entity2 .\n\n@placeholder met @entity2 .\n\n@entity1\n\n@entity1:Ann\n@entity2:Bob\n"


def test_the_example_folder_word_for_word() -> None:
    harbour, vote = read(FOLDER)
    assert harbour.id == "harbour"
    assert " ".join(harbour.document) == (
        "( @entity1 ) -- the mayor of @entity2 said on monday that the old ferry @entity3 will sail again . "
        '" we have waited nine years , " '
        "@entity4 told @entity1 . the ferry links @entity2 with the island of @entity6 ."
    )
    assert " ".join(harbour.query) == "the ferry to the island of @placeholder will sail again"
    assert harbour.candidates == (("@entity1",), ("@entity2",), ("@entity3",), ("@entity4",), ("@entity6",))
    assert harbour.answer == 4
    assert vote.id == "vote"
    assert vote.query[0] == "@placeholder"
    assert vote.candidates == (("Anna", "Lund"), ("Per", "Dahl"), ("Moss", ":", "Today"), ("Sunday",))
    assert vote.answer == 1


def test_a_single_file() -> None:
    assert list(read(FOLDER / "vote.question")) == list(read(FOLDER))[1:]


@pytest.mark.parametrize(
    "content",
    [
        GOOD.encode(),
        GOOD.rstrip("\n").encode(),
        GOOD.encode() + b"\n \n\n",
        GOOD.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + GOOD.encode(),
        gzip.compress(GOOD.encode(), mtime=0),
        lzma.compress(GOOD.encode()),
        GOOD.replace(" met ", "\u00a0met ").encode(),
    ],
)
def test_layouts_that_are_accepted(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.question").write_bytes(content)
    document = ("@entity1", "met", "@entity2", ".")
    query = ("@placeholder", *document[1:])
    assert list(read(tmp_path)) == [Example("a", document, query, (("@entity1",), ("@entity2",)), 0)]


def test_a_question_without_answer(tmp_path: Path) -> None:
    (tmp_path / "a.question").write_text(GOOD.replace("\n@entity1\n", "\n\n"))
    (example,) = read(tmp_path)
    assert example.answer is None


def test_files_come_in_order_whatever_their_compression(tmp_path: Path) -> None:
    (tmp_path / "c.question").write_text(GOOD)
    (tmp_path / "a.question.xz").write_bytes(lzma.compress(GOOD.encode()))
    (tmp_path / "b.question.gz").write_bytes(gzip.compress(GOOD.encode(), mtime=0))
    (tmp_path / "._b.question").write_bytes(b"what a Mac leaves behind")
    (tmp_path / "README").write_text("not a question")
    (tmp_path / "notes").mkdir()
    assert [example.id for example in read(tmp_path)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "holds no .question files, but nothing at all; name the file to read"),
        (["b.txt", "a.txt", "c/d.txt"], "holds no .question files, but a.txt, b.txt, c; name the file to read"),
        ([f"{n}.txt" for n in range(8)], "holds no .question files, but 0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 3 more;"),
        (
            ["training/a.question", "test/a.question", "validation/a.question.gz", "README"],
            "holds folders of questions: test, training, validation; name the one to read",
        ),
        (
            ["a.question", "test/b.question"],
            "holds 1 .question files and also folders of questions: test; name the one",
        ),
    ],
)
def test_folders_that_are_refused(tmp_path: Path, names: list[str], message: str) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(GOOD)
    with pytest.raises(CorpusError) as raised:
        read(tmp_path, on_bad=print)  # never passed over: there is nothing to go on with
    assert str(raised.value).startswith(f"{tmp_path}: {message}")


BROKEN = {
    "nothing": (b"", "{path}: the file ends before the line after its id; it should be id, document, query"),
    "cut off": (b"id\n\na b\n", "{path}:3: the file ends before the line after its document"),
    "a second document line": (
        GOOD.encode().replace(b" .\n\n@place", b" .\nmore .\n\n@place"),
        "{path}:4: this line should be blank: it follows the document, which is one line",
    ),
    "no document": (GOOD.encode().replace(b"@entity1 met @entity2 .\n\n", b"\n\n"), "{path}:3: the document is empty"),
    "no blank": (GOOD.encode().replace(b"@placeholder", b"XXXXX"), "{path}:5: the query has no placeholder"),
    "two blanks": (
        GOOD.encode().replace(b"@placeholder", b"@placeholder " * 2),
        "{path}:5: the query has 2 placeholders",
    ),
    "no candidates": (
        GOOD.partition("@entity1:Ann")[0].replace("\n@entity1\n", "\n\n").encode(),
        "{path}:8: no candidate",
    ),
    "an answer of its own": (
        GOOD.encode().replace(b"\n@entity1\n", b"\n@entity3\n"),
        "{path}:7: the answer '@entity3' is not among the candidates: @entity1, @entity2",
    ),
    "bytes that are no UTF-8": (
        GOOD.encode().replace(b"met", b"m\xe9t"),
        "{path}:3: byte 0xe9 at column 11 is not UTF-8",
    ),
    "damage": (
        gzip.compress(GOOD.encode(), mtime=0)[:-9],
        "{path}:10: damaged or cut off here (Compressed file ended before",
    ),
    "a tar archive": (b"\0" * 257 + b"ustar", "{path}: this is a tar archive; unpack it first"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_between_two_good_ones(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "b.question"
    (tmp_path / "a.question").write_text(GOOD)
    path.write_bytes(content)
    (tmp_path / "c.question").write_text(GOOD)
    with pytest.raises(CorpusError) as raised:
        list(read(tmp_path))
    assert str(raised.value).startswith(message.format(path=path))
    examples, bad = read_all(tmp_path)
    assert [example.id for example in examples] == ["a", "c"]
    assert bad == [str(raised.value)]


def test_a_question_that_is_there_twice(tmp_path: Path) -> None:
    (tmp_path / "a.question").write_text(GOOD)
    (tmp_path / "a.question.gz").write_bytes(gzip.compress(GOOD.encode(), mtime=0))
    examples, bad = read_all(tmp_path)
    assert len(examples) == 1
    assert bad == [f"{tmp_path / 'a.question.gz'}: a second file for the question a; remove one of them"]


def test_a_folder_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(folder: Path) -> None:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(CorpusError, match=r"cannot be opened \(Permission denied\); check who may read it"):
        read(tmp_path)
