"""The LSTM language model against its equations: probabilities of words, multiplied."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from gareader.core.errors import ConfigError
from gareader.data.examples import PLACEHOLDER, Example
from gareader.nn.tensors import tensors
from gareader.readers.lstm_lm_reader import LSTMLanguageModelReader, filled_queries, language_loss
from gareader.readers.reader import Basis, ReaderOutput, answer_loss
from gareader.readers.settings import LSTMLanguageModelConfig
from readers import questions
from readers.questions import KNOWN, gradients_are_right, vector, wrapped
from reference import sigmoid, softmax

QUESTIONS = [
    Example(
        "several words, overlapping, one missing",
        tuple("Mary Ann met Tom . Ann ran , Tom Thumb did not .".split()),
        tuple("then @placeholder ran home to Tom .".split()),
        (("Mary", "Ann"), ("Ann",), ("Tom", "Thumb"), ("Nobody",)),
        0,
    ),
    Example("short", ("x",), (PLACEHOLDER,), (("x",), ("y",)), 0),
]


def build(hidden=4):
    return questions.build(LSTMLanguageModelReader, LSTMLanguageModelConfig(hidden=hidden))


def word_probabilities(reader, question, text):
    """p(w_t | w_1 … w_{t−1}) for t = 2 …, among the distinct words of the question."""
    W, U, b = (t.detach().numpy() for t in (reader.input_weight, reader.recurrent_weight, reader.bias))
    texts = (question.document, wrapped(question.query), *question.candidates)
    own = sorted({word for words in texts for word in words} - {PLACEHOLDER})
    rows = [KNOWN.index(word) if word in KNOWN else len(KNOWN) for word in own]
    weight, bias = reader.output.detach().numpy(), reader.output_bias.detach().numpy()
    h = c = np.zeros(weight.shape[1])
    result = []
    for word, following in pairwise(text):
        f, i, g, o = np.split(vector(reader, word) @ W + h @ U + b, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        distribution = softmax(np.array([weight[row] @ h + bias[row] for row in rows]))
        result.append(distribution[own.index(following)])
    return result


def filled(question, candidate):
    blank = question.query.index(PLACEHOLDER)
    return ("@begin", *question.query[:blank], *candidate, *question.query[blank + 1 :], "@end")


def test_a_candidate_has_the_product_of_the_words_of_the_filled_in_query():
    reader, collator = build()
    output = reader(tensors(collator(QUESTIONS)), attention=True)
    for b, question in enumerate(QUESTIONS):
        D = len(question.document)
        products = []
        for candidate in question.candidates:
            p = word_probabilities(reader, question, question.document + filled(question, candidate))
            products.append(np.prod(p[D - 1 :]))  # of @begin, of the query's words and of @end
        n = len(products)
        np.testing.assert_allclose(output.log_query[b, :n].exp().detach().numpy(), products, rtol=1e-9)
        present = np.array([not set(words).isdisjoint(question.document) for words in question.candidates])
        expected = np.where(present, products, 0) / np.sum(np.array(products)[present])
        np.testing.assert_allclose(output.log_probabilities[b, :n].exp().detach().numpy(), expected, rtol=1e-9)
    assert output.document_attention is None
    assert output.hop_attention == ()


def test_the_loss_is_the_mean_over_all_words_of_documents_and_queries_with_their_answers():
    reader, collator = build()
    batch = tensors(collator(QUESTIONS))
    logs = []
    for question in QUESTIONS:
        text = question.document + filled(question, question.candidates[0])  # the answer of both
        logs += list(np.log(word_probabilities(reader, question, text)))
    assert language_loss(reader(batch), batch).item() == pytest.approx(-np.mean(logs), rel=1e-9)
    with pytest.raises(TypeError, match="no log_document"):
        language_loss(ReaderOutput(torch.zeros(1, 2)), batch)


def test_queries_are_filled_in_whole():
    _, collator = build()
    batch = tensors(collator(QUESTIONS))
    words, mask = filled_queries(batch)
    spelling: dict[int, str] = {}  # of each type
    for b, question in enumerate(QUESTIONS):
        spelling |= dict(zip(batch.document[b].tolist(), question.document, strict=False))
        spelling |= dict(zip(batch.query[b].tolist(), wrapped(question.query), strict=False))
        for c, candidate in enumerate(question.candidates):
            spelling |= dict(zip(batch.candidates[b, c].tolist(), candidate, strict=False))
    for b, question in enumerate(QUESTIONS):
        for c, candidate in enumerate(question.candidates):
            got = tuple(spelling[word] for word in words[b, c][mask[b, c]].tolist())
            assert got == filled(question, candidate)


def test_gradients_of_the_loss_and_of_the_answer():
    reader, collator = build(hidden=2)
    batch = tensors(collator(QUESTIONS))

    def both(output, batch):
        return language_loss(output, batch), answer_loss(output, batch)

    assert gradients_are_right(reader, batch, both)


def test_first_weights():
    words, generator = torch.zeros(7, 512), torch.Generator().manual_seed(0)
    reader = LSTMLanguageModelReader(LSTMLanguageModelConfig(), Basis(words, 0, generator=generator))
    assert reader.output.shape == (8, 512)
    for weight in (reader.output, reader.input_weight, reader.recurrent_weight):
        assert weight.abs().max().item() == pytest.approx(512**-0.5, rel=0.01)
    assert reader.bias.view(4, 512).mean(dim=1).tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"hidden": 0}, "hidden = 0 is too small; use 1 or more"),
        ({"dropout": 1.0}, "dropout = 1.0 is too large; use 0 or more and less than 1"),
    ],
)
def test_impossible_settings(setting, message):
    with pytest.raises(ConfigError) as error:
        LSTMLanguageModelConfig(**setting)
    assert message in str(error.value)


def test_in_training_the_loss_and_its_gradient_are_the_same_without_those_of_wrong_candidates():
    reader, collator = build()
    batch = tensors(collator(QUESTIONS))
    answers, losses, gradients = [], [], []
    for mode in (False, True):
        reader.train(mode).zero_grad()
        output = reader(batch)
        losses.append(language_loss(output, batch))
        losses[-1].backward()
        answers.append(output.log_probabilities.detach())
        gradients.append({name: weight.grad.clone() for name, weight in reader.named_parameters()})
    torch.testing.assert_close(losses[1], losses[0])
    torch.testing.assert_close(answers[1], answers[0])
    torch.testing.assert_close(gradients[1], gradients[0])
    read = []
    reader.dropout.register_forward_hook(lambda layer, values, result: read.append(values[0].requires_grad))
    reader(batch)
    assert read.count(False) == 2  # word vectors and states of the queries with every candidate
