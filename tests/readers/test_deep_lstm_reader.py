"""The whole Deep LSTM Reader against a literal transcription of the paper."""

import numpy as np
import pytest
import torch

from gareader.core.errors import ConfigError
from gareader.nn.tensors import tensors
from gareader.readers.deep_lstm_reader import DeepLSTMReader
from gareader.readers.reader import Basis, answer_loss
from gareader.readers.settings import DeepLSTMConfig
from readers.answering import answer, build
from readers.questions import QUESTIONS, arrays, assert_answers, gradients_are_right, vectors, wrapped
from reference import sigmoid

every_stack = pytest.mark.parametrize(("layers", "query_first"), [(1, False), (2, False), (3, True)])


def layer_weights(layer):
    """The paper's matrices of a layer; those of x'(t, k) begin with the columns for x(t)."""
    a, p = arrays(layer), {}
    p["xf"], xi, xc, xo = (part.T for part in np.split(a["input_weight"], 4, axis=1))
    below = np.split(a["below_weight"], 3, axis=1) if "below_weight" in a else [np.zeros((0, len(xi)))] * 3
    p["xi"], p["xc"], p["xo"] = (np.hstack([x, y.T]) for x, y in zip((xi, xc, xo), below, strict=True))
    p["hf"], p["hi"], p["hc"], p["ho"] = (part.T for part in np.split(a["recurrent_weight"], 4, axis=1))
    p["cf"], p["ci"], p["co"] = (np.diag(row) for row in a["peepholes"])
    p["bf"], p["bi"], p["bc"], p["bo"] = np.split(a["bias"], 4)
    p["y"], p["by"] = a["output_weight"].T, a["output_bias"]
    return p


def read(reader, document, query, candidates):
    bar = [arrays(reader)["delimiter"][0]]
    d, q = vectors(reader, document), vectors(reader, wrapped(query))
    X = q + bar + d if reader.config.query_first else d + bar + q
    layers = [layer_weights(layer) for layer in reader.layers]
    h, c = ([np.zeros(reader.config.hidden) for _ in layers] for _ in range(2))
    for x in X:
        y_below, outputs = np.zeros(0), []
        for k, W in enumerate(layers):
            x_k = np.concatenate([x, y_below])
            i = sigmoid(W["xi"] @ x_k + W["hi"] @ h[k] + W["ci"] @ c[k] + W["bi"])
            f = sigmoid(W["xf"] @ x + W["hf"] @ h[k] + W["cf"] @ c[k] + W["bf"])
            c[k] = f * c[k] + i * np.tanh(W["xc"] @ x_k + W["hc"] @ h[k] + W["bc"])
            o = sigmoid(W["xo"] @ x_k + W["ho"] @ h[k] + W["co"] @ c[k] + W["bo"])
            h[k] = o * np.tanh(c[k])
            y_below = W["y"] @ h[k] + W["by"]
            outputs.append(y_below)
        y = np.concatenate(outputs)
    return answer(arrays(reader)["answer.weight"], y, document, candidates)


@every_stack
def test_equals_the_paper(layers, query_first):
    reader, collator = build("deep-lstm", layers=layers, query_first=query_first)
    for questions in (QUESTIONS, QUESTIONS[::-1]):
        output = reader(tensors(collator(questions)), attention=True)
        assert (output.hop_attention, output.document_attention) == ((), None)
        for b, question in enumerate(questions):
            probabilities = read(reader, question.document, question.query, question.candidates)
            assert_answers(output, b, question, probabilities)


@every_stack
def test_gradients_of_the_whole_reader(layers, query_first):
    reader, collator = build("deep-lstm", hidden=2, layers=layers, query_first=query_first)
    assert gradients_are_right(reader, tensors(collator(QUESTIONS)), answer_loss)


@pytest.mark.parametrize("query_first", [False, True])
def test_one_text_without_a_gap(query_first):
    reader, collator = build("deep-lstm", query_first=query_first)
    batch = tensors(collator(QUESTIONS))
    text, last = reader.one_text(batch, delimiter=99)
    assert text.shape == (13 + 1 + 9, 2)
    for b, question in enumerate(QUESTIONS):
        d, q = (batch.document[b, : len(question.document)], batch.query[b, : len(question.query) + 2])
        bar = torch.tensor([99])
        expected = torch.cat([q, bar, d] if query_first else [d, bar, q])
        assert last[b] == len(expected) - 1
        assert text[: len(expected), b].equal(expected)


def test_dropout_leaves_the_recurrence_alone():
    """A reader of two layers with all states dropped on their way out answers from its biases alone."""
    reader, collator = build("deep-lstm", layers=2, dropout=0.9999)
    batch = tensors(collator(QUESTIONS))
    tokens = torch.cat([reader.embed(batch.types), reader.delimiter])
    text, _ = reader.one_text(batch, delimiter=len(tokens) - 1)
    kept = reader.layers[0](tokens, text, None)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        torch.testing.assert_close(reader.train().layers[0](tokens, text, None), kept)
        dropped = reader(batch).log_probabilities
    g = torch.cat([layer.output_bias for layer in reader.layers]).expand(2, -1)
    torch.testing.assert_close(dropped, reader.answer(g, batch))


def test_first_weights():
    words = torch.zeros(100, 200)
    reader = DeepLSTMReader(DeepLSTMConfig(), Basis(words, 0, generator=torch.Generator().manual_seed(0)))
    assert reader.answer.weight.shape == (101, 512)
    assert reader.delimiter.std().item() == pytest.approx(1, rel=0.2)
    for layer in reader.layers:
        for name, weight in layer.named_parameters():
            if "bias" in name:
                assert (weight == 0).all()
            else:
                assert weight.std().item() == pytest.approx(0.1, rel=0.1), name


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"hidden": 0}, "hidden = 0 is too small; use 1 or more"),
        ({"layers": 0}, "layers = 0 is too small; use 1 or more"),
        ({"dropout": 1.0}, "dropout = 1.0 is too large; use 0 or more and less than 1"),
        ({"init_std": 0.0}, "init_std = 0.0 is too small; use more than 0"),
    ],
)
def test_impossible_settings(setting, message):
    with pytest.raises(ConfigError) as error:
        DeepLSTMConfig(**setting)
    assert message in str(error.value)
