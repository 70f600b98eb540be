"""The perceptron tagger has NLTK's weights and gives NLTK's tags."""

import json
from itertools import pairwise

import numpy as np
import pytest

from gareader.data.language import perceptron
from gareader.data.language.perceptron import _WEIGHTS, Perceptron, _lines

SENTENCES = [
    ("1984 was the 3rd year -- so 12-year-old Ann said .", "CD VBD DT CD NN : IN JJ NNP VBD ."),
    ("`` I ca n't swim , '' cried the miller 's dogs .", "`` PRP MD RB VB , '' VBD DT NN POS NNS ."),
    ("!", "."),
    ("-", ":"),
    ("Suddenly Otto ran faster than zzyzx", "RB NNP VBD RBR IN NN"),
]
"""What NLTK 3.10.4 gives."""


@pytest.fixture(scope="module")
def tagger() -> Perceptron:
    return Perceptron.load()


def test_the_same_tags_as_nltk(tagger):
    sentences = [words.split() for words, _ in SENTENCES]
    expected = [tags.split() for _, tags in SENTENCES]
    assert tagger.tag(sentences) == expected
    assert [tagger.tag([words])[0] for words in sentences] == expected  # however many at once
    assert tagger.tag([]) == []
    assert len(tagger.tag([["x" * 500]])[0]) == 1


def test_tables_that_begin_anew_give_the_same_tags(monkeypatch):
    sentences = [f"The {noun} saw Mr. {name} .".split() for noun in ("dog", "fox") for name in ("Ito", "Zorn", "Blax")]
    tagger = Perceptron.load()
    expected = [tagger.tag([words]) for words in sentences]
    monkeypatch.setattr(perceptron, "_MOST_ROWS", 3)
    assert [tagger.tag([words]) for words in sentences] == expected
    assert len(tagger._own._numbers) < 10


def test_the_weights_are_those_of_nltk(shared_data):
    folder, name = shared_data / "nltk_data" / "taggers", "averaged_perceptron_tagger_eng"
    weights, certain, tags = (
        json.loads((folder / name / f"{name}.{part}.json").read_text()) for part in ("weights", "tagdict", "classes")
    )
    with np.load(_WEIGHTS, allow_pickle=False) as arrays:
        ours = dict(arrays)
    names = _lines(ours["names"])
    assert sorted(names) == sorted(tags)
    assert dict(map(str.split, _lines(ours["certain"]))) == certain
    ends = np.cumsum(ours["sizes"], dtype=int)
    rows = {
        feature: {
            names[tag]: weight / 1000 for tag, weight in zip(ours["tags"][a:b], ours["weights"][a:b], strict=True)
        }
        for feature, (a, b) in zip(_lines(ours["features"]), pairwise([0, *ends]), strict=True)
    }
    assert rows == {feature: row for feature, row in weights.items() if row}
