"""Vector files of every kind, broken ones too, and a vector for every other word."""

import gzip
import lzma
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gareader.core.errors import VectorsError
from gareader.data.vectors import random_vector, read_vectors, word_table

GLOVE = "the 0.5 -1 2\nalice 1e-1 0 0\n. . . 7 8 9\nthe 9 9 9\n"
EXPECTED = {"the": [0.5, -1, 2], "alice": [0.1, 0, 0], ". . .": [7, 8, 9]}
KNOWN = [1.7074815, 0.00928295, 0.98411304]
NAMES = ["the", "alice", ". . ."]


def write(tmp_path, content, name="vectors"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def binary(words, width, newline=b"\n", count=None):
    records = b"".join(w.encode() + b" " + np.array(v, "<f4").tobytes() + newline for w, v in words.items())
    return f"{len(words) if count is None else count} {width}\n".encode() + records


WORD2VEC = {"the": [0.5, -1, 2], "Alice": [0.1, 0, 0], "é": [1, 1, 1]}


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress], ids=["plain", "gz", "xz"])
def test_glove(tmp_path, pack):
    found = read_vectors(write(tmp_path, pack(GLOVE.encode())), NAMES)
    assert {w: v.tolist() for w, v in found.items()} == {
        w: np.array(v, np.float32).tolist() for w, v in EXPECTED.items()
    }


@pytest.mark.parametrize("text", ["the\t0.5\t-1\t2\nalice\t0.1\t0\t0\n", "the  0.5 -1 2\nalice 0.1  0 0\n"])
@pytest.mark.parametrize("words", [["the", "Alice"], None])
def test_tabs_and_several_spaces(tmp_path, text, words):
    found = read_vectors(write(tmp_path, text), words)
    assert {w: v.tolist() for w, v in found.items()} == {
        w: np.array(EXPECTED[w], np.float32).tolist() for w in ("the", "alice")
    }


def test_only_what_is_needed_is_kept(tmp_path):
    path = write(tmp_path, GLOVE)
    assert set(read_vectors(path, ["Alice"])) == {"alice"}
    assert set(read_vectors(path)) == {"the", "alice", ". . ."}


@pytest.mark.parametrize("newline", [b"\n", b""], ids=["line breaks", "none"])
def test_word2vec_binary(tmp_path, newline):
    found = read_vectors(write(tmp_path, binary(WORD2VEC, 3, newline)), WORD2VEC)
    assert {w: v.tolist() for w, v in found.items()} == {
        w: np.array(v, np.float32).tolist() for w, v in WORD2VEC.items()
    }


def test_word2vec_text_with_spaces_at_line_ends(tmp_path):
    found = read_vectors(write(tmp_path, "2 3\nthe 0.5 -1 2 \nAlice 0.1 0 0 \n"), ["the"])
    assert found["the"].tolist() == [0.5, -1, 2]


@given(
    st.dictionaries(
        st.text("abcdé", min_size=1),
        st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=4, max_size=4),
        min_size=1,
    )
)
def test_binary_write_then_read(tmp_path_factory, vectors):
    path = write(tmp_path_factory.mktemp("binary"), binary(vectors, 4))
    found = read_vectors(path)
    assert {w: v.tolist() for w, v in found.items()} == vectors


