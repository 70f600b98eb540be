"""Candidates proposed from texts of several genres, by what stands around the blank."""

import pytest

from gareader.data.language.blanks import Kind, is_person
from gareader.data.language.candidates import LIMIT, find_candidates
from gareader.data.text import paragraphs, query_words

FABLE = (
    'Once an old woman had a fat goose. One day a sly fox came to the woman\'s house. "Good morning," said the fox. '
    "The old woman shut the door, but the goose, who was curious, opened the window. The fox ran into the kitchen."
)
NEWS = (
    "President Barack Obama met Angela Merkel in Berlin on Tuesday. Obama said the talks about the Bank of England had "
    "cost $ 3.5 million. Merkel praised Mr. Obama. The two leaders will meet again on May 4 in Paris, or in 2016."
)
STORY = "Anna met Tom Grey and Mary. Tom gave Anna a blue ball, and Mary laughed. Tom Grey was tired and hungry."
RECIPE = "Beat two eggs with 200 grams of sugar. Add the flour and a cup of warm milk. Bake the cake for 40 minutes."
CROSSING = (
    "Ida Blom closed the bridge from 3 May to June 7, and Otto paid 1,200 crowns. On the 19th forty wagons and "
    "twenty-one carts waited."
)
NUMBERS = ["Ida Blom", "Otto", "3", "7", "forty", "twenty-one", "1,200"]


def proposed(document, query, *kinds):
    return [" ".join(words) for words in find_candidates(paragraphs(document), query_words(query), kinds)]


@pytest.mark.parametrize(
    ("document", "query", "expected"),
    [
        # names whole, without titles, each person once by the most complete name
        (NEWS, "___ praised the talks.", ["Barack Obama", "Angela Merkel", "Berlin", "Bank of England", "Paris"]),
        (STORY, "___ gave Anna the ball.", ["Tom Grey", "Anna", "Mary"]),
        # marks of anonymised names
        ("@entity1 met @entity2 @entity3. @entity1 left.", "___ left.", ["@entity1", "@entity2", "@entity3"]),
        # a name of which a part stands beside the blank
        ("Sammy Jay flew off. Peter Rabbit saw Sammy Jay.", "Sammy ___ flew off.", ["Jay", "Peter Rabbit"]),
        # after a determiner nouns, without determiner, with their modifiers where these are fixed
        (STORY, "Tom had a ___.", ["blue ball", "Tom Grey", "Anna", "Mary"]),
        (RECIPE, "Add the ___.", ["two eggs", "200 grams", "sugar", "flour", "cup", "warm milk", "cake", "40 minutes"]),
        # numbers
        (NEWS, "It cost $ ___.", ["3.5 million", "two", "4", "2016"]),
        (RECIPE, "Bake it for ___ minutes.", ["two", "200", "40"]),
        # verbs and adjectives
        (STORY, "Tom Grey was ___ and sad.", ["blue", "tired", "hungry"]),
        (STORY, "She ___ the ball.", ["met", "gave", "laughed", "tired"]),
        # numbers in words, before a plural, at the end and after only
        (CROSSING, "___ wagons went by rail.", NUMBERS),
        (CROSSING, "The price rose to ___.", NUMBERS),
        (CROSSING, "It took only ___ of them.", NUMBERS),
        # days with their months
        (
            CROSSING,
            "It was closed on ___.",
            [*NUMBERS, "3 May", "June 7", "19th", "June", "1,200 crowns", "twenty-one carts"],
        ),
        # somebody, before who; a name, where it could be a verb or an adjective
        (CROSSING, "It was ___ who paid.", ["Ida Blom", "Otto"]),
        (STORY, "Her hunger made ___ laugh.", ["Tom Grey", "Anna", "Mary", "blue", "tired", "hungry", "blue ball"]),
        # a noun after a possessive that could be an object
        (STORY, "He gave Anna her ___.", ["blue ball", "Tom Grey", "Anna", "Mary"]),
        # names that are too few
        ("Tom saw a dog and a cat.", "___ saw the cat.", ["Tom", "dog", "cat"]),
        ("the dog saw the cat", "___ saw it.", ["dog", "cat"]),
        ("It was so.", "___ was so.", []),
        ("", "___ was so.", []),
    ],
)
def test_what_the_blank_asks_for(document, query, expected):
    found = proposed(document, query)
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("query", ["They met on ___.", "They met in ___."])
def test_dates_and_places_after_a_preposition(query):
    assert {"Tuesday", "May 4", "2016", "Berlin", "Paris"} <= set(proposed(NEWS, query))


