"""Token embeddings against L(w) ‖ C(w)."""

import numpy as np
import pytest
import torch

import reference
from gareader.data.batching import Collator
from gareader.data.vectors import random_vector
from gareader.data.vocabulary import Alphabet, Vocabulary
from gareader.nn import native
from gareader.nn.embedding import CharacterEmbedding, TokenEmbedding
from gareader.nn.tensors import Types

WORDS = ["cat", "a", "incomprehensibilities", "dog"]
ALPHABET = Alphabet.of(WORDS)


def as_tensors(ranked):
    """The rank of each word, and the types as tensors."""
    rank, types = ranked
    return rank, Types(**{name: torch.from_numpy(array) for name, array in vars(types).items()})


def model(cell="paper"):
    generator = torch.Generator().manual_seed(3)
    characters = CharacterEmbedding(len(ALPHABET), cell, generator=generator).double()
    torch.nn.init.normal_(characters.table, generator=generator)
    torch.nn.init.normal_(characters.bias, generator=generator)
    return characters


def composed(characters, word, cell="paper"):
    """C(w) by the reference."""
    table, weight, bias = (t.detach().numpy() for t in (characters.table, characters.weight, characters.bias))
    return reference.character_embedding(
        ALPHABET.encode([word], 10)[0][0], table, reference.gru_parameters(characters.gru), weight, bias, cell
    )


@pytest.mark.parametrize("cell", ["paper", "cudnn"])
def test_characters_equal_the_equation(cell):
    characters = model(cell)
    rank, types = as_tensors(Collator(Vocabulary(WORDS), ALPHABET, width=4, seed=0).types(WORDS))
    got = characters(types.characters, types.character_mask)
    for row, word in zip(rank, WORDS, strict=True):
        np.testing.assert_allclose(got[row].detach().numpy(), composed(characters, word, cell), rtol=1e-9, atol=1e-12)


def test_in_bf16_characters_and_their_gradients_are_near():
    characters = model().float()
    _, types = as_tensors(Collator(Vocabulary(WORDS), ALPHABET, width=4, seed=0).types(WORDS))
    results = []
    for precision in "float32", "bf16":
        with native.products_in(precision):
            got = characters(types.characters, types.character_mask)
        results.append([got, *torch.autograd.grad(got.square().sum(), list(characters.parameters()))])
    for exact, rough in zip(*results, strict=True):
        assert (exact - rough).abs().max() < 0.03 * exact.abs().max()


def test_only_the_first_ten_characters_count():
    collator = Collator(Vocabulary([]), ALPHABET, width=4, seed=0)
    rank, types = as_tensors(collator.types(["incomprehensibilities", "incomprehe", "incompreh"]))
    first, second, third = model()(types.characters, types.character_mask)[rank]
    torch.testing.assert_close(first, second, rtol=1e-9, atol=1e-12)
    assert (second - third).abs().max() > 1e-3


def test_tokens_are_word_vectors_beside_characters():
    table = torch.randn(2, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    collator = Collator(Vocabulary(["dog", "cat"]), ALPHABET, width=4, seed=5)
    rank, types = as_tensors(collator.types(WORDS))
    characters = model()
    got = TokenEmbedding(table, characters, update_words=False)(types).detach().numpy()
    for word, row in zip(WORDS, rank, strict=True):
        vector = {"dog": table[0].numpy(), "cat": table[1].numpy()}.get(word)
        vector = random_vector(word, 4, 5) if vector is None else vector
        expected = np.concatenate([vector, composed(characters, word)])
        np.testing.assert_allclose(got[row], expected, rtol=1e-9, atol=1e-12)


def test_word_table_is_fixed_or_updated():
    _, types = as_tensors(Collator(Vocabulary(["dog", "cat"]), ALPHABET, width=4, seed=5).types(["cat", "new"]))
    fixed = TokenEmbedding(torch.ones(2, 4), None, update_words=False)
    assert not fixed(types).requires_grad
    updated = TokenEmbedding(torch.ones(2, 4), None, update_words=True)
    updated(types).sum().backward()
    assert updated.words.grad is not None
    assert updated.words.grad.tolist() == [[0] * 4, [1] * 4]
