"""The memory network against a literal transcription of the paper, and what its self-supervision does."""

import numpy as np
import pytest
import torch

import reference
import synthetic
from gareader.core.errors import ConfigError
from gareader.data.batching import Collator
from gareader.data.examples import Example
from gareader.data.vocabulary import Alphabet, Vocabulary
from gareader.nn.tensors import tensors
from gareader.readers.memory_reader import MemoryOutput, MemoryReader, window_loss
from gareader.readers.reader import Basis, ReaderOutput
from gareader.readers.settings import MemoryConfig
from readers.questions import KNOWN, SEED, gradients_are_right, vector, wrapped

QUESTIONS = [
    Example(
        "several words, overlapping, one missing",
        tuple("Mary Ann met Tom . Ann ran , Tom Thumb did not . Tom".split()),
        tuple("then @placeholder ran home to Tom .".split()),
        (("Mary", "Ann"), ("Ann",), ("Tom", "Thumb"), ("Nobody",)),
        2,
    ),
    Example("short", ("x", "y", "x"), ("@placeholder",), (("x",), ("y",)), 1),
]
P, SCALE = 3, 0.6


def build(window, seed=1):
    generator = torch.Generator().manual_seed(seed)
    words = torch.randn(len(KNOWN), window * P, dtype=torch.float64, generator=generator)
    reader = MemoryReader(MemoryConfig(window=window, hidden=P, word_scale=SCALE), Basis(words))
    return reader, Collator(Vocabulary(KNOWN), Alphabet.of(KNOWN), width=window * P, seed=SEED)


def transcribed(reader, question):
    """Section 4: the windows' centres, their scores o_i, and the probability of each candidate."""
    b = reader.config.window

    def table(k, word):  # A_k
        return vector(reader, word, SCALE)[k * P : (k + 1) * P]

    def window(text, i):
        total = np.zeros(P)
        for k in range(b):
            j = i + k - b // 2
            if 0 <= j < len(text):
                total += table(k, text[j])
        return total

    d, q = question.document, wrapped(question.query)
    u = window(q, q.index("@placeholder"))
    memories = [i for i in range(len(d)) if any(d[i] in candidate for candidate in question.candidates)]
    o = {i: window(d, i) @ u for i in memories}
    weights = dict(zip(memories, reference.softmax(np.array([o[i] for i in memories])), strict=True))
    masses = np.array([sum(weights[i] for i in memories if d[i] in candidate) for candidate in question.candidates])
    return o, weights, masses / masses.sum()


@pytest.mark.parametrize("window", [1, 3, 5])
def test_equals_the_paper(window):
    reader, collator = build(window)
    batch = tensors(collator(QUESTIONS))
    output = reader(batch, attention=True)
    assert output.hop_attention == ()
    for b, question in enumerate(QUESTIONS):
        _, weights, probabilities = transcribed(reader, question)
        got = output.log_probabilities[b, : len(question.candidates)].exp().detach().numpy()
        np.testing.assert_allclose(got, probabilities, rtol=1e-9, atol=1e-300)
        expected = [weights.get(i, 0.0) for i in range(batch.document.shape[1])]
        np.testing.assert_allclose(output.document_attention[b].detach().numpy(), expected, rtol=1e-9, atol=1e-300)


def test_loss_equals_the_paper_and_is_zero_where_the_best_window_is_right():
    zeros = 0
    for seed in range(8):
        reader, collator = build(5, seed)
        for question in QUESTIONS:
            o, weights, _ = transcribed(reader, question)
            assert question.answer is not None
            right = [i for i in o if question.document[i] in question.candidates[question.answer]]
            target, best = max(right, key=o.get), max(o, key=o.get)
            expected = 0.0 if best == target else -np.log(weights[target])
            batch = tensors(collator([question]))
            reader.zero_grad()
            loss = window_loss(reader(batch), batch)
            loss.backward()
            assert loss.item() == pytest.approx(expected, rel=1e-9)
            assert (reader.embed.words.grad == 0).all().item() is (best == target)
            zeros += best == target
    assert 0 < zeros < 16  # both happened


def test_loss_is_the_mean_over_the_batch_and_counts_wrong_examples_only():
    reader, collator = build(5)
    examples = synthetic.corpus(20, seed=4)
    batch = tensors(collator(examples))
    losses = [window_loss(reader(one), one).item() for one in (tensors(collator([example])) for example in examples)]
    assert 0 < sum(loss == 0 for loss in losses) < 20
    assert window_loss(reader(batch), batch).item() == pytest.approx(np.mean(losses), rel=1e-9)


def test_a_tie_with_a_wrong_window_teaches():
    batch = tensors(build(5)[1]([QUESTIONS[1]]))
    scores = torch.zeros(1, 3, requires_grad=True)
    loss = window_loss(MemoryOutput(torch.zeros(1, 2), window_scores=scores), batch)
    loss.backward()
    assert loss.item() == pytest.approx(np.log(3))
    assert scores.grad is not None
    assert (scores.grad != 0).all()


def test_loss_needs_the_scores():
    with pytest.raises(TypeError, match="no window_scores"):
        window_loss(ReaderOutput(torch.zeros(1, 2)), build(5)[1]([QUESTIONS[1]]))


def test_gradients_of_the_whole_reader():
    reader, collator = build(3)
    batch = tensors(collator(QUESTIONS))
    assert window_loss(reader(batch), batch) > 0

    assert gradients_are_right(reader, batch, window_loss)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"window": 4}, "window = 4 is even; use 1 or more and odd, so that there is a middle"),
        ({"window": -1}, "window = -1 is too small; use 1 or more and odd"),
        ({"hidden": 0}, "hidden = 0 is too small; use 1 or more"),
        ({"dropout": 1.0}, "dropout = 1.0 is too large; use 0 or more and less than 1"),
        ({"word_scale": 0.0}, "word_scale = 0.0 is too small; use more than 0"),
        ({"update_words": False}, "update_words = False leaves this reader nothing to learn"),
    ],
)
def test_impossible_settings(setting, message):
    with pytest.raises(ConfigError) as error:
        MemoryConfig(**setting)
    assert message in str(error.value)


def test_first_weights():
    """The word vectors are all there is."""
    words = torch.randn(20, 1500, generator=torch.Generator().manual_seed(0))
    reader = MemoryReader(MemoryConfig(), Basis(words))
    ((name, weight),) = reader.named_parameters()
    assert name == "embed.words"
    torch.testing.assert_close(weight.detach(), 0.1 * words)


def test_word_vectors_must_have_room_for_every_place():
    with pytest.raises(ConfigError, match="window = 5 needs wider word vectors than 4"):
        MemoryReader(MemoryConfig(), Basis(torch.zeros(2, 4)))
    widths = {
        width: MemoryReader(MemoryConfig(), Basis(torch.zeros(2, width))).width for width in (1600, 1500, 1499, 5)
    }
    assert widths == {1600: 300, 1500: 300, 1499: 299, 5: 1}
