"""Passages with twelve words in a row in common with other texts."""

from hypothesis import given
from hypothesis import strategies as st

from gareader.building.overlap import LENGTH, Excluded

WORDS = st.lists(st.sampled_from("abAB"), max_size=40)


def shares_a_run(one, other):
    runs = {tuple(word.lower() for word in other[i : i + LENGTH]) for i in range(len(other) - LENGTH + 1)}
    return any(tuple(word.lower() for word in one[i : i + LENGTH]) in runs for i in range(len(one) - LENGTH + 1))


@given(st.lists(WORDS, max_size=3), st.lists(WORDS.filter(len), min_size=1, max_size=6), st.integers(1, 4))
def test_the_rule_written_plainly(texts, sentences, length):
    found = Excluded.from_texts(texts).passages(sentences, length)
    expected = set()
    for start in range(len(sentences) - length + 1):
        passage = [word for sentence in sentences[start : start + length] for word in sentence]
        if any(shares_a_run(passage, text) for text in texts):
            expected.add(start)
    assert found == expected


def test_twelve_words_count_and_eleven_do_not():
    text = [f"w{i}" for i in range(12)]
    excluded = Excluded.from_texts([text])
    around = [("x", "y"), ("z",)]
    assert excluded.passages([*around, tuple(text[:5]), tuple(text[5:]), *around], 2) == {2}
    assert excluded.passages([*around, tuple(text[:5]), tuple(text[5:11]), *around], 2) == frozenset()
    assert excluded.passages([tuple(word.upper() for word in text)], 1) == {0}


def test_words_that_no_text_has_match_nothing():
    excluded = Excluded.from_texts([["a"] * 12])
    assert excluded.passages([("new",) * 12], 1) == frozenset()


def test_nothing_to_exclude():
    assert Excluded.from_texts([]).passages([("a",) * 12], 1) == frozenset()
