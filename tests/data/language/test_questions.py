"""Questions and the sentences that they become."""

from typing import Any

import pytest

from gareader.core.errors import ExampleError
from gareader.data.language.blanks import Kind
from gareader.data.language.questions import Cloze, as_cloze
from gareader.data.text import query_words, tokenise, words

CLOZES: dict[str, tuple[Any, ...]] = {
    # who, and the subject is asked for
    "Who opened the door?": ("___ opened the door .", Kind.PERSON),
    "Who was running after the pancake?": ("___ was running after the pancake .", Kind.PERSON),
    "Who had three daughters?": ("___ had three daughters .", Kind.PERSON),
    "Who did not praise Onwee?": ("___ did not praise Onwee .", Kind.PERSON),
    "Who was a wise man?": ("___ was a wise man .", Kind.PERSON),
    "Who will be the king?": ("___ will be the king .", Kind.PERSON),
    "Who else was hidden in the oven?": ("___ was hidden in the oven .", Kind.PERSON),
    # who, and another part is asked for
    "Whom did Anna meet?": ("Anna met ___ .", Kind.PERSON),
    "Who did the young master dance with?": ("the young master danced with ___ .", Kind.PERSON),
    "Who did the nurse tell about the Queen?": ("the nurse told ___ about the Queen .", Kind.PERSON),
    "Who did the king order to bring the man?": ("the king ordered ___ to bring the man .", Kind.PERSON),
    "Who did the brother ask to see?": ("the brother asked to see ___ .", Kind.PERSON),
    "Who does the coat belong to?": ("the coat belongs to ___ .", Kind.PERSON),
    "Who had the princess given the ring to?": ("the princess had given the ring to ___ .", Kind.PERSON),
    "Who was the White Hawk most pleased with?": ("the White Hawk was most pleased with ___ .", Kind.PERSON),
    "To whom did she give the ring?": ("she gave the ring to ___ .", Kind.PERSON),
    "Who was the man's brother?": ("the man 's brother was ___ .", Kind.PERSON),
    "Who's the king?": ("the king is ___ .", Kind.PERSON),
    "Who was the first person to show himself?": ("the first person to show himself was ___ .", Kind.PERSON),
    # whose, which, what with a noun
    "Whose hat was blue?": ("___ 's hat was blue .", Kind.PERSON),
    "Whose house did Tom knock on?": ("Tom knocked on ___ 's house .", Kind.PERSON),
    "Which city won?": ("___ won .", Kind.NAME),
    "Which of the men won?": ("___ of the men won .", Kind.NAME, Kind.NOUN),
    "Which farmer sold the cow?": ("___ sold the cow .", Kind.PERSON),
    "Which book was she reading?": ("she was reading ___ .", Kind.NAME),
    "In which year did the war end?": ("the war ended in ___ .", Kind.DATE),
    "What colour was the hat?": ("the hat was ___ .", Kind.ADJECTIVE),
    "What kind of bird did he see?": ("he saw ___ .", Kind.NAME, Kind.NOUN),
    # what
    "What did he buy?": ("he bought ___ .", Kind.NOUN, Kind.NAME),
    "What did he want to buy at the market?": ("he wanted to buy ___ at the market .", Kind.NOUN, Kind.NAME),
    "What did they throw away?": ("they threw away ___ .", Kind.NOUN, Kind.NAME),
    "What fell down?": ("___ fell down .", Kind.NOUN, Kind.NAME),
    "What was the name of the farmer's wife?": ("the name of the farmer 's wife was ___ .", Kind.NAME),
    "What is the capital of France?": ("the capital of France is ___ .", Kind.NAME),
    # where, when, how many
    "Where did Anna go?": ("Anna went to ___ .", Kind.PLACE),
    "Where does the fox live?": ("the fox lives in ___ .", Kind.PLACE),
    "Where was the ring hidden?": ("the ring was hidden in ___ .", Kind.PLACE),
    "Where is Anna from?": ("Anna is from ___ .", Kind.PLACE),
    "Where did the man who sold the horse live?": ("the man who sold the horse lived in ___ .", Kind.PLACE),
    "When did the war end?": ("the war ended in ___ .", Kind.DATE),
    "When was the school built?": ("the school was built in ___ .", Kind.DATE),
    "How many eggs are needed?": ("___ eggs are needed .", Kind.NUMBER),
    "How many children did the woman have?": ("the woman had ___ children .", Kind.NUMBER),
    "How much did the car cost?": ("the car cost ___ .", Kind.NUMBER),
    "How old was the boy?": ("the boy was ___ years old .", Kind.NUMBER),
    # the question word is not the first
    "After the war, who became king?": ("after the war , ___ became king .", Kind.PERSON),
    "Anna's ring was given to whom?": ("Anna 's ring was given to ___ .", Kind.PERSON),
    "Who opened the door?!": ("___ opened the door .", Kind.PERSON),
    "The ring was given to whom?": ("the ring was given to ___ .", Kind.PERSON),
}


@pytest.mark.parametrize("question", CLOZES)
def test_a_question_becomes_a_sentence_with_a_blank(question):
    sentence, *kinds = CLOZES[question]
    cloze = as_cloze(tokenise(question))
    assert cloze.query == words(sentence.replace("___", "@placeholder"))
    assert cloze.kinds == tuple(kinds)


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("What did she carry?", "carried"),
        ("What did she play?", "played"),
        ("What did she hope?", "hoped"),
        ("What did she stop?", "stopped"),
        ("What did she open?", "opened"),
        ("What did she steal?", "stole"),
        ("What does she carry?", "carries"),
        ("What does she watch?", "watches"),
        ("What does she have?", "has"),
        ("What do they carry?", "carry"),
    ],
)
def test_the_form_of_the_verb(question, form):
    assert as_cloze(tokenise(question)).query[1:] == (form, "@placeholder", ".")


@pytest.mark.parametrize(
    "query",
    ["___ has the lamp?", "Who saw ___?", "Anna has the lamp.", "Who has the lamp", "", "When Anna came , ___ left ."],
)
def test_other_queries_stay_as_they_are(query):
    assert as_cloze(query_words(query)) == Cloze(query_words(query))


@pytest.mark.parametrize(
    "question",
    ["Why did Anna go?", "How did Anna go?", "Did Anna go?", "What did Anna do?", "Anna went home?", "?", "Is it so?"],
)
def test_questions_that_ask_for_something_else(question):
    with pytest.raises(ExampleError, match="ask who, whose, what, which, where, when or how many, or write a sentence"):
        as_cloze(tokenise(question))


@pytest.mark.parametrize(
    "question", ["Who?", "What did?", "Whose?", "Who did Anna?", "Where is?", "Which of?", "How many?"]
)
def test_half_a_question_is_no_crash(question):
    assert as_cloze(tokenise(question)).query.count("@placeholder") == 1
