"""Files of strangers: what they can cost is bounded, and only files are opened."""

import gzip
import lzma
import os
import tracemalloc
from functools import partial
from pathlib import Path

import pytest

from gareader.core import files
from gareader.core.errors import CorpusError
from gareader.core.files import LARGEST, STDIN, open_regular, opened, read_small
from gareader.data import corpora
from gareader.data.addresses import is_prepared

PIPE = r"cannot be opened \(this is a pipe or a device and no file; copy its content to one\)$"


def question_of(format, document):
    """A file with one question, or the beginning of one, that is this long."""
    return {
        "cbt": f"1 {document}\n2 XXXXX ran .\tTom\t\tTom|Ann\n",
        "question": f"id\n\n{document}\n\n@placeholder ran\n\nTom\n\nTom\nAnn\n",
        "wdw": f"<ROOT>\n<mc><contextart>{document}</contextart></mc>\n</ROOT>\n",
        "jsonl": f'{{"document": "{document}", "query": "XXXXX ran .", "candidates": ["Tom", "Ann"]}}\n',
    }[format]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, partial(lzma.compress, preset=0)])
@pytest.mark.parametrize("format", corpora.CORPORA)
def test_a_question_of_more_than_16_mib_is_an_error_before_it_is_in_memory(tmp_path, format, pack):
    path = tmp_path / "x.question"
    path.write_bytes(pack(question_of(format, "Tom ran . " * (2 << 20)).encode()))
    tracemalloc.start()
    try:
        with pytest.raises(CorpusError, match="more than 16 MiB in one"):
            list(corpora.read(path, format=format))
        assert tracemalloc.get_traced_memory()[1] < 5 * LARGEST
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("format", ["cbt", "question"])
def test_a_question_of_many_lines_is_bounded_too(tmp_path, format):
    path = tmp_path / "x.question"
    lines = "\n".join(f"{number} Tom ran ." for number in range(1, 5 << 18))
    path.write_text(lines if format == "cbt" else f"id\n\na\n\n@placeholder\n\na\n\n{lines}")
    with pytest.raises(CorpusError, match="more than 16 MiB in one question"):
        list(corpora.read(path, format=format))


def test_an_xz_file_that_asks_for_much_memory(tmp_path):
    path = tmp_path / "large.xz"
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    path.write_bytes(lzma.compress(b"1 a\n", filters=filters))
    with pytest.raises(CorpusError, match="to unpack this takes more than 128 MiB of memory; unpack it yourself"):
        list(corpora.read(path))


def test_an_xz_file_of_several_streams_with_zeros_between_them(tmp_path):
    path = tmp_path / "two.xz"
    path.write_bytes(lzma.compress(b"one") + bytes(8) + lzma.compress(b"") + lzma.compress(b"two", preset=9) + bytes(4))
    with opened(path) as content:
        assert content.read() == b"onetwo"
    path.write_bytes(lzma.compress(b"one" * 99)[:-20])
    with pytest.raises(CorpusError, match="ended before the end-of-stream marker"), opened(path) as content:
        content.read()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_text_in_other_encodings_is_told(tmp_path, encoding):
    path = tmp_path / "text"
    path.write_bytes("Ann has the lamp.".encode(encoding))
    told = f"this is {encoding.upper()} text; save it as UTF-8, for example with: iconv -f {encoding.upper()}"
    without_mark = "this is no text, or UTF-16 text without its mark; save it as UTF-8"
    with pytest.raises(CorpusError, match=told if "e" not in encoding else without_mark), opened(path):
        pass


def test_a_file_that_cannot_be_read_is_named():
    with pytest.raises(CorpusError, match=r"^/proc/self/mem: damaged or cut off here \(.*Input/output error"):  # noqa: SIM117
        with opened(Path("/proc/self/mem")):
            pass


@pytest.fixture(params=["pipe", "device", "link to a device"])
def no_file(request, tmp_path):
    """What would be read for ever, or waited for."""
    path = tmp_path / "x.question"
    if request.param == "pipe":
        os.mkfifo(path)
    elif request.param == "device":
        return Path("/dev/zero")
    else:
        path.symlink_to("/dev/zero")
    return path


def test_only_files_are_opened(no_file):
    with pytest.raises(CorpusError, match=PIPE), opened(no_file):
        pass
    for read in (open_regular, read_small):
        with pytest.raises(OSError, match="this is a pipe or a device"):
            read(no_file)
    assert not is_prepared(no_file)


def test_a_pipe_in_a_folder_of_questions(tmp_path):
    os.mkfifo(tmp_path / "x.question")
    with pytest.raises(CorpusError, match=PIPE):
        list(corpora.read(tmp_path))


def test_a_pipe_that_is_open_already_is_read():
    """As bash gives it for `<(command)`, and standard input."""
    reader, writer = os.pipe()
    os.write(writer, b"one\n")
    os.close(writer)
    with opened(Path(f"/dev/fd/{reader}")) as content:
        assert content.read() == b"one\n"
    os.close(reader)
    assert Path("/dev/stdin") == STDIN


def test_small_files(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LARGEST", 1 << 20)
    (tmp_path / "file").write_bytes(bytes(1 << 20))
    assert read_small(tmp_path / "file") == bytes(1 << 20)
    (tmp_path / "file").write_bytes(bytes((1 << 20) + 1))
    with pytest.raises(OSError, match="more than 1 MiB"):
        read_small(tmp_path / "file")
