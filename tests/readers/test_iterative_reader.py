"""The Iterative Alternating Attention Reader against its equations."""

import numpy as np
import pytest
import torch

import reference
from gareader.core.errors import ConfigError
from gareader.nn.tensors import tensors
from gareader.readers.iterative_reader import IterativeReader
from gareader.readers.reader import Basis, mass_loss
from gareader.readers.settings import IterativeConfig
from readers.questions import QUESTIONS, WIDTH, assert_points, build, gradients_are_right, numbers, vectors, wrapped
from reference import bigru, gru_parameters

SCALE = 0.6


def attention(reader, question):
    """d_{·,T}, after T glimpses."""
    q_tilde = bigru(vectors(reader, wrapped(question.query), SCALE), *gru_parameters(reader.query_gru))
    d_tilde = bigru(vectors(reader, question.document, SCALE), *gru_parameters(reader.document_gru))
    A_q, a_q = numbers(reader.query_look.weight), numbers(reader.query_look.bias)
    A_d, a_d = numbers(reader.document_look.weight), numbers(reader.document_look.bias)
    G, G_prime = numbers(reader.query_gate.weight), numbers(reader.document_gate.weight)
    gru = reference.step_parameters(reader.inference)
    s = np.zeros(reader.config.inference_hidden)
    for _ in range(reader.config.glimpses):
        wanted = A_q @ s + a_q
        q_i = reference.softmax(np.array([q @ wanted for q in q_tilde]))
        q_t = sum(weight * q for weight, q in zip(q_i, q_tilde, strict=True))
        wanted = A_d @ np.concatenate([s, q_t]) + a_d
        d_i = reference.softmax(np.array([d @ wanted for d in d_tilde]))
        d_t = sum(weight * d for weight, d in zip(d_i, d_tilde, strict=True))
        joint = np.concatenate([s, q_t, d_t, q_t * d_t])
        r_q, r_d = reference.sigmoid(G @ joint), reference.sigmoid(G_prime @ joint)
        s = reference.gru_step(np.concatenate([r_q * q_t, r_d * d_t]), s, gru)
    return d_i


@pytest.mark.parametrize("glimpses", [2, 3, 8])
def test_equals_the_paper(glimpses):
    config = IterativeConfig(glimpses=glimpses, hidden=3, inference_hidden=4, dropout=0.0, word_scale=SCALE)
    reader, collator = build(IterativeReader, config)
    output = reader(tensors(collator(QUESTIONS)), attention=True)
    assert output.hop_attention == ()
    for b, question in enumerate(QUESTIONS):
        assert_points(output, b, attention(reader, question))


def test_gradients():
    reader, collator = build(IterativeReader, IterativeConfig(glimpses=3, hidden=2, inference_hidden=3, dropout=0.0))
    assert gradients_are_right(reader, tensors(collator(QUESTIONS)), mass_loss)


def test_what_dropout_falls_on():
    """The tokens, what goes into both attentions of every glimpse, and what goes into the gates."""
    config = IterativeConfig(glimpses=3, hidden=3, inference_hidden=4, dropout=0.5)
    reader, collator = build(IterativeReader, config)
    widths = []
    reader.dropout.register_forward_hook(lambda layer, values, result: widths.append(values[0].shape[-1]))
    reader(tensors(collator(QUESTIONS)))
    glimpse, gates = [4, 4 + 6], [4 + 3 * 6]
    assert widths == [WIDTH, WIDTH, *glimpse, *gates, *glimpse, *gates, *glimpse]


def test_first_weights():
    generator = torch.Generator().manual_seed(0)
    reader = IterativeReader(IterativeConfig(), Basis(torch.randn(200, 384, generator=generator)))
    assert reader.document_gru.input_weight.shape == (2, 384, 384)
    assert reader.query_look.weight.shape == (256, 512)
    assert reader.document_look.weight.shape == (256, 768)
    assert reader.query_gate.weight.shape == (256, 1280)
    assert reader.query_gate.bias is None
    assert reader.inference.input_weight.shape == (512, 1536)
    matrix = reader.document_gru.recurrent_weight[0, :, :128]
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(128), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"glimpses": 1}, "glimpses = 1 is too small; use 2 or more"),
        ({"hidden": 0}, "hidden = 0 is too small; use 1 or more"),
        ({"inference_hidden": 0}, "inference_hidden = 0 is too small; use 1 or more"),
        ({"dropout": 1.5}, "dropout = 1.5 is too large; use 0 or more and less than 1"),
        ({"word_scale": 0.0}, "word_scale = 0.0 is too small; use more than 0"),
    ],
)
def test_impossible_settings(setting, message):
    with pytest.raises(ConfigError) as error:
        IterativeConfig(**setting)
    assert message in str(error.value)
