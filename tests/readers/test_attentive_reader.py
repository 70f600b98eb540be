"""The whole Attentive Reader against a literal transcription of the paper."""

import numpy as np
import pytest
import torch

from gareader.core.errors import ConfigError
from gareader.nn.tensors import tensors
from gareader.readers.attentive_reader import AttentiveReader
from gareader.readers.reader import Basis, answer_loss
from gareader.readers.settings import AttentiveConfig
from readers.answering import answer, build
from readers.questions import QUESTIONS, arrays, assert_answers, gradients_are_right, vectors, wrapped
from reference import bilstm, softmax, whole_query


def read(reader, document, query, candidates):
    p = {name: value.T for name, value in arrays(reader).items()}
    y_d = bilstm(vectors(reader, document), reader.document_lstm)
    u = whole_query(bilstm(vectors(reader, wrapped(query)), reader.query_lstm))
    m = [np.tanh(p["y_m"] @ y + p["u_m"] @ u) for y in y_d]
    s = softmax(np.array([(p["m_s"] @ m_t).item() for m_t in m]))
    r = sum(s_t * y for s_t, y in zip(s, y_d, strict=True))
    g = np.tanh(p["r_g"] @ r + p["u_g"] @ u)
    return answer(p["answer.weight"].T, g, document, candidates), s


def test_equals_the_paper():
    reader, collator = build("attentive", attention_hidden=3)
    output = reader(tensors(collator(QUESTIONS)), attention=True)
    assert output.hop_attention == ()
    for b, question in enumerate(QUESTIONS):
        probabilities, s = read(reader, question.document, question.query, question.candidates)
        assert_answers(output, b, question, probabilities)
        got = output.document_attention[b].detach().numpy()
        np.testing.assert_allclose(got[: len(s)], s, rtol=1e-9)
        assert (got[len(s) :] == 0).all()


def test_gradients_of_the_whole_reader():
    reader, collator = build("attentive", hidden=2, attention_hidden=3)
    assert gradients_are_right(reader, tensors(collator(QUESTIONS)), answer_loss)


def test_attention_comes_on_request_only():
    reader, collator = build("attentive")
    assert reader(tensors(collator(QUESTIONS))).document_attention is None


def test_dropout_falls_on_the_states():
    """With all states of both LSTMs dropped, it looks everywhere alike and answers without having read."""
    reader, collator = build("attentive", dropout=0.9999)
    batch = tensors(collator(QUESTIONS))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        output = reader.train()(batch, attention=True)
    everywhere = batch.document_mask / batch.document_mask.sum(dim=1, keepdim=True)
    torch.testing.assert_close(output.document_attention, everywhere.double())
    blank = torch.zeros(2, 8, dtype=torch.float64)
    torch.testing.assert_close(output.log_probabilities, reader.answer(blank, batch))


def test_first_weights():
    words = torch.zeros(100, 50)
    reader = AttentiveReader(AttentiveConfig(init_std=0.3), Basis(words, 0, generator=torch.Generator().manual_seed(0)))
    assert reader.y_m.shape == (512, 100)
    assert reader.answer.weight.shape == (101, 512)
    for weight in (reader.y_m, reader.u_g, reader.answer.weight, reader.query_lstm.lstm.get_parameter("weight_hh_l0")):
        assert weight.std().item() == pytest.approx(0.3, rel=0.05)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"hidden": 0}, "hidden = 0 is too small; use 1 or more"),
        ({"attention_hidden": 0}, "attention_hidden = 0 is too small; use 1 or more"),
        ({"dropout": 1.0}, "dropout = 1.0 is too large; use 0 or more and less than 1"),
        ({"init_std": 0.0}, "init_std = 0.0 is too small; use more than 0"),
    ],
)
def test_impossible_settings(setting, message):
    with pytest.raises(ConfigError) as error:
        AttentiveConfig(**setting)
    assert message in str(error.value)
