"""The whole Impatient Reader against a literal transcription of the paper."""

import numpy as np
import pytest
import torch

from gareader.core.errors import ConfigError
from gareader.nn.tensors import tensors
from gareader.readers.impatient_reader import ImpatientReader
from gareader.readers.reader import Basis, answer_loss
from gareader.readers.settings import ImpatientConfig
from readers.answering import answer, build
from readers.questions import QUESTIONS, arrays, assert_answers, gradients_are_right, vectors, wrapped
from reference import bilstm, softmax, whole_query


def read(reader, document, query, candidates):
    p = {name: value.T for name, value in arrays(reader).items()}
    y_d = bilstm(vectors(reader, document), reader.document_lstm)
    y_q = bilstm(vectors(reader, wrapped(query)), reader.query_lstm)
    u = whole_query(y_q)
    r, looks = p["r_0"], []
    for y_i in y_q:
        m = [np.tanh(p["d_m"] @ y_t + p["r_m"] @ r + p["q_m"] @ y_i) for y_t in y_d]
        s = softmax(np.array([(p["m_s"] @ m_t).item() for m_t in m]))
        r = sum(s_t * y_t for s_t, y_t in zip(s, y_d, strict=True)) + np.tanh(p["r_r"] @ r)
        looks.append(s)
    g = np.tanh(p["r_g"] @ r + p["q_g"] @ u)
    return answer(p["answer.weight"].T, g, document, candidates), np.array(looks)


def test_equals_the_paper():
    reader, collator = build("impatient", attention_hidden=3)
    output = reader(tensors(collator(QUESTIONS)), attention=True)
    (hop,) = output.hop_attention
    for b, question in enumerate(QUESTIONS):
        D, Q = len(question.document), len(question.query) + 2
        probabilities, looks = read(reader, question.document, question.query, question.candidates)
        assert_answers(output, b, question, probabilities)
        np.testing.assert_allclose(hop[b, :D, :Q].detach().numpy(), looks.T, rtol=1e-9)
        np.testing.assert_allclose(output.document_attention[b, :D].detach().numpy(), looks[-1], rtol=1e-9)
        assert (hop[b, D:] == 0).all()
        assert (hop[b, :, Q:] == 0).all()


def test_gradients_of_the_whole_reader():
    reader, collator = build("impatient", hidden=2, attention_hidden=3)
    assert gradients_are_right(reader, tensors(collator(QUESTIONS)), answer_loss)


def test_attention_comes_on_request_only():
    reader, collator = build("impatient")
    output = reader(tensors(collator(QUESTIONS)))
    assert (output.hop_attention, output.document_attention) == ((), None)


def test_a_masked_query_token_keeps_r():
    reader, _ = build("impatient")
    generator = torch.Generator().manual_seed(2)
    document, query = (torch.randn(2, n, 8, dtype=torch.float64, generator=generator) for n in (5, 4))
    everything = torch.ones(2, 5, dtype=torch.bool)
    for gone in (0, 2, 3):
        mask = torch.ones(2, 4, dtype=torch.bool)
        mask[0, gone] = False
        left = [i for i in range(4) if i != gone]
        r, s = reader.attend(document, query, everything, mask)
        shorter, looks = reader.attend(document[:1], query[:1, left], everything[:1], mask[:1, left])
        torch.testing.assert_close(r[:1], shorter)
        torch.testing.assert_close(s[:1, :, left], looks)
        assert (s[0, :, gone] == 0).all()
        torch.testing.assert_close(s[1].sum(dim=0), torch.ones(4, dtype=torch.float64))  # the neighbour looks as ever


def test_dropout_falls_on_the_states():
    """With all states of both LSTMs dropped, it looks everywhere alike and answers without having read."""
    reader, collator = build("impatient", dropout=0.9999)
    batch = tensors(collator(QUESTIONS))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        output = reader.train()(batch, attention=True)
    everywhere = batch.document_mask / batch.document_mask.sum(dim=1, keepdim=True)
    torch.testing.assert_close(output.document_attention, everywhere.double())
    for b, steps in enumerate(batch.query_mask.sum(dim=1).tolist()):
        r = reader.r_0
        for _ in range(steps):
            r = torch.tanh(r @ reader.r_r)
        unread = reader.answer(torch.tanh(r @ reader.r_g).expand(2, -1), batch)
        torch.testing.assert_close(output.log_probabilities[b], unread[b])


def test_first_weights():
    words = torch.randn(100, 50, generator=torch.Generator().manual_seed(1))
    reader = ImpatientReader(ImpatientConfig(init_std=0.3), Basis(words, 0, generator=torch.Generator().manual_seed(0)))
    assert reader.embed.words.equal(words)
    assert reader.r_0.shape == (512,)
    assert reader.answer.weight.shape == (101, 512)
    for name, weight in reader.named_parameters():
        if "bias" in name:
            assert (weight == 0).all()
        elif name != "embed.words":
            deviation = 512**-0.5 if name == "r_r" else 0.3
            assert weight.std().item() == pytest.approx(deviation, rel=0.2 if name == "m_s" else 0.1), name


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"hidden": 0}, "hidden = 0 is too small; use 1 or more"),
        ({"attention_hidden": 0}, "attention_hidden = 0 is too small; use 1 or more"),
        ({"dropout": -0.1}, "dropout = -0.1 is too small; use 0 or more and less than 1"),
        ({"init_std": -1.0}, "init_std = -1.0 is too small; use more than 0"),
    ],
)
def test_impossible_settings(setting, message):
    with pytest.raises(ConfigError) as error:
        ImpatientConfig(**setting)
    assert message in str(error.value)
