"""Candidates as means of their words, and the words of a text that are theirs."""

import torch

from gareader.data.batching import Collator
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.vocabulary import Alphabet, Vocabulary
from gareader.nn.candidates import candidate_vectors, mentions
from gareader.nn.tensors import tensors

COLLATE = Collator(Vocabulary(["Mary", "Ann", "Tom"]), Alphabet.of(["Mary"]), width=2, seed=5)
BATCH = tensors(
    COLLATE(
        [
            Example("", tuple("Mary Ann met Tom and Ann".split()), (PLACEHOLDER,), (("Mary", "Ann"), ("Tom",)), 0),
            Example("", ("Tom",), (PLACEHOLDER,), (("Tom",), ("Ann",)), 0),
        ]
    )
)


def test_a_candidate_is_the_mean_of_its_words():
    tokens = torch.randn(
        len(BATCH.types.characters), 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1)
    )
    mary, ann, _, tom = tokens[BATCH.document[0, :4]]
    expected = torch.stack([torch.stack([(mary + ann) / 2, tom]), torch.stack([tom, ann])])
    torch.testing.assert_close(candidate_vectors(BATCH, tokens), expected, rtol=1e-12, atol=0)


def test_mentions_are_the_words_of_each_candidate():
    found = mentions(BATCH, BATCH.document, BATCH.document_mask)
    assert found.int().tolist() == [
        [[1, 1, 0, 0, 0, 1], [0, 0, 0, 1, 0, 0]],
        [[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]],
    ]
    assert not mentions(BATCH, BATCH.document, torch.zeros_like(BATCH.document_mask)).any()
