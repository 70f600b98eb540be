"""Which words are of which kind, rule by rule."""

import pytest

from gareader.building.kinds import kinds
from gareader.data.language.news_words import news_words


def labelled(*tagged):
    """The words of a book written `word/TAG …` with their kinds, where they have one."""
    pairs = [[token.rsplit("/", 1) for token in sentence.split()] for sentence in tagged]
    sentences = [tuple(word for word, _ in sentence) for sentence in pairs]
    result = kinds(sentences, [[tag for _, tag in sentence] for sentence in pairs])
    return [
        [(word, kind) for word, kind in zip(words, row, strict=True) if kind]
        for words, row in zip(sentences, result, strict=True)
    ]


def entities(*sentences):
    """The entities of sentences whose words need no tags: names are tagged as such, other words as nouns."""
    tagged = [
        " ".join(f"{word}/{'NNP' if word[0].isupper() else 'NN'}" for word in sentence.split())
        for sentence in sentences
    ]
    return [word for row in labelled(*tagged) for word, kind in row if kind == "NE"]


def test_kinds_by_tag():
    (row,) = labelled("the/DT girl/NN walked/VBD to/TO houses/NNS in/IN the/DT quiet/JJ rain/NN ./.")
    assert row == [("girl", "CN"), ("walked", "V"), ("to", "P"), ("houses", "CN"), ("in", "P"), ("rain", "CN")]


def test_of_a_name_of_several_words_the_last_stands_for_it():
    (row,) = labelled("then/RB Johnny/NNP Chuck/NNP and/CC Peter/NNP ran/VBD ./.")
    assert row == [("Chuck", "NE"), ("Peter", "NE"), ("ran", "V")]


def test_a_name_is_one_wherever_it_stands_in_the_book():
    rows = labelled("Jack/RB laughed/VBD ./.", "so/RB Jack/NNP came/VBD ./.", "and/CC Jack/NNP ran/VBD ./.")
    assert [row[0] for row in rows] == [("Jack", "NE")] * 3


@pytest.mark.parametrize("word", ["Once", "Come", "These", "Shadow", "Girl"])
def test_a_capital_does_not_make_a_name_of_an_ordinary_word(word):
    assert entities(f"he saw {word} there", f"so {word} went", f"then {word} came") == []


@pytest.mark.parametrize("word", ["Brown", "Squirrel"])
def test_a_word_is_not_ordinary_that_the_news_has_as_a_name_or_seldom(word):
    assert entities(f"so {word} went", f"then {word} came") == [word, word]


def test_an_ordinary_word_behind_a_name_is_part_of_it():
    assert entities("old Reddy Bear saw it", "so Reddy Bear came") == ["Bear", "Bear"]
    assert entities("the Story Girl saw it", "so the Story Girl came") == []  # Story is no name
    assert entities("old Reddy Bear saw it", *["a bear came"] * 5) == ["Reddy"]  # the book knows other bears


@pytest.mark.parametrize("word", ["A", "I", "Ü", "Mr.", "God", "Sunday", "October", "Christmas"])
def test_letters_titles_and_the_calendar_are_no_names(word):
    assert entities(f"and {word} Ann saw {word} there") == ["Ann"]


@pytest.mark.parametrize("word", ["King", "Queen", "Prince", "Mother"])
def test_rulers_are_persons_by_themselves(word):
    assert entities(f"then {word} came in", f"the {word.lower()} sat down", f"the {word.lower()} ate") == [word]


def test_a_word_that_begins_sentences_only_is_no_name_unless_nobody_knows_it():
    assert entities("Brisk he went", "Brisk she came") == []
    assert entities("Dschemil went", "Dschemil came") == ["Dschemil", "Dschemil"]


def test_a_capital_that_is_seldom_tagged_as_a_name_is_none():
    assert labelled("so/RB Jack/VB it/PRP", "to/TO Jack/VB it/PRP", "and/CC Jack/NNP it/PRP") == [[], [("to", "P")], []]


def test_adjectives_of_names_count_inside_a_sentence_only():
    rows = labelled("a/DT French/JJ song/NN", "the/DT French/JJ song/NN", "Quiet/JJ rain/NN")
    assert rows == [[("French", "NE"), ("song", "CN")]] * 2 + [[("rain", "CN")]]


