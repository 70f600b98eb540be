"""The Attention Sum Reader against its equations, and as the Gated-Attention Reader of one hop."""

from typing import Any

import numpy as np
import pytest
import torch

import reference
from gareader.core.errors import ConfigError
from gareader.nn.tensors import tensors
from gareader.readers.attention_sum_reader import AttentionSumReader
from gareader.readers.gated_attention_reader import GatedAttentionReader
from gareader.readers.reader import Basis, answer_loss, mass_loss
from gareader.readers.settings import AttentionSumConfig, GatedAttentionConfig
from readers.questions import QUESTIONS, assert_points, build, gradients_are_right, vectors, wrapped
from reference import bigru, gru_parameters

SCALE = 0.6
CONFIG = AttentionSumConfig(hidden=3, word_scale=SCALE)


def attention(reader, question):
    """s_i = softmax_i(f_i(d)·g(q))."""
    f = bigru(vectors(reader, question.document, SCALE), *gru_parameters(reader.document_gru))
    asked = bigru(vectors(reader, wrapped(question.query), SCALE), *gru_parameters(reader.query_gru))
    g = reference.whole_query(asked)
    return reference.softmax(np.array([f_i @ g for f_i in f]))


def test_equals_the_paper():
    reader, collator = build(AttentionSumReader, CONFIG)
    output = reader(tensors(collator(QUESTIONS)), attention=True)
    assert output.hop_attention == ()
    for b, question in enumerate(QUESTIONS):
        assert_points(output, b, attention(reader, question))


def test_gradients():
    reader, collator = build(AttentionSumReader, AttentionSumConfig(hidden=2))
    assert gradients_are_right(reader, tensors(collator(QUESTIONS)), mass_loss)


def test_the_loss_counts_attention_that_falls_on_no_candidate():
    reader, collator = build(AttentionSumReader, CONFIG)
    batch = tensors(collator(QUESTIONS))
    output = reader(batch)
    assert output.document_attention is None
    masses = [sum(attention(reader, QUESTIONS[0])[i] for i in (1, 5)), sum(attention(reader, QUESTIONS[1])[::2])]
    assert mass_loss(output, batch).item() == pytest.approx(-np.mean(np.log(masses)))
    assert mass_loss(output, batch) > answer_loss(output, batch) + 0.1


def gated(config, reader):
    """A Gated-Attention Reader of one hop with the weights of an Attention Sum Reader."""
    other = GatedAttentionReader(config, Basis(reader.embed.words.detach())).double().eval()
    other.document_grus[0].load_state_dict(reader.document_gru.state_dict())
    other.query_grus[0].load_state_dict(reader.query_gru.state_dict())
    return other


def test_is_a_gated_attention_reader_of_one_hop():
    reader, collator = build(AttentionSumReader, AttentionSumConfig(hidden=3, word_scale=1.0))
    batch = tensors(collator(QUESTIONS))
    got = reader(batch, attention=True)
    plain: dict[str, Any] = {"hops": 1, "hidden": 3, "characters": False, "feature": False}
    same = gated(GatedAttentionConfig(**plain, cloze="ends"), reader)(batch, attention=True)
    assert torch.equal(got.log_probabilities, same.log_probabilities)
    assert torch.equal(got.document_attention, same.document_attention)
    other = gated(GatedAttentionConfig(**plain), reader)(batch, attention=True)  # the query's vector at the blank
    assert (got.document_attention - other.document_attention).abs().max() > 0.01


def test_first_weights():
    generator = torch.Generator().manual_seed(0)
    reader = AttentionSumReader(AttentionSumConfig(), Basis(torch.randn(500, 256, generator=generator)))
    assert reader.embed.words.std().item() == pytest.approx(0.1 / 3**0.5, rel=0.02)  # that of uniform ±0.1
    assert reader.document_gru.input_weight.shape == (2, 256, 384)
    assert reader.document_gru.input_weight.std().item() == pytest.approx(0.1, rel=0.02)
    matrix = reader.query_gru.recurrent_weight[1, :, 128:256]
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(128), rtol=0, atol=1e-5)
    assert (reader.query_gru.bias == 0).all()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"hidden": 0}, "hidden = 0 is too small; use 1 or more"),
        ({"dropout": 1.0}, "dropout = 1.0 is too large; use 0 or more and less than 1"),
        ({"word_scale": 0.0}, "word_scale = 0.0 is too small; use more than 0"),
    ],
)
def test_impossible_settings(setting, message):
    with pytest.raises(ConfigError) as error:
        AttentionSumConfig(**setting)
    assert message in str(error.value)
