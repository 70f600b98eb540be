"""Counts of words in the news: each word by itself as in the whole table."""

import pytest

from gareader.data.language.news_words import lower_share, news_words, ordinary


def test_every_word_has_its_counts():
    for word, (lower, capital) in news_words().items():
        assert lower_share(word.upper()) == lower / (lower + capital)
        assert ordinary(word) == (lower >= 1000)


@pytest.mark.parametrize("word", ["", "a\t1307982", "aaaa", "zzzz", "\uffff"])
def test_other_words_have_none(word):
    assert lower_share(word) == 0
    assert not ordinary(word)
