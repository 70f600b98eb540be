"""The whole Stanford Attentive Reader against a literal transcription of the paper."""

import numpy as np
import pytest
import torch

from gareader.core.errors import ConfigError
from gareader.nn.tensors import tensors
from gareader.readers.reader import Basis, answer_loss
from gareader.readers.settings import StanfordConfig
from gareader.readers.stanford_reader import StanfordReader
from readers.answering import answer, build
from readers.questions import QUESTIONS, arrays, assert_answers, gradients_are_right, vectors, wrapped
from reference import bigru, gru_parameters, softmax, whole_query

every_cell = pytest.mark.parametrize("cell", ["cudnn", "paper"])


def read(reader, document, query, candidates):
    p, cell = arrays(reader), reader.config.cell
    states = bigru(vectors(reader, document), *gru_parameters(reader.document_gru), cell=cell)
    q = whole_query(bigru(vectors(reader, wrapped(query)), *gru_parameters(reader.query_gru), cell=cell))
    alpha = softmax(np.array([q @ p["match"] @ state for state in states]))
    o = sum(a * state for a, state in zip(alpha, states, strict=True))
    return answer(p["answer.weight"], o, document, candidates), alpha


@every_cell
def test_equals_the_paper(cell):
    reader, collator = build("stanford", cell=cell)
    output = reader(tensors(collator(QUESTIONS)), attention=True)
    assert output.hop_attention == ()
    for b, question in enumerate(QUESTIONS):
        probabilities, alpha = read(reader, question.document, question.query, question.candidates)
        assert_answers(output, b, question, probabilities)
        got = output.document_attention[b].detach().numpy()
        np.testing.assert_allclose(got[: len(alpha)], alpha, rtol=1e-9)
        assert (got[len(alpha) :] == 0).all()


@every_cell
def test_gradients_of_the_whole_reader(cell):
    reader, collator = build("stanford", hidden=2, cell=cell)
    assert gradients_are_right(reader, tensors(collator(QUESTIONS)), answer_loss)


def test_attention_comes_on_request_only():
    reader, collator = build("stanford")
    assert reader(tensors(collator(QUESTIONS))).document_attention is None


def test_dropout_falls_on_the_input():
    """With all of the embedding dropped but what the biases say, all document states hang on their place alone."""
    reader, collator = build("stanford", dropout=0.9999)
    batch = tensors(collator(QUESTIONS))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        dropped = reader.train()(batch, attention=True)
    reader.embed.words.data.zero_()
    reader.query_gru.input_weight.data.zero_()
    reader.document_gru.input_weight.data.zero_()
    silent = reader.eval()(batch, attention=True)
    torch.testing.assert_close(dropped.document_attention, silent.document_attention)


def test_first_weights():
    words = torch.zeros(100, 50)
    reader = StanfordReader(StanfordConfig(), Basis(words, 0, generator=torch.Generator().manual_seed(0)))
    assert reader.match.abs().max().item() == pytest.approx(0.01, rel=0.01)
    assert reader.answer.weight.std().item() == pytest.approx(0.01 / 3**0.5, rel=0.05)
    assert reader.document_gru.input_weight.std().item() == pytest.approx(0.1, rel=0.05)
    assert reader.answer.weight.shape == (101, 256)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"hidden": 0}, "hidden = 0 is too small; use 1 or more"),
        ({"cell": "papr"}, "cell = 'papr' is not known; did you mean 'paper'?"),
        ({"dropout": 1.0}, "dropout = 1.0 is too large; use 0 or more and less than 1"),
        ({"init_bound": 0.0}, "init_bound = 0.0 is too small; use more than 0"),
    ],
)
def test_impossible_settings(setting, message):
    with pytest.raises(ConfigError) as error:
        StanfordConfig(**setting)
    assert message in str(error.value)
