"""Which words are of which kind, rule by rule."""

import pytest

from gareader.building.kinds import kinds


def labelled(*tagged):
    """The words of a book written `word/TAG …` with their kinds, where they have one."""
    pairs = [[token.rsplit("/", 1) for token in sentence.split()] for sentence in tagged]
    sentences = [tuple(word for word, _ in sentence) for sentence in pairs]
    result = kinds(sentences, [[tag for _, tag in sentence] for sentence in pairs])
    return [
        [(word, kind) for word, kind in zip(words, row, strict=True) if kind]
        for words, row in zip(sentences, result, strict=True)
    ]


def test_kinds_by_tag():
    (row,) = labelled("the/DT girl/NN walked/VBD to/TO houses/NNS in/IN the/DT quiet/JJ rain/NN ./.")
    assert row == [("girl", "CN"), ("walked", "V"), ("to", "P"), ("houses", "CN"), ("in", "P"), ("rain", "CN")]


def test_of_a_name_of_several_words_the_last_stands_for_it():
    (row,) = labelled("then/RB Johnny/NNP Chuck/NNP and/CC Peter/NNP ran/VBD ./.")
    assert row == [("Chuck", "NE"), ("Peter", "NE"), ("ran", "V")]


def test_a_name_is_one_wherever_it_stands_in_the_book():
    rows = labelled("Cecily/RB laughed/VBD ./.", "so/RB Cecily/NNP came/VBD ./.", "and/CC Cecily/NNP ran/VBD ./.")
    assert [row[0] for row in rows] == [("Cecily", "NE")] * 3


def test_a_capital_that_is_seldom_a_name_is_none():
    rows = labelled("Then/RB he/PRP came/VBD ./.", "Then/RB she/PRP came/VBD ./.", "Then/NNP Ann/NNP came/VBD ./.")
    assert rows == [[("came", "V")], [("came", "V")], [("Ann", "NE"), ("came", "V")]]


def test_adjectives_of_names_count_inside_a_sentence_only():
    rows = labelled("an/DT Irish/JJ song/NN", "Quiet/JJ rain/NN")
    assert rows == [[("Irish", "NE"), ("song", "CN")], [("rain", "CN")]]


@pytest.mark.parametrize("word", ["night", "first", "left", "dollars"])
def test_times_ordinals_and_listed_words_are_entities(word):
    assert labelled(f"the/DT {word}/NN") == [[(word, "NE")]]


def test_rare_nouns_are_taken_for_names():
    rows = labelled("the/DT ogre/NN saw/VBD the/DT king/NN", "he/PRP ogled/VBD a/DT wibbling/JJ zither/NN")
    assert rows == [[("ogre", "NE"), ("saw", "V"), ("king", "CN")], [("ogled", "V"), ("zither", "NE")]]


def test_signs_and_numbers_have_no_kind():
    assert labelled("``/`` 1984/CD 's/VBZ --/: -LRB-/-LRB-") == [[]]
