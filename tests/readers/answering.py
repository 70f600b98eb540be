"""A small reader that answers from a vocabulary, and how such readers answer."""

import numpy as np

from gareader.readers.registry import READERS
from readers import questions
from readers.questions import KNOWN
from reference import softmax


def build(name, **settings):
    """The reader of that name, small, and its collator."""
    kind = READERS[name]
    return questions.build(kind.reader, kind.config(**{"hidden": 4, "dropout": 0.0, **settings}))


def answer(W, g, document, candidates):
    """p(a|d,q) ∝ exp(W(a) g) over the candidates that the document has; words without a row share the last."""
    scores = []
    for candidate in candidates:
        rows = [W[KNOWN.index(word)] if word in KNOWN else W[-1] for word in candidate]
        present = any(word in document for word in candidate)
        scores.append(sum(row @ g for row in rows) / len(rows) if present else -np.inf)
    return softmax(np.array(scores))