def test_a_broken_word_is_passed_over(tmp_path):
    path = write(tmp_path, b"2 2\nok 1.0000 2.0000\n\xff\xfe 3 4\n")
    assert set(read_vectors(path)) == {"ok"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"vectors: the file is empty"),
        ("a 1 2 3\nb 1 2\n", r"vectors:2: 2 numbers where 3 are due"),
        ("a 1 2 3\nb 1 2", r"vectors:2: this line is cut off: 2 numbers where 3 are due"),
        ("a 1 2 3\nb 1 x 3\n", r"vectors:2: 1 numbers where 3 are due|vectors:2: 'x' is not a number"),
        ("a 1 2 3\nb 1 2 3 4\n", r"vectors:2: 4 numbers where 3 are due"),
        ("a 1 2 3\nb 1 nan 3\n", r"vectors:2: the vector of 'b' holds a number that is not finite"),
        ("a 1 2 3\nb 1 1e99 3\n", r"vectors:2: the vector of 'b' holds a number that is not finite"),
        ("3 2\na 1 2\nb 1 2\n", r"vectors:1: the first line promises 3 words, but there are 2"),
        ("Once upon a time there was a king .\n", r"vectors:1: this is no file of word vectors; expected"),
        ('{"document": "x"}\n', r"vectors:1: this is no file of word vectors"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", r"vectors:1: this is no file of word vectors"),
        (b"PK\x03\x04" + b"x" * 40, r"vectors: this is a zip archive; unpack it first"),
        (binary(WORD2VEC, 3)[:-8], r"vectors: cut off in word 3 of 3"),
        (binary(WORD2VEC, 3, count=2), r"vectors: it goes on after the 2 words"),
        (lzma.compress(GLOVE.encode() * 9999)[:-60], r"vectors: damaged or cut off here"),
        (gzip.compress(GLOVE.encode() * 9999)[:-60], r"vectors: damaged or cut off here"),
    ],
)
def test_broken_files(tmp_path, content, message):
    with pytest.raises(VectorsError, match=message):
        read_vectors(write(tmp_path, content))


def test_no_file(tmp_path):
    with pytest.raises(VectorsError, match="there is no such file or folder; check the path"):
        read_vectors(tmp_path / "none")


def test_a_table_looks_up_as_written_then_in_lower_case_then_draws(tmp_path):
    table = word_table(["Zorb", "Alice", "the"], write(tmp_path, GLOVE), width=3, seed=4)
    rows = dict(zip(table.vocabulary, table.matrix, strict=True))
    assert list(rows) == ["the", "Alice", "Zorb"]  # those with a pretrained vector come first
    assert (table.pretrained, len(table.vocabulary)) == (2, 3)
    np.testing.assert_array_equal(rows["Alice"], np.array([0.1, 0, 0], np.float32))
    np.testing.assert_array_equal(rows["Zorb"], random_vector("Zorb", 3, 4))


def test_a_table_may_hold_every_vector_or_none(tmp_path):
    every = word_table(["Zorb", "the"], write(tmp_path, GLOVE), width=3, seed=4, every_vector=True)
    assert set(every.vocabulary) == {"the", "alice", ". . .", "Zorb"}
    assert every.pretrained == 3
    none = word_table(["Zorb"], None, width=3, seed=4)
    assert none.pretrained == 0
    np.testing.assert_array_equal(none.matrix, [random_vector("Zorb", 3, 4)])


def test_a_table_of_another_width(tmp_path):
    with pytest.raises(VectorsError, match=r"have 3 numbers, not 100; .* set data\.vector_width = 3"):
        word_table(["the"], write(tmp_path, GLOVE), width=100, seed=0)


def test_random_vectors_are_the_same_in_every_process():
    code = "from gareader.data.vectors import random_vector; print(random_vector('Zoë', 4, 7).tolist())"
    here = f"{random_vector('Zoë', 4, 7).tolist()}\n"
    for hash_seed in "1", "2":
        environment = {"PYTHONHASHSEED": hash_seed}
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
        assert run.stdout == here


def test_random_vectors_are_known_values():
    np.testing.assert_allclose(random_vector("Zoë", 3, 7), KNOWN, rtol=1e-6)


def test_random_vectors_are_normal_and_distinct():
    drawn = np.stack([random_vector(f"word{n}", 50, 0) for n in range(400)])
    assert drawn.dtype == np.float32
    assert abs(drawn.mean()) < 0.03
    assert drawn.std() == pytest.approx(1, abs=0.03)
    assert len({row.tobytes() for row in drawn}) == 400
    assert not np.array_equal(random_vector("a", 5, 0), random_vector("a", 5, 1))


def test_real_glove(glove):
    words = ["the", "Alice", "-LRB-", "Zorblatt"]
    table = word_table(words, glove.path, width=100, seed=0)
    assert (table.pretrained, len(table.vocabulary)) == (2, 4)
    assert table.matrix[0][:2].tolist() == pytest.approx([-0.038194, -0.24487])
