"""The Attention-over-Attention Reader against its equations."""

import numpy as np
import pytest
import torch

import reference
from gareader.core.errors import ConfigError
from gareader.nn.tensors import tensors
from gareader.readers.aoa_reader import AoAReader
from gareader.readers.reader import Basis, mass_loss
from gareader.readers.settings import AoAConfig
from readers.questions import (
    QUESTIONS,
    assert_points,
    assert_tokens_are_dropped,
    build,
    gradients_are_right,
    numbers,
    vectors,
    wrapped,
)
from reference import bigru, gru_parameters

SCALE = 0.6
CONFIG = AoAConfig(hidden=3, dropout=0.0, word_scale=SCALE)


def attention(reader, question):
    """β and s = α β̄, from the matching M, one number at a time."""
    h_doc = bigru(vectors(reader, question.document, SCALE), *gru_parameters(reader.document_gru))
    h_query = bigru(vectors(reader, wrapped(question.query), SCALE), *gru_parameters(reader.query_gru))
    d, q = len(h_doc), len(h_query)
    M = np.array([[h_doc[i] @ h_query[t] for t in range(q)] for i in range(d)])
    alpha, beta = np.zeros((d, q)), np.zeros((d, q))
    for t in range(q):
        alpha[:, t] = reference.softmax(M[:, t])
    for i in range(d):
        beta[i, :] = reference.softmax(M[i, :])
    beta_bar = sum(beta[i, :] for i in range(d)) / d
    return beta, alpha @ beta_bar


def test_equals_the_paper():
    reader, collator = build(AoAReader, CONFIG)
    output = reader(tensors(collator(QUESTIONS)), attention=True)
    (hop,) = output.hop_attention
    for b, question in enumerate(QUESTIONS):
        beta, s = attention(reader, question)
        assert s.sum() == pytest.approx(1)
        assert_points(output, b, s)
        np.testing.assert_allclose(numbers(hop[b, : beta.shape[0], : beta.shape[1]]), beta, rtol=1e-9)
        np.testing.assert_allclose(beta.sum(axis=1), 1)
        assert hop[b].sum().item() == pytest.approx(beta.shape[0])  # nothing beyond the real words


def test_gradients():
    reader, collator = build(AoAReader, AoAConfig(hidden=2, dropout=0.0))
    assert gradients_are_right(reader, tensors(collator(QUESTIONS)), mass_loss)


def test_large_matches_do_no_harm():
    """Scores thousands apart, where a probability is 0 in single precision: nothing becomes infinite."""
    reader, collator = build(AoAReader, CONFIG)
    reader.float()
    batch = tensors(collator(QUESTIONS))
    places = torch.arange(1, 14).view(1, 13, 1) * batch.document_mask.unsqueeze(2)
    reader.document_gru.forward = lambda document, mask: 2000.0 * places.expand(2, 13, 6)
    output = reader(batch, attention=True)
    loss = mass_loss(output, batch)
    loss.backward()
    assert 100 < loss < torch.inf
    assert all(weight.grad.isfinite().all() for weight in reader.query_gru.parameters())
    torch.testing.assert_close(output.document_attention.sum(dim=1), torch.ones(2))
    torch.testing.assert_close(output.hop_attention[0].sum(dim=2), batch.document_mask.float())


def test_dropout_falls_on_every_token():
    """With all tokens of both texts dropped, no word has a say."""
    reader, collator = build(AoAReader, AoAConfig(hidden=3, dropout=0.9999))
    assert_tokens_are_dropped(reader, tensors(collator(QUESTIONS)), mass_loss)


def test_attention_comes_on_request_only():
    reader, collator = build(AoAReader, CONFIG)
    output = reader(tensors(collator(QUESTIONS)))
    assert output.hop_attention == ()
    assert output.document_attention is None


def test_first_weights():
    generator = torch.Generator().manual_seed(0)
    reader = AoAReader(AoAConfig(hidden=24), Basis(torch.randn(5000, 24, generator=generator)))
    assert reader.embed.words.std().item() == pytest.approx(0.05 / 3**0.5, rel=0.02)  # that of uniform ±0.05
    for weight in (reader.document_gru.input_weight, reader.query_gru.recurrent_weight):
        for matrix in (weight[0, :, :24], weight[1, :, 48:]):
            torch.testing.assert_close(matrix @ matrix.T, torch.eye(24), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"hidden": 0}, "hidden = 0 is too small; use 1 or more"),
        ({"dropout": -0.1}, "dropout = -0.1 is too small; use 0 or more and less than 1"),
        ({"word_scale": -1.0}, "word_scale = -1.0 is too small; use more than 0"),
    ],
)
def test_impossible_settings(setting, message):
    with pytest.raises(ConfigError) as error:
        AoAConfig(**setting)
    assert message in str(error.value)