def test_persons_before_a_verb_of_speaking():
    assert proposed(FABLE, "___ said good morning.") == ["old woman", "fat goose", "fox"]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Kind.PERSON, {"fox", "old woman", "fat goose"}),
        (Kind.PLACE, {"house", "kitchen"}),
        (Kind.NOUN, {"fox", "old woman", "fat goose", "day", "house", "Good morning", "door", "window", "kitchen"}),
        (Kind.BARE, {"day", "Good morning"}),
        (Kind.DATE, {"day", "Good morning"}),
    ],
)
def test_kinds_of_a_question(kind, expected):
    assert set(proposed(FABLE, "___ .", kind)) == expected


def test_persons_are_named_with_all_that_is_said_of_them():
    text = (
        "The wizard's old servant opened. The servant was tired. A young servant slept, and a very old man with him. "
        "The old man snored."
    )
    persons = set(proposed(text, "___ opened.", Kind.PERSON))
    assert {"wizard 's old servant", "young servant", "very old man"} <= persons
    assert persons.isdisjoint({"servant", "old servant", "old man", "man"})


def test_what_a_question_says_is_no_answer_to_it():
    assert "fox" not in proposed(FABLE, "___ saw the fox.", Kind.PERSON)
    assert "Tom Grey" in proposed(STORY, "___ saw that Tom Grey was tired.")  # in a cloze, a name may be asked again


def test_a_word_beside_the_blank_is_no_candidate():
    assert proposed("An apple tree and a pear tree grew by the wall.", "The ___ tree grew.") == [
        "apple",
        "pear",
        "wall",
    ]


def test_modifiers_are_part_of_a_candidate_where_they_tell_two_apart():
    two = "The old man saw the young man. The old man ran. The young man fled. The man fell."
    assert proposed(two, "The ___ ran.") == ["old man", "young man", "man"]
    assert proposed("The man ran. The man slept. The old man fell.", "The ___ fled. ") == ["man"]


def test_the_most_frequent_come_first_up_to_the_limit():
    many = (
        " ".join(f"He saw Ab{chr(97 + n % 26)}{chr(97 + n // 26)}er." for n in range(150)) + " He saw Zoe. He saw Zoe."
    )
    found = proposed(many, "___ ran.")
    assert len(found) == LIMIT
    assert found[0] == "Zoe"


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        *((noun, True) for noun in ("wolves", "wives", "fairies", "washerwomen", "water-rat", "goldsmith", "Foxes")),
        *((noun, False) for noun in ("house", "houses", "dress", "talks", "morning")),
    ],
)
def test_nouns_for_persons(noun, expected):
    assert is_person(noun) is expected


LETTER = """To: Greta Holm
From: Otto Brandl
Subject: Your room in Port Sable

Dear Greta,

we expect you and Dr. Bergstrom on Friday. Please bring the papers that our
porter, Paul Amsel, gave you in spring; the room with the view of the harbour is
yours.

Yours
Klara Vell

Room 14
"""


def test_names_do_not_go_on_in_the_next_paragraph():
    names = proposed(LETTER, "Greetings from ___.", Kind.NAME)
    assert names == ["Greta Holm", "Otto Brandl", "Port Sable", "Bergstrom", "Paul Amsel", "Klara Vell"]
