"""Vectors learned from a corpus."""

import pytest

import synthetic
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.vectors import word_table
from gareader.data.word2vec import Texts, train_vectors

pytestmark = pytest.mark.slow


def learned(path, seed):
    count = train_vectors(lambda: synthetic.corpus(60, seed=1), path, width=6, epochs=2, seed=seed)
    return count, path.read_text()


def test_vectors_of_the_corpus_make_a_word_table(tmp_path):
    count, _ = learned(tmp_path / "vectors.txt", seed=1)
    table = word_table(["Ann", "kite", "Zorb"], tmp_path / "vectors.txt", width=6, seed=0)
    assert count == len(synthetic.PEOPLE) + len(synthetic.THINGS) + len(("has", "the", "."))
    assert (table.pretrained, len(table.vocabulary)) == (2, 3)


def test_the_seed_decides(tmp_path):
    first, again, other = (learned(tmp_path / "v.txt", seed)[1] for seed in (1, 1, 2))
    assert first == again != other


def test_a_document_asked_about_twice_comes_once_and_blanks_never():
    example, other = synthetic.corpus(2, seed=1)
    texts = list(Texts(lambda: [example, example, other]))
    assert texts[0] == list(example.document)
    assert [len(text) for text in texts] == [20, 4, 4, 20, 4]
    assert not any("@placeholder" in text for text in texts)


def test_of_a_long_document_no_word_is_dropped():
    words = tuple(map(str, range(25_000)))
    long = Example("long", words, (PLACEHOLDER,), (("1",), ("2",)), 0)
    *pieces, query = Texts(lambda: [long])
    assert [len(piece) for piece in pieces] == [10_000, 10_000, 5_000]
    assert tuple(word for piece in pieces for word in piece) == words
    assert query == []
