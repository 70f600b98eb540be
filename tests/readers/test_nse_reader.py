"""The NSE reader against its equations, for each way to use what is written."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gareader.core.errors import ConfigError
from gareader.nn.tensors import tensors
from gareader.readers.nse_reader import NSEReader
from gareader.readers.reader import Basis, mass_loss
from gareader.readers.settings import NSEConfig
from readers import questions
from readers.questions import (
    QUESTIONS,
    arrays,
    assert_points,
    assert_tokens_are_dropped,
    gradients_are_right,
    vectors,
    wrapped,
)
from reference import bilstm, lstm_step, sigmoid, softmax, whole_query

CONFIGS = {
    "adaptive": NSEConfig(steps=4, hidden=3, dropout=0.0),
    "gating": NSEConfig(steps=4, hidden=3, dropout=0.0, control="gating"),
    "two steps": NSEConfig(steps=2, hidden=3, dropout=0.0),
    "one step": NSEConfig(steps=1, hidden=3, dropout=0.0),
}


def build(config):
    return questions.build(NSEReader, config)


def transcribed(reader, question):
    """The attention over the document that P(a) sums, word for word from the paper."""
    M_q = bilstm(vectors(reader, wrapped(question.query)), reader.query_lstm)
    M_d = bilstm(vectors(reader, question.document), reader.document_lstm)
    s_q, s_d = whole_query(M_q), whole_query(M_d)
    k, T = len(s_q), reader.config.steps
    r = r_cell = w = w_cell = np.zeros(k)
    steps, e = [], []
    for _ in range(T):
        r, r_cell = lstm_step(np.concatenate([s_q, s_d]), r, r_cell, arrays(reader.read))
        l_q = np.array([r @ m for m in M_q])
        s_q = sum(a * m for a, m in zip(softmax(l_q), M_q, strict=True))
        z = sigmoid(l_q)
        l_d = np.array([s_q @ m for m in M_d])
        s_d = sum(a * m for a, m in zip(softmax(l_d), M_d, strict=True))
        steps.append(softmax(l_d))
        if T == 1:
            return steps[0]
        linear = arrays(reader.compose)
        c = np.tanh(linear["weight"] @ np.concatenate([s_q, s_d, r]) + linear["bias"])
        w, w_cell = lstm_step(c, w, w_cell, arrays(reader.write))
        before = M_q
        M_q = [m * z_j + s_d * (1 - z_j) for m, z_j in zip(M_q, z, strict=True)]
        if reader.config.control == "gating":
            g = [sigmoid(w @ m) for m in before]
            M_q = [new * (1 - g_j) + old * g_j for new, old, g_j in zip(M_q, before, g, strict=True)]
        else:
            e.append(sigmoid(reader.halt.detach().numpy() @ w))
    if reader.config.control == "gating":
        return steps[-1]
    p = [e[t] * np.prod([1 - e[i] for i in range(t)]) for t in range(T - 1)]
    p.append(1 - sum(p))
    return sum(p_t * s for p_t, s in zip(p, steps, strict=True))


@pytest.mark.parametrize("name", CONFIGS)
def test_equals_the_paper(name):
    reader, collator = build(CONFIGS[name])
    output = reader(tensors(collator(QUESTIONS)), attention=True)
    for b, question in enumerate(QUESTIONS):
        assert_points(output, b, transcribed(reader, question))
    assert output.hop_attention == ()


def test_one_step_needs_no_writing():
    """r_1, s^q_1 and l^d_1 are all there is: both controls are the same reader."""
    adaptive, collator = build(CONFIGS["one step"])
    gating, _ = build(replace(CONFIGS["one step"], control="gating"))
    batch = tensors(collator(QUESTIONS))
    assert adaptive.state_dict().keys() == gating.state_dict().keys()
    assert not any(name.startswith(("write", "compose", "halt")) for name in adaptive.state_dict())
    assert torch.equal(adaptive(batch).log_probabilities, gating(batch).log_probabilities)


@pytest.mark.parametrize("name", CONFIGS)
def test_gradients_of_the_whole_reader(name):
    reader, collator = build(replace(CONFIGS[name], hidden=2))
    batch = tensors(collator(QUESTIONS))
    assert gradients_are_right(reader, batch, mass_loss)


@pytest.mark.parametrize("name", CONFIGS)
def test_dropout_falls_on_every_token(name):
    """With all tokens of both texts dropped, no word has a say; nothing is dropped in the steps."""
    reader, collator = build(replace(CONFIGS[name], dropout=0.9999))
    assert_tokens_are_dropped(reader, tensors(collator(QUESTIONS)), mass_loss)


def test_first_weights():
    reader = NSEReader(NSEConfig(), Basis(torch.zeros(1, 300), 0, generator=torch.Generator().manual_seed(0)))
    for name, weight in reader.named_parameters():
        if "bias_hh" in name:
            assert (weight == 0).all()
            assert not weight.requires_grad
        elif name != "embed.words":
            assert weight.abs().max().item() == pytest.approx(0.1, rel=0.05), name
    assert reader.read.weight_ih.shape == (4 * 436, 2 * 436)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"control": "adaptiv"}, "control = 'adaptiv' is not known; did you mean 'adaptive'?"),
        ({"steps": 0}, "steps = 0 is too small; use 1 or more"),
        ({"hidden": 0}, "hidden = 0 is too small"),
        ({"dropout": 1.0}, "dropout = 1.0 is too large; use 0 or more and less than 1"),
    ],
)
def test_impossible_settings(setting, message):
    with pytest.raises(ConfigError) as error:
        NSEConfig(**setting)
    assert message in str(error.value)
