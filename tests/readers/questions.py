"""Two small questions, a reader with weights far from small, and its words as a transcription takes them."""

import numpy as np
import torch

from gareader.data.batching import Collator
from gareader.data.examples import Example
from gareader.data.vectors import random_vector
from gareader.data.vocabulary import Alphabet, Vocabulary
from gareader.readers.reader import Basis

QUESTIONS = [
    Example(
        "several words, overlapping, one missing",
        tuple("Mary Ann met Tom . Ann ran , Tom Thumb did not .".split()),
        tuple("then @placeholder ran home to Tom .".split()),
        (("Mary", "Ann"), ("Ann",), ("Tom", "Thumb"), ("Nobody",)),
        1,
    ),
    Example("short", ("x", "y", "x"), ("@placeholder",), (("x",), ("y",)), 0),
]
KNOWN = ["@begin", "@placeholder", "@end", "Mary", "Ann", "met", "Tom", ".", "ran"]
WIDTH, SEED = 5, 11


def build(reader_class, config, spread=0.7, *, width=WIDTH, seed=1, **collator):
    """The reader in float64, and its collator."""
    generator = torch.Generator().manual_seed(seed)
    words = torch.randn(len(KNOWN), width, dtype=torch.float64, generator=generator)
    alphabet = Alphabet.of(KNOWN)
    reader = reader_class(config, Basis(words, len(alphabet), generator=generator)).double()
    for parameter in reader.parameters():  # far from the small initial values, so that every term counts
        if parameter.requires_grad:
            torch.nn.init.normal_(parameter, 0, spread, generator=generator)
    return reader.eval(), Collator(Vocabulary(KNOWN), alphabet, width=width, seed=SEED, **collator)


def vector(reader, word, scale=1.0):
    """Of a word: its row, or `scale` times the random vector of its spelling."""
    table = numbers(reader.embed.words)
    if word in KNOWN:
        return table[KNOWN.index(word)]
    return scale * random_vector(word, table.shape[1], SEED).astype(np.float64)


def vectors(reader, text, scale=1.0):
    """Of all words of a text."""
    return [vector(reader, word, scale) for word in text]


def wrapped(query):
    return ["@begin", *query, "@end"]


def numbers(parameter):
    return parameter.detach().numpy()


def arrays(module):
    """The weights as numpy arrays, by name."""
    return {name: numbers(value) for name, value in module.state_dict().items()}


def assert_points(output, b, s):
    """Row b of the output is what the attention s over its document gives: attention, mass and probabilities."""
    question = QUESTIONS[b]
    mass = [
        sum(s[i] for i, word in enumerate(question.document) if word in candidate) for candidate in question.candidates
    ]
    C, D = len(question.candidates), len(question.document)
    np.testing.assert_allclose(numbers(output.document_attention[b, :D]), s, rtol=1e-9)
    assert (output.document_attention[b, D:] == 0).all()
    np.testing.assert_allclose(numbers(output.log_mass[b, :C].exp()), mass, rtol=1e-9, atol=1e-300)
    assert_answers(output, b, question, np.array(mass) / sum(mass))


def assert_answers(output, b, question, probabilities):
    """Row b of the output gives these probabilities to the candidates of the question."""
    got = numbers(output.log_probabilities[b, : len(question.candidates)].exp())
    np.testing.assert_allclose(got, probabilities, rtol=1e-9, atol=1e-300)


def gradients_are_right(reader, batch, loss):
    """Whether the loss has the gradient of its finite differences, by every weight that learns."""
    names, values = zip(*((n, p) for n, p in reader.named_parameters() if p.requires_grad), strict=True)

    def run(*parameters):
        return loss(torch.func.functional_call(reader, dict(zip(names, parameters, strict=True)), (batch,)), batch)

    return torch.autograd.gradcheck(run, values, fast_mode=True)


def assert_tokens_are_dropped(reader, batch, loss):
    """Of a reader that drops nearly all: it falls on the tokens of document and query, so that no word has a say."""
    shapes = []
    reader.dropout.register_forward_hook(lambda layer, values, result: shapes.append(values[0].shape))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        loss(reader.train()(batch), batch).backward()
    assert shapes == [(*words.shape, WIDTH) for words in (batch.document, batch.query)]
    assert (reader.embed.words.grad == 0).all()
