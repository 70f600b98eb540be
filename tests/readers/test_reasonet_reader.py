"""ReasoNet against its equations, and its training as the paper has it: by a contrastive reward."""

from typing import Any

import numpy as np
import pytest
import torch

import reference
from gareader.core.errors import ConfigError
from gareader.nn.tensors import tensors
from gareader.readers.reader import Basis, mass_loss
from gareader.readers.reasonet_reader import ReasoNetReader
from gareader.readers.settings import ReasoNetConfig
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

SMALL: dict[str, Any] = {"hidden": 3, "projection": 4, "sharpness": 2.5, "dropout": 0.0}


def cosine(a, b):
    return a @ b / (np.sqrt(a @ a) * np.sqrt(b @ b))


def look(likeness, memory, s, gamma):
    """softmax_i(γ cos(W1 m_i, W2 s))."""
    W1, W2 = numbers(likeness.memory.weight), numbers(likeness.state.weight)
    return reference.softmax(np.array([gamma * cosine(W1 @ m, W2 @ s) for m in memory]))


def episodes(reader, question):
    """π(T, i) for every step T and document position i."""
    config, directions = reader.config, reference.gru_parameters(reader.gru)
    M_query = reference.bigru(vectors(reader, wrapped(question.query)), *directions)
    M_doc = reference.bigru(vectors(reader, question.document), *directions)
    gru = reference.step_parameters(reader.controller)
    w, bias = numbers(reader.gate.weight)[0], numbers(reader.gate.bias)[0]
    s = reference.whole_query(M_query)
    pi, reached = [], 1.0  # reached = Π_{j<t} (1 − p_j)
    for t in range(1, config.steps + 1):
        p = 1.0 if t == config.steps else reference.sigmoid(w @ s + bias)
        pi.append(reached * p * look(reader.answer, M_doc, s, config.sharpness))
        reached *= 1 - p
        x = []
        for likeness, memory in ((reader.on_query, M_query), (reader.on_document, M_doc)):
            a = look(likeness, memory, s, config.sharpness)
            x.append(sum(weight * m for weight, m in zip(a, memory, strict=True)))
        s = reference.gru_step(np.concatenate(x), s, gru)
    return np.array(pi)


@pytest.mark.parametrize("steps", [2, 3, 5])
def test_equals_the_paper(steps):
    reader, collator = build(ReasoNetReader, ReasoNetConfig(**SMALL, steps=steps))
    batch = tensors(collator(QUESTIONS))
    output, together = reader(batch, attention=True), reader.episodes(batch)
    assert output.hop_attention == ()
    for b, question in enumerate(QUESTIONS):
        pi = episodes(reader, question)
        assert pi.sum() == pytest.approx(1)
        np.testing.assert_allclose(numbers(together[b, :, : len(question.document)].exp()), pi, rtol=1e-9)
        assert_points(output, b, pi.sum(axis=0))


def test_gradients():
    reader, collator = build(ReasoNetReader, ReasoNetConfig(hidden=2, projection=3, dropout=0.0), spread=0.5)
    assert gradients_are_right(reader, tensors(collator(QUESTIONS)), mass_loss)


def test_dropout_falls_on_every_token():
    """With all tokens of both texts dropped, no word has a say."""
    reader, collator = build(ReasoNetReader, ReasoNetConfig(**{**SMALL, "dropout": 0.9999}))
    assert_tokens_are_dropped(reader, tensors(collator(QUESTIONS)), mass_loss)


def test_the_contrastive_reward_has_the_same_gradient():
    """Σ π ∇log π (r/b − 1) over all episodes, with b = Σ π r, against the likelihood of the mixture."""
    reader, collator = build(ReasoNetReader, ReasoNetConfig(**SMALL))
    batch = tensors(collator(QUESTIONS))
    weights = [weight for weight in reader.parameters() if weight.requires_grad]
    likelihood = torch.autograd.grad(mass_loss(reader(batch), batch), weights)

    log_pi = reader.episodes(batch).masked_fill(~batch.document_mask.unsqueeze(1), -torch.inf)  # (B, T, D)
    pi = log_pi.exp()
    answer = batch.occurrence[torch.arange(len(QUESTIONS)), batch.answer]  # (B, D)
    reward = answer.unsqueeze(1).to(pi)  # (B, 1, D)
    baseline = (pi * reward).sum(dim=(1, 2), keepdim=True)  # (B, 1, 1)
    by_reward = torch.autograd.grad((pi * (1 - reward / baseline).detach()).sum(dim=(1, 2)).mean(), weights)
    for got, expected in zip(likelihood, by_reward, strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-9, atol=1e-12)


def test_certain_gates_do_no_harm():
    """A gate of ±200 stops at once or never; both leave the loss and its gradients finite in single precision."""
    reader, collator = build(ReasoNetReader, ReasoNetConfig(**SMALL))
    reader.float()
    batch = tensors(collator(QUESTIONS))
    torch.nn.init.zeros_(reader.gate.weight)
    for bias, step in ((200.0, 0), (-200.0, 4)):
        torch.nn.init.constant_(reader.gate.bias, bias)
        stopped = (reader.episodes(batch).exp() * batch.document_mask.unsqueeze(1)).sum(dim=2)
        assert stopped[0].argmax().item() == step
        assert stopped[0, step].item() == pytest.approx(1)
        reader.zero_grad()
        loss = mass_loss(reader(batch), batch)
        loss.backward()
        assert loss.isfinite()
        assert all(weight.grad.isfinite().all() for weight in reader.parameters())


def test_first_weights():
    reader = ReasoNetReader(ReasoNetConfig(), Basis(torch.zeros(1, 300), 0, generator=torch.Generator().manual_seed(0)))
    for weight in (reader.gru.input_weight, reader.controller.input_weight, reader.answer.state.weight):
        assert weight.abs().max().item() == pytest.approx(0.01, rel=1e-3)
    assert reader.on_document.memory.weight.shape == (384, 512)
    assert reader.controller.input_weight.shape == (1024, 1536)
    for recurrent in (reader.gru.recurrent_weight[1], reader.controller.recurrent_weight):
        matrix = recurrent[:, : len(recurrent)]
        torch.testing.assert_close(matrix @ matrix.T, torch.eye(len(matrix)), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"steps": 1}, "steps = 1 is too small; use 2 or more"),
        ({"hidden": 0}, "hidden = 0 is too small; use 1 or more"),
        ({"projection": 0}, "projection = 0 is too small; use 1 or more"),
        ({"sharpness": 0.0}, "sharpness = 0.0 is too small; use more than 0"),
        ({"dropout": 1.0}, "dropout = 1.0 is too large; use 0 or more and less than 1"),
    ],
)
def test_impossible_settings(setting, message):
    with pytest.raises(ConfigError) as error:
        ReasoNetConfig(**setting)
    assert message in str(error.value)
