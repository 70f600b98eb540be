"""BiDAF for cloze questions against its equations, and its windows."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gareader.core.errors import ConfigError
from gareader.data.examples import Example
from gareader.nn.lstm import BiLSTM
from gareader.nn.tensors import tensors
from gareader.readers.bidaf_reader import BiDAFReader, CharacterCNN, windows
from gareader.readers.reader import Basis, answer_loss
from gareader.readers.settings import BiDAFConfig
from readers import questions
from readers.questions import WIDTH, gradients_are_right, vector, wrapped
from reference import bilstm, sigmoid, softmax

QUESTIONS = [
    Example(
        "several words, overlapping, one missing",
        tuple("Mary Ann met Tom . Ann ran , Tom Thumb did not run home , and that was all .".split()),
        tuple("then @placeholder ran home to Tom .".split()),
        (("Mary", "Ann"), ("Ann",), ("Tom", "Thumb"), ("Nobody",)),
        1,
    ),
    Example("short", ("x", "y", "x"), ("@placeholder",), (("x",), ("y",)), 0),
]
CONFIG = BiDAFConfig(window=5, hidden=3, dropout=0.0)


def build(config=CONFIG):
    return questions.build(BiDAFReader, config, 0.3)


def embedded(reader, collator, word):
    """Word vector beside the character CNN, through two highway layers."""
    table, filters, bias = (
        t.detach().numpy() for t in (reader.characters.table, reader.characters.weight, reader.characters.bias)
    )
    codes = collator.alphabet.encode([word], 10)[0][0]
    nothing = np.zeros(table.shape[1])
    letters = [nothing, nothing, *(table[code] for code in codes), nothing, nothing]
    answers = [
        [max(0, sum(F[:, j] @ letters[n + j] for j in range(5)) + b) for n in range(len(codes))]
        for F, b in zip(filters, bias, strict=True)
    ]
    x = np.concatenate([vector(reader, word), [max(row) for row in answers]])
    for layer in reader.highway:
        weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
        n = len(x)
        new = np.maximum(0, weight[:, :n].T @ x + bias[:n])
        g = sigmoid(weight[:, n:].T @ x + bias[n:])
        x = g * new + (1 - g) * x
    return x


def transcribed(reader, collator, question):
    """Probabilities of the candidates, attention over the document's words, and (place, a_t) of each window's word."""
    document, candidates = question.document, question.candidates
    names = {word for words in candidates for word in words}
    side = reader.config.window // 2
    cut = [
        range(max(0, i - side), min(len(document), i + side + 1)) for i, word in enumerate(document) if word in names
    ]
    H = [bilstm([embedded(reader, collator, document[i]) for i in places], reader.encode) for places in cut]
    U = bilstm([embedded(reader, collator, w) for w in wrapped(question.query)], reader.encode)
    w = np.concatenate([*reader.match.detach().numpy()])
    flat = [h for window in H for h in window]
    S = np.array([[w @ np.concatenate([h, u, h * u]) for u in U] for h in flat])
    a = [softmax(row) for row in S]
    b = softmax(S.max(axis=1))
    h_tilde = sum(b_t * h for b_t, h in zip(b, flat, strict=True))
    G = []
    for h, a_t in zip(flat, a, strict=True):
        u_tilde = sum(a_tj * u for a_tj, u in zip(a_t, U, strict=True))
        G.append(np.concatenate([h, u_tilde, h * u_tilde, h * h_tilde]))
    M, start = [], 0
    for around in cut:
        window = G[start : start + len(around)]
        start += len(around)
        for layer in reader.model:
            window = bilstm(window, layer)
        M += window
    w_p = reader.point.detach().numpy()[0]
    logits = [w_p @ np.concatenate([g, m]) for g, m in zip(G, M, strict=True)]
    places = [i for around in cut for i in around]
    masked = np.array([x if document[i] in names else -np.inf for x, i in zip(logits, places, strict=True)])
    p = softmax(masked)
    mass = np.array(
        [sum(p_t for p_t, i in zip(p, places, strict=True) if document[i] in words) for words in candidates]
    )
    seen = np.zeros(len(document))
    for p_t, i in zip(p, places, strict=True):
        seen[i] += p_t
    return mass / mass.sum(), seen, list(zip(places, a, strict=True))


@pytest.mark.parametrize("window", [1, 5, 19])
def test_equals_the_paper(window):
    reader, collator = build(replace(CONFIG, window=window))
    output = reader(tensors(collator(QUESTIONS)), attention=True)
    (hop,) = output.hop_attention
    for b, question in enumerate(QUESTIONS):
        D, Q = len(question.document), len(question.query) + 2
        probabilities, seen, attended = transcribed(reader, collator, question)
        got = output.log_probabilities[b, : len(probabilities)].exp().detach().numpy()
        np.testing.assert_allclose(got, probabilities, rtol=1e-9)
        np.testing.assert_allclose(output.document_attention[b, :D].detach().numpy(), seen, rtol=1e-9)
        assert (output.document_attention[b, D:] == 0).all()
        for i in range(D):
            rows = [a for place, a in attended if place == i] or [np.zeros(Q)]
            np.testing.assert_allclose(hop[b, i, :Q].detach().numpy(), np.mean(rows, axis=0), rtol=1e-9)


def test_windows_stand_around_every_mention():
    _, collator = build()
    places, mask = windows(tensors(collator(QUESTIONS)), 5)
    got = [[row[real].tolist() for row, real in zip(*pair, strict=True)] for pair in zip(places, mask, strict=True)]
    mentions = [0, 1, 3, 5, 8, 9]
    assert got[0] == [list(range(max(0, i - 2), i + 3)) for i in mentions]
    assert got[1] == [[0, 1, 2]] * 3 + [[]] * 3


def test_a_word_outside_every_window_changes_nothing():
    reader, collator = build()

    def answered(place):
        document = list(QUESTIONS[0].document)
        document[place] = "ran"
        return reader(tensors(collator([replace(QUESTIONS[0], document=tuple(document))]))).log_probabilities

    plain = reader(tensors(collator([QUESTIONS[0]]))).log_probabilities
    for place in range(12, 20):  # Thumb is word 9, and its window ends with word 11
        torch.testing.assert_close(answered(place), plain, rtol=1e-12, atol=0)
    for place in (2, 4, 7, 10, 11):
        assert not torch.allclose(answered(place), plain, rtol=1e-6)


def test_gradients_of_the_whole_reader():
    reader, collator = build(replace(CONFIG, hidden=2))
    batch = tensors(collator(QUESTIONS))
    assert gradients_are_right(reader, batch, answer_loss)


def test_what_dropout_falls_on():
    """The characters, the inputs of every LSTM, and what the last layer sees; all of it where all is dropped."""
    reader, collator = build(replace(CONFIG, dropout=0.99999))
    widths = []

    def note(layer, values, result):
        assert (result == 0).all()
        widths.append(values[0].shape[-1])

    for layer in (reader.characters.dropout, reader.dropout):
        layer.register_forward_hook(note)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        reader.train()(tensors(collator(QUESTIONS)))
    document = query = WIDTH + 100
    assert widths == [8, document, query, 8 * 3, 2 * 3, 10 * 3]


def test_first_weights():
    """N(0, 0.1) for LSTMs and characters, Glorot's uniform for the other matrices, zero for biases."""
    reader = BiDAFReader(BiDAFConfig(), Basis(torch.zeros(1, 100), 50, generator=torch.Generator().manual_seed(0)))
    fans = {
        "characters.weight": 5 * (8 + 100),
        "highway.0.weight": 200 + 200,
        "highway.1.weight": 200 + 200,
        "match": 3 + 200,
        "point": 1 + 1000,
    }
    for name, weight in reader.named_parameters():
        if "bias" in name:
            assert (weight == 0).all()
        elif name in fans:
            bound = (6 / fans[name]) ** 0.5
            assert 0.98 * bound < weight.abs().max() <= bound, name
            assert weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.1), name
        elif name != "embed.words":
            assert weight.std().item() == pytest.approx(0.1, rel=0.1), name


