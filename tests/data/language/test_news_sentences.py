"""Sentences of raw news text."""

from gareader.data.language.sentences import news_sentences, parts


def rows(text: str) -> list[str]:
    """The sentences as text."""
    return [" ".join(words) for words in news_sentences(text)]


def test_a_line_of_its_own_is_a_sentence() -> None:
    text = "This paragraph is a single line that goes on for long.\nBest of Japan\nChina is next to it, and so is Peru."
    assert rows(text)[1:] == ["Best of Japan", "China is next to it , and so is Peru ."]


def test_a_wrapped_line_goes_on() -> None:
    text = "On Monday President Barack Obama met the\nPresident of Egypt in the old town of\nCairo, and they spoke."
    assert len(rows(text)) == 1


def test_a_line_that_begins_in_lower_case_goes_on() -> None:
    assert rows("A short line\nthat goes on here, although the next word had been no longer than that.") == [
        "A short line that goes on here , although the next word had been no longer than that ."
    ]


def test_parts_of_words_with_hyphens() -> None:
    assert parts("U.S.-led") == ["U.S.", "-", "led"]
    assert parts("four-year-old") == ["four", "-", "year", "-", "old"]
    assert parts("his/her") == ["his", "/", "her"]
    for whole in ("e-mail", "co-founder", "al-Assad", "9/11", "--", "-", "two-fold", "http://cnn.com/a-b"):
        assert parts(whole) == [whole]
