"""Corpus files of all formats: compression, encodings, damage, streaming, and telling the format."""

import gzip
import lzma
import socket
import subprocess
import sys
import tarfile
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.corpora.writers import read_all, write_cbt, write_jsonl, write_question_files, write_who_did_what
from gareader.core.errors import CorpusError
from gareader.data import corpora
from gareader.data.corpora import CORPORA, read, recognise
from gareader.data.corpora.files import WHOLE
from gareader.data.examples import Example
from places import SAMPLES

FILES = {"cbt": "cbt.txt", "question": "question/vote.question", "wdw": "wdw.xml", "jsonl": "questions.jsonl"}
MANY = {"cbt": write_cbt, "wdw": write_who_did_what, "jsonl": write_jsonl}


def examples(count: int) -> list[Example]:
    """Questions of which each is its own."""
    return [
        Example(
            f"q{n}", (f"Ann{n}", "met", f"Bob{n * n}", ".") * 25, ("@placeholder", "met"), ((f"Ann{n}",), ("Bob",)), 0
        )
        for n in range(count)
    ]


def test_every_format_has_an_example_file_here() -> None:
    assert list(FILES) == list(CORPORA)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
@pytest.mark.parametrize("change", [bytes, lambda text: b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n")])
@pytest.mark.parametrize("format", CORPORA)
def test_packed_or_not_with_and_without_bom_and_crlf(
    tmp_path: Path, format: str, change: Callable[[bytes], bytes], pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / Path(FILES[format]).name  # the name does not tell the compression, the content does
    path.write_bytes(pack(change((SAMPLES / FILES[format]).read_bytes())))
    assert recognise(path) == format
    assert list(read(path)) == list(read(SAMPLES / FILES[format]))


def test_ids_do_not_depend_on_compression(tmp_path: Path) -> None:
    packers: dict[str, Callable[[bytes], bytes]] = {"cbt.txt.gz": gzip.compress, "cbt.txt.xz": lzma.compress}
    for name, pack in packers.items():
        (tmp_path / name).write_bytes(pack((SAMPLES / "cbt.txt").read_bytes()))
        assert [example.id for example in read(tmp_path / name)] == ["cbt:21", "cbt:43", "cbt:65"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such file or folder; check the path"),
        (b"", "the file is empty; is it the right one, or was its download cut off?"),
        (b" \r\n\n", "the file is empty"),
        (gzip.compress(b"", mtime=0), "the file is empty"),
        (b"PK\x03\x04....", "this is a zip archive; unpack it first"),
        (b"BZh91AY", "this is compressed with bzip2; unpack it first (plain, .gz and .xz files are read directly)"),
        (b"\x28\xb5\x2f\xfd....", "this is compressed with zstd; unpack it first"),
        ("1 a\n".encode("utf-16"), "this is UTF-16 text; save it as UTF-8, for example with: iconv -f UTF-16 -t UTF-8"),
        ("1 a\n".encode("utf-16-be").join([b"\xfe\xff", b""]), "this is UTF-16 text; save it as UTF-8"),
        (b"\x1f\x8b nonsense", "damaged or cut off here ("),
        (
            b"\xfd7zXZ\x00 nonsense",
            "damaged or cut off here (",
        ),
    ],
)
@pytest.mark.parametrize("format", [None, *CORPORA])
def test_files_that_cannot_be_read_at_all(
    tmp_path: Path, format: str | None, content: bytes | None, message: str
) -> None:
    path = tmp_path / "corpus"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CorpusError) as raised:
        read(path, format=format, on_bad=print)  # at once, and never passed over
    assert str(raised.value).startswith(f"{path}: {message}")


def test_a_tar_archive_is_to_be_unpacked(tmp_path: Path) -> None:
    for kind in ("w", "w:gz", "w:xz"):
        with tarfile.open(tmp_path / "cnn.tar", kind) as archive:
            archive.add(SAMPLES / "question", "validation")
        with pytest.raises(
            CorpusError, match=r"cnn\.tar: this is a tar archive; unpack it first \(tar xf\) and name the"
        ):
            read(tmp_path / "cnn.tar")


def test_a_file_that_may_not_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "a").touch()
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(CorpusError, match=r"a: cannot be opened \(Permission denied\); check who may read it"):
        recognise(tmp_path / "a")


