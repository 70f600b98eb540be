"""Sentences against splitting by hand, and word vectors that begin small."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from gareader.data.batching import Collator
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.vectors import random_vector
from gareader.data.vocabulary import Alphabet, Vocabulary
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.sentences import between_marks, in_sentences, neighbours, sentence_numbers
from gareader.nn.tensors import tensors

COLLATE = Collator(Vocabulary(["a", "."]), Alphabet.of(["a"]), width=3, seed=5)


def batch_of(documents):
    return tensors(COLLATE([Example("", tuple(words), (PLACEHOLDER,), (("a",), ("b",)), None) for words in documents]))


def split(words):
    sentences: list[list[int]] = [[]]
    for place, word in enumerate(words):
        sentences[-1].append(place)
        if word in (".", "!", "?"):
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


documents = st.lists(
    st.lists(st.sampled_from(["a", "b", ".", "!", "?"]), min_size=1, max_size=9), min_size=1, max_size=4
)


@given(documents)
def test_every_word_stands_in_its_sentence(documents):
    numbers = sentence_numbers(batch_of(documents))
    positions, mask = in_sentences(numbers)
    expected = [split(words) for words in documents]
    for b, sentences in enumerate(expected):
        assert numbers[b].tolist()[: len(documents[b])] == [n for n, places in enumerate(sentences) for _ in places]
        assert (numbers[b, len(documents[b]) :] == -1).all()
        got = [row[real].tolist() for row, real in zip(positions[b], mask[b], strict=True) if real.any()]
        assert got == sentences
    assert mask.shape[1:] == (max(map(len, expected)), max(len(s) for sentences in expected for s in sentences))


@given(documents)
def test_sentences_stand_between_the_marks_of_the_query(documents):
    batch = batch_of(documents)
    words, mask, inside = between_marks(batch)
    begin, _, end = batch.query[0].tolist()  # @begin, the blank, @end
    for b, document in enumerate(documents):
        got = [row[real].tolist() for row, real in zip(words[b], mask[b], strict=True) if real.any()]
        sentences = [batch.document[b, places].tolist() for places in split(document)]
        assert got == [[begin, *sentence, end] for sentence in sentences]
        assert [row[real].tolist() for row, real in zip(words[b], inside[b], strict=True) if real.any()] == sentences


@given(documents)
def test_neighbours_are_of_the_same_sentence(documents):
    numbers = sentence_numbers(batch_of(documents))
    values = torch.arange(1.0, numbers.numel() + 1).view(*numbers.shape, 1)
    got = neighbours(values, numbers).squeeze(-1)
    for b, words in enumerate(documents):
        for places in split(words):
            row = [0.0, *values[b, places, 0].tolist(), 0.0]
            assert got[b, places].tolist() == [row[i : i + 3] for i in range(len(places))]


def test_word_vectors_begin_small_and_are_loaded_as_they_are():
    words = torch.randn(2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    layer = TokenEmbedding(words, update_words=True, scale=0.1)
    types = batch_of([["a", "new"]]).types
    expected = [0.1 * words[0], 0.1 * torch.from_numpy(random_vector("new", 3, 5)).double()]
    rows = layer(types).tolist()
    assert all(row.tolist() in rows for row in expected)
    again = TokenEmbedding(layer.words.detach(), update_words=True, scale=0.1)
    again.load_state_dict(layer.state_dict())
    assert torch.equal(again(types), layer(types))