def test_sizes_of_the_paper():
    reader = BiDAFReader(BiDAFConfig(), Basis(torch.zeros(1, 100), 50, generator=torch.Generator().manual_seed(0)))
    assert reader.characters.table.shape == (50, 8)
    assert reader.characters.weight.shape == (100, 8, 5)
    assert reader.encode.lstm.weight_ih_l0.shape == (400, 200)
    assert [layer.lstm.input_size for layer in reader.model if isinstance(layer, BiLSTM)] == [800, 200]
    assert reader.point.shape == (1, 1000)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"window": 18}, "window = 18 is even; use 1 or more and odd, so that there is a middle"),
        ({"window": -1}, "window = -1 is too small; use 1 or more and odd"),
        ({"hidden": 0}, "hidden = 0 is too small; use 1 or more"),
        ({"dropout": 1.0}, "dropout = 1.0 is too large; use 0 or more and less than 1"),
    ],
)
def test_impossible_settings(setting, message):
    with pytest.raises(ConfigError) as error:
        BiDAFConfig(**setting)
    assert message in str(error.value)


def test_the_character_cnn_by_hand():
    layer = CharacterCNN(3, 2, inputs=1, span=3)
    with torch.no_grad():
        layer.table.copy_(torch.tensor([[5.0], [1.0], [-2.0]]))
        layer.weight.copy_(torch.tensor([[[1.0, 0.0, 0.0]], [[1.0, 10.0, 100.0]]]))  # the letter before; all three
        layer.bias.copy_(torch.tensor([0.5, 0.0]))
    characters = torch.tensor([[1, 2, 1], [2, 0, 0]])
    mask = torch.tensor([[True, True, True], [True, False, False]])
    got = layer(characters, mask)
    # Word 1: before its letters stand 0, 1, −2; the sums are 10 − 200, 1 − 20 + 100, −2 + 10. Word 2: 0; 10 · −2.
    assert got.tolist() == [[1.5, 81.0], [0.5, 0.0]]


def test_padding_of_characters_changes_nothing():
    layer = CharacterCNN(9, 4, generator=torch.Generator().manual_seed(1)).double()
    characters = torch.randint(9, (2, 8), generator=torch.Generator().manual_seed(2))
    mask = torch.arange(8) < torch.tensor([[8], [3]])
    with torch.no_grad():
        torch.testing.assert_close(layer(characters, mask)[1:], layer(characters[1:, :3], mask[1:, :3]))
