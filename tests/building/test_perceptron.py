"""The perceptron tagger gives the tags that NLTK's own code gives."""

import lzma

import pytest

from gareader.building.perceptron import Perceptron
from gareader.core.errors import BuildError


def test_the_same_tags_as_nltk(nltk_data, shared_data):
    from nltk.tag.perceptron import PerceptronTagger

    with lzma.open(shared_data / "cbt" / "cbt_valid.txt.xz", "rt", encoding="utf-8") as lines:
        sentences = [line.split() for line, _ in zip(lines, range(400), strict=False)]
    sentences += ["1984 was the 3rd year -- so 12-year-old Ann said .".split(), ["!"], ["-"], ["x" * 500]]
    theirs = PerceptronTagger()
    expected = [[tag for _, tag in theirs.tag(words)] for words in sentences]
    tag = Perceptron.load().tag
    assert tag(sentences) == expected
    assert [tag([words])[0] for words in sentences[:50]] == expected[:50]  # however many at once
    assert tag([]) == []


def test_without_its_data_it_says_what_to_type(monkeypatch, tmp_path):
    import nltk

    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    with pytest.raises(BuildError, match=r"python -m nltk\.downloader averaged_perceptron_tagger_eng"):
        Perceptron.load()
