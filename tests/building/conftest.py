"""What the tests of builders share."""

import pytest

from gareader.data.language import perceptron
from gareader.data.language.perceptron import Perceptron

VERBS = frozenset("is was had said went came saw took made".split())
PREPOSITIONS = frozenset("in on at by to of for with from over under".split())
OTHER = frozenset("the a an and but he she it they his her not then so very old".split())


class SimpleTagger:
    """A tagger of a few words, for tests that need no real one."""

    def tag(self, sentences):
        return [[self.of(word) for word in words] for words in sentences]

    @staticmethod
    def of(word):
        if word[0].isupper():
            return "NNP"
        if word.lower() in VERBS:
            return "VBD"
        if word.lower() in PREPOSITIONS:
            return "IN"
        return "DT" if word in OTHER or not word[0].isalpha() else "NN"


@pytest.fixture
def simple_tagger(monkeypatch):
    monkeypatch.setattr(Perceptron, "load", SimpleTagger)
    perceptron.tagger.cache_clear()
    yield
    perceptron.tagger.cache_clear()