@pytest.mark.parametrize("format", ["cbt", "wdw", "jsonl"])
def test_a_folder_where_a_file_is_due(format: str) -> None:
    with pytest.raises(CorpusError, match=r"question: this is a folder; name one of its files"):
        list(read(SAMPLES / "question", format=format))


@pytest.mark.parametrize("text", ["Once upon a time .\n", "2 a\n", "<html><body></body></html>", "[1, 2]"])
def test_a_format_that_cannot_be_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text(text)
    with pytest.raises(CorpusError) as raised:
        recognise(path)
    message = str(raised.value)
    assert message.startswith(f"{path}: cannot tell the format; looked for cbt (numbered lines from '1 ...' to '21 ")
    assert all(f"{name} ({corpus.shape})" in message for name, corpus in CORPORA.items())
    assert message.endswith("Name it with --format")


def test_a_format_that_is_not_known() -> None:
    with pytest.raises(
        CorpusError, match=r"cbt\.txt: unknown format 'jsnl'; did you mean 'jsonl'\? known: cbt, jsonl,"
    ):
        read(SAMPLES / "cbt.txt", format="jsnl")


def test_a_named_format_is_not_told_from_the_content(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("2 a .\n\n1 b .\n2 XXXXX\tc\t\tc|d\n")
    examples, bad = read_all(tmp_path / "a.txt", "cbt")
    assert [example.document for example in examples] == [("b", ".")]
    assert len(bad) == 1


@pytest.mark.parametrize("count", [60, 3000])
@pytest.mark.parametrize("pack", ["gz", "xz"])
@pytest.mark.parametrize("format", MANY)
def test_a_file_cut_off_while_packed_keeps_what_was_before(tmp_path: Path, format: str, pack: str, count: int) -> None:
    whole, cut, plain = tmp_path / "whole", tmp_path / f"{format}", tmp_path / "plain" / format
    MANY[format](examples(count), whole)
    text = whole.read_bytes()
    packed = gzip.compress(text) if pack == "gz" else lzma.compress(text)
    packed = packed[: len(packed) * 2 // 3]
    cut.write_bytes(packed)
    plain.parent.mkdir()
    unpacker = zlib.decompressobj(31) if pack == "gz" else lzma.LZMADecompressor()
    plain.write_bytes(unpacker.decompress(packed))
    kept, bad = read_all(cut)
    assert len(kept) > count // 3
    assert kept == read_all(plain)[0]
    assert len(bad) == 1
    line = plain.read_bytes().count(b"\n")
    assert bad[0].startswith(f"{cut}:{line}: damaged or cut off here (Compressed file ended before the end-of-stream")
    with pytest.raises(CorpusError, match="damaged or cut off here"):
        list(read(cut))


def test_bytes_changed_while_packed(tmp_path: Path) -> None:
    write_jsonl(examples(3000), tmp_path / "whole")
    packed = bytearray(gzip.compress((tmp_path / "whole").read_bytes()))
    packed[len(packed) // 2] ^= 0xFF
    (tmp_path / "changed").write_bytes(packed)
    kept, bad = read_all(tmp_path / "changed")
    assert [example.id for example in kept[:1000]] == [f"q{n}" for n in range(1000)]
    assert any("damaged or cut off here" in message for message in bad)


@pytest.mark.parametrize("write", [*MANY.values(), write_question_files])
def test_reading_takes_memory_for_one_example_only(
    tmp_path: Path, write: Callable[[list[Example], Path], None]
) -> None:
    path = tmp_path / "many"
    document = ("w" * 1000,) * 100
    write([Example(f"q{n}", document, ("@placeholder", "x"), (("a",), ("b",)), 0) for n in range(100)], path)
    stream = read(path)
    next(stream)
    tracemalloc.start()
    assert sum(1 for _ in stream) == 99
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_500_000  # the file has 10 million characters


def test_ids_of_files_with_odd_names(tmp_path: Path) -> None:
    path = tmp_path / "caf\udce9.txt"  # a name that is no UTF-8
    path.write_bytes((SAMPLES / "cbt.txt").read_bytes())
    assert next(read(path)).id == "caf\\udce9:21"


@pytest.mark.parametrize("format", CORPORA)
@given(start=st.integers(0, 500), length=st.integers(0, 40), put=st.binary(max_size=20))
def test_whatever_is_in_a_file_only_corpus_errors_come_of_it(format: str, start: int, length: int, put: bytes) -> None:
    content = (SAMPLES / FILES[format]).read_bytes()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "changed"
        path.write_bytes(content[:start] + put + content[start + length :])
        try:
            kept, bad = read_all(path, format)
        except CorpusError:
            return  # nothing at all could be read
    assert len(kept) + len(bad) > 0


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("size", [1, 300, 1000, 10**6])
def test_a_file_in_stretches_is_the_file(tmp_path: Path, size: int, mark: str, end: str) -> None:
    path = tmp_path / "cbt.txt"
    path.write_text(mark + (SAMPLES / "cbt.txt").read_text(encoding="utf-8") * 3, encoding="utf-8", newline=end)
    found = list(corpora.spans(path, size))
    assert found[0].start == len(mark.encode())
    assert [span.end for span in found] == [*(span.start for span in found[1:]), path.stat().st_size]
    assert (len(found) > 1) == (size < 10**6)
    together = [example for span in found for example in corpora.read(path, span=span)]
    assert together == list(corpora.read(path))


def test_stretches_of_json_lines_know_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    row = '{"document": "Tom met Ann", "query": "who @placeholder", "candidates": ["Tom", "Ann"]}\n'
    path.write_text(row * 5 + "{broken\n" + row, encoding="utf-8")
    bad: list[CorpusError] = []
    spans = list(corpora.spans(path, 1))
    assert len(spans) > 3
    ids = [example.id for span in spans for example in corpora.read(path, span=span, on_bad=bad.append)]
    assert ids == [f"own:{line}" for line in (1, 2, 3, 4, 5, 7)]
    assert [error.line for error in bad] == [6]


@pytest.mark.parametrize("name", ["cbt.txt.xz", "folder"])
def test_what_cannot_be_cut_is_one_stretch(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
        (path / "a.question").write_text("a\n\nTom met Ann\n\nwho @placeholder\n\nTom\n\nTom\nAnn\n", encoding="utf-8")
    else:
        path.write_bytes(lzma.compress((SAMPLES / "cbt.txt").read_bytes()))
    assert list(corpora.spans(path, 1)) == [WHOLE]


def test_a_question_may_begin_between_two_pieces(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_bytes(b"{" + b" " * 65_535 + b"\n{}\n{}\n")
    assert [(span.start, span.end, span.line) for span in corpora.spans(path, 1, format="jsonl")] == [
        (0, 65_537, 1),
        (65_537, 65_540, 2),
        (65_540, 65_543, 3),
    ]


def test_an_unknown_format_has_no_stretches(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("{}\n")
    with pytest.raises(CorpusError, match="unknown format 'json'; did you mean 'jsonl'"):
        corpora.spans(path, 1, format="json")


def test_standard_input_may_be_a_socket_and_is_read_from_where_it_stands() -> None:
    script = (
        "from gareader.core.files import STDIN, opened\nwith opened(STDIN) as content: print(content.read().decode())"
    )
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(b"a question")
        ours.shutdown(socket.SHUT_WR)
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, stdin=theirs.fileno(), capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("a question\n", "")
