"""Words and characters with their numbers."""

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gareader.core.errors import CorpusError
from gareader.data.vocabulary import Alphabet, Vocabulary

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), min_size=1)


def test_order_of_first_occurrence():
    vocabulary = Vocabulary(["b", "a", "b", "c"])
    assert list(vocabulary) == ["b", "a", "c"]
    assert [vocabulary.get(word) for word in ("b", "a", "c", "d")] == [0, 1, 2, None]
    assert len(vocabulary) == 3
    assert "a" in vocabulary
    assert "d" not in vocabulary
    assert vocabulary == Vocabulary(["b", "a", "c"]) != Vocabulary(["a", "b", "c"])


@given(st.lists(words, unique=True))
def test_write_then_read(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("vocabulary") / "words.txt"
    Vocabulary(words).write(path)
    assert list(Vocabulary.read(path)) == words


@given(st.lists(words | st.from_regex("aaaaaaaa[bcd]{0,2}eeeeeeee", fullmatch=True), unique=True), words)
def test_words_of_a_file_are_found(tmp_path_factory, words, other):
    path = tmp_path_factory.mktemp("vocabulary") / "words.txt"
    Vocabulary(words).write(path)
    rows = {word: row for row, word in enumerate(words)}
    vocabulary = Vocabulary.read(path)
    asked = [*words, other, *(word[1:] for word in words), "\ud800"]
    assert [*map(vocabulary.get, asked)] == [*map(rows.get, asked)]
    with patch("gareader.data.vocabulary.LOOKUPS", len(asked)):
        assert [*map(vocabulary.get, asked)] == [*map(rows.get, asked)]
        assert len(vocabulary) == len(words)


def test_what_unicode_calls_a_line_break_is_none(tmp_path):
    Vocabulary(["a\u2028b", "c\x85d", "e\rf"]).write(tmp_path / "words.txt")
    assert list(Vocabulary.read(tmp_path / "words.txt")) == ["a\u2028b", "c\x85d", "e\rf"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\nb\na\n", r"words\.txt:3: 'a' is there twice"),
        (b"b\n\n\n", r"words\.txt:3: '' is there twice"),
        (b"a\n\xff\n", r"words\.txt: not UTF-8"),
    ],
)
def test_damaged_files(tmp_path, content, message):
    path = tmp_path / "words.txt"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        Vocabulary.read(path)


def test_alphabet():
    alphabet = Alphabet.of(["cab", "a"])
    assert len(alphabet) == 4
    numbers, mask = alphabet.encode(["abcd", "é", "abcabc"], 5)
    assert numbers.tolist() == [[1, 2, 3, 0, 0], [0] * 5, [1, 2, 3, 1, 2]]  # d and é were never met
    assert mask.sum(axis=1).tolist() == [4, 1, 5]
    assert alphabet.encode(["ab"], 5)[0].tolist() == [[1, 2]]


@given(st.lists(words))
def test_alphabet_write_then_read(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("alphabet") / "characters.txt"
    Alphabet.of(words).write(path)
    assert Alphabet.read(path) == Alphabet.of(words)