def test_a_name_in_capitals_is_one_but_not_in_a_heading():
    assert entities("so Jack came", "and JACK went") == ["Jack", "JACK"]
    assert entities("so Jack came", "HOW JACK WENT home") == ["Jack"]
    assert entities("so HAVE it", "and DO it", "THE end", "and I B. do it") == []


def test_capitals_of_words_that_nobody_knows_are_names():
    assert entities("so the SUNCHILD came", "said TOOTH-POWDER then") == ["SUNCHILD", "TOOTH-POWDER"]
    assert entities("said he INDIGNANTLY") == []  # every story has it


def test_numerals_of_chapters_are_names_in_a_heading_too():
    assert entities("CHAPTER XIV THE END of it") == ["XIV"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("one day", ["day"]),
        ("every day", ["day"]),
        ("the day", []),
        ("that same day", []),
        ("next year", []),
        ("a year ago", []),
        ("a year before", ["before"]),
        ("the day before", []),
        ("two days", ["days"]),
        ("two days later", []),
        ("some years ago", []),
        ("the years", []),
        ("the days", ["days"]),
        ("ten years old", ["old"]),
        ("an old man", []),
        ("the morning", ["morning"]),
        ("next morning", []),
        ("this morning", ["morning"]),
        ("this evening", []),
        ("good night", []),
        ("at midnight", ["midnight"]),
        ("the night before", ["before"]),
        ("before the wind", []),
        ("to-morrow", []),
        ("Sunday", []),
        ("on Sunday", []),
        ("the first", ["first"]),
        ("daily bread", ["daily"]),
    ],
)
def test_durations_times_and_ordinals_are_entities_and_dates_are_none(text, found):
    assert entities(text) == found


@pytest.mark.parametrize("word", ["left", "fire", "drowned", "theft", "dollars"])
def test_words_of_the_recognisers_lists_are_entities(word):
    assert labelled(f"the/DT {word}/NN") == [[(word, "NE")]]


def test_nouns_that_the_news_seldom_has_are_rare():
    rows = labelled("the/DT ogre/NN saw/VBD the/DT king/NN", "he/PRP ogled/VBD a/DT zither/NN")
    assert rows == [[("ogre", "RN"), ("saw", "V"), ("king", "CN")], [("ogled", "V"), ("zither", "RN")]]


def test_a_rare_word_is_a_noun_if_it_often_is_one():
    assert labelled("do/VB yez/VBP go/VB", "do/VB yez/VBP see/VB", "of/IN yez/NN") == [
        [("do", "V"), ("yez", "V"), ("go", "V")],
        [("do", "V"), ("yez", "V"), ("see", "V")],
        [("of", "P"), ("yez", "CN")],
    ]
    assert [row[1] for row in labelled("do/VB yez/VBP go/VB", "of/IN yez/NN")] == [("yez", "RN")] * 2


@pytest.mark.parametrize("word", ["croaking", "shyly", "teeniest", "wonted"])
def test_verbs_adverbs_and_adjectives_that_the_tagger_takes_for_nouns_are_not_rare_nouns(word):
    assert word not in news_words()
    assert labelled(f"the/DT {word}/NN") == [[(word, "CN")]]


@pytest.mark.parametrize("word", ["fairies", "clover", "to-night"])
def test_what_many_stories_have_is_not_rare(word):
    assert word not in news_words()
    assert labelled(f"the/DT {word}/NN") == [[(word, "CN")]]


def test_joined_nouns_are_nouns_even_where_the_tagger_takes_them_for_adjectives():
    assert labelled("the/DT elm-tree/JJ") == [[("elm-tree", "RN")]]
    assert labelled("a/DT ghost-like/JJ man/NN") == [[("man", "CN")]]
    assert labelled("a/DT leathern/JJ bag/NN") == [[("bag", "CN")]]


def test_a_rare_noun_with_a_capital_is_a_name():
    assert labelled("Dee/UH ,/, dee/NN ,/, dee/NN !/.") == [[("Dee", "NE"), ("dee", "RN"), ("dee", "RN")]]


@pytest.mark.parametrize("word", ["a|b", "A|b", "A|B", "zither|s"])
def test_a_word_with_a_bar_is_no_candidate(word):
    assert labelled(f"the/DT {word}/NN", f"the/DT {word}/NNP") == [[], []]


def test_signs_and_numbers_have_no_kind():
    assert labelled("``/`` 1984/CD 's/VBZ --/: -LRB-/-LRB-") == [[]]
