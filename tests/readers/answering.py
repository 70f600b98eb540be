"""Questions, a small reader and its words, for the tests of readers that answer from a vocabulary."""

import numpy as np
import torch

from gareader.batching import Collator
from gareader.examples import Example
from gareader.readers import READERS
from gareader.readers.reader import Basis
from gareader.vectors import random_vector
from gareader.vocabulary import Alphabet, Vocabulary
from reference import softmax

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


def build(name, **settings):
    """A reader in double precision, its weights far from their small first values, and its collator."""
    generator = torch.Generator().manual_seed(1)
    words = torch.randn(len(KNOWN), WIDTH, dtype=torch.float64, generator=generator)
    config = READERS[name].config(**{"hidden": 4, "dropout": 0.0, **settings})
    reader = READERS[name].reader(config, Basis(words, 30, generator=generator)).double()
    for parameter in reader.parameters():
        if parameter.requires_grad:
            torch.nn.init.normal_(parameter, 0, 0.7, generator=generator)
    return reader.eval(), Collator(Vocabulary(KNOWN), Alphabet.of(KNOWN), width=WIDTH, seed=SEED)


def arrays(module):
    """The weights as numpy arrays, by name."""
    return {name: value.detach().numpy() for name, value in module.state_dict().items()}


def vectors(reader, words):
    """x of each word: its row, or the random vector of its spelling."""
    table = reader.embed.words.detach().numpy()
    return [table[KNOWN.index(w)] if w in KNOWN else random_vector(w, WIDTH, SEED).astype(float) for w in words]


def wrapped(query):
    return ["@begin", *query, "@end"]


def answer(W, g, document, candidates):
    """p(a|d,q) ∝ exp(W(a) g) over the candidates that the document has; words without a row share the last."""
    scores = []
    for candidate in candidates:
        rows = [W[KNOWN.index(word)] if word in KNOWN else W[-1] for word in candidate]
        present = any(word in document for word in candidate)
        scores.append(sum(row @ g for row in rows) / len(rows) if present else -np.inf)
    return softmax(np.array(scores))


def assert_answers(output, b, question, probabilities):
    got = output.log_probabilities[b, : len(question.candidates)].exp().detach().numpy()
    np.testing.assert_allclose(got, probabilities, rtol=1e-9, atol=1e-300)


def gradients_are_right(reader, batch, loss):
    """Whether the gradient of every weight that learns is that of the loss."""
    names, values = zip(*((n, p) for n, p in reader.named_parameters() if p.requires_grad), strict=True)

    def run(*parameters):
        return loss(torch.func.functional_call(reader, dict(zip(names, parameters, strict=True)), (batch,)), batch)

    return torch.autograd.gradcheck(run, values, fast_mode=True)
