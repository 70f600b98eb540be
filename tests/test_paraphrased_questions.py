"""Questions in other words: synonyms, passives, pronouns, and only a share of those that counting answers."""

import json
from random import Random

import numpy as np
import pytest

from benchmarks.paraphrased_questions import (
    Blank,
    Paraphraser,
    example_of,
    is_easy,
    main,
    name_blanks,
    place_of,
    shortened,
    unit_vectors,
)
from benchmarks.script import start
from benchmarks.wordnet import NoSenseError, WordNet
from gareader.building.articles import RawArticle
from gareader.building.story_index import StoryIndex
from gareader.data.examples import PLACEHOLDER, Example
from places import SAMPLES, TINY

FOLDER, NEWS = SAMPLES / "wordnet", TINY / "news.jsonl"
ALIKE = "painting picture artwork film find discover buy purchase obtain steal unknown obscure stop"


class Always(Random):
    """Chance that always says yes, and chooses the first."""

    def random(self):
        return 0.0


@pytest.fixture
def vectors(tmp_path):
    """A file in which all words are alike but halt."""
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"{word} 1.0 1.0\n" for word in ALIKE.split()) + "halt 1.0 -1.0\n", encoding="utf-8")
    return path


@pytest.fixture
def paraphraser(vectors):
    return Paraphraser(WordNet(FOLDER), unit_vectors(vectors), StoryIndex.of([]))


def tagged(text):
    """Words with tags, of word/tag."""
    return [(word, tag) for word, _, tag in (each.rpartition("/") for each in text.split())]


def words(query):
    return " ".join(word for word, _ in query)


@pytest.mark.parametrize(
    ("word", "part", "lemma"),
    [
        ("men", "n", "man"),
        ("pictures", "n", "picture"),
        ("found", "v", "find"),
        ("stopped", "v", "stop"),
        ("stopping", "v", "stop"),
        ("discovered", "v", "discover"),
        ("steal", "v", "steal"),
        ("unknown", "a", "unknown"),
        ("painting", "r", None),
        ("sends", "v", None),
    ],
)
def test_base_forms(word, part, lemma):
    assert WordNet(FOLDER).lemma(word, part) == lemma


def test_synonyms_and_hypernyms_of_two_senses():
    wordnet = WordNet(FOLDER)
    assert wordnet.near("picture", "n", hypernyms=False) == ["painting", "film"]
    assert wordnet.near("picture", "n", hypernyms=True) == ["painting", "artwork", "film"]
    assert wordnet.near("unknown", "a", hypernyms=True) == ["obscure"]


@pytest.mark.parametrize(
    ("lemma", "tag", "form"),
    [
        ("man", "NNS", "men"),
        ("city", "NNS", "cities"),
        ("day", "NNS", "days"),
        ("church", "NNS", "churches"),
        ("have", "VBZ", "has"),
        ("go", "VBZ", "goes"),
        ("find", "VBD", "found"),
        ("carry", "VBD", "carried"),
        ("stop", "VBD", "stopped"),
        ("steal", "VBN", "stolen"),
        ("blame", "VBN", "blamed"),
        ("blame", "VBG", "blaming"),
        ("see", "VBG", "seeing"),
        ("stop", "VBG", "stopping"),
        ("stop", "VB", "stop"),
    ],
)
def test_forms(lemma, tag, form):
    assert WordNet(FOLDER).inflected(lemma, tag) == form


def story(number):
    row = json.loads(NEWS.read_text(encoding="utf-8").splitlines()[number])
    return RawArticle(row["id"], row["article"], tuple(row["highlights"]))


def test_a_base_form_without_sense_leaves_the_story_out(paraphraser, monkeypatch):
    assert paraphraser.questions(story(1))
    monkeypatch.setattr(WordNet, "lemma", lambda *_: "forest")
    assert not paraphraser.questions(story(1))
    with pytest.raises(NoSenseError, match="no sense of 'forest' as adj"):
        paraphraser.wordnet.near("forest", "a", hypernyms=False)


def test_wordnet_that_is_missing(tmp_path, vectors):
    line = [str(NEWS), "--write", str(tmp_path / "x"), "--vectors", str(vectors), "--wordnet", str(tmp_path)]
    with pytest.raises(SystemExit) as exited:
        start(main, line)
    assert exited.value.code == (
        f"{tmp_path / 'noun.exc'} is missing; install WordNet (Debian: apt install wordnet-base), or give its folder "
        "with --wordnet FOLDER"
    )


def test_synonyms_have_the_form_of_the_word(paraphraser):
    query = tagged("Picture/NN @placeholder/NN found/VBD pictures/NNS not/RB stopping/VBG unknown/JJ senders/NNS ./.")
    said = words(paraphraser.with_synonyms(query, 1.0, Always()))
    assert said == "Picture @placeholder discovered paintings not stopping obscure senders ."
    assert paraphraser.with_synonyms(query, -1.0, Always()) == query


def test_a_passive(paraphraser):
    query = tagged("Two/CD men/NNS stole/VBD the/DT @placeholder/NNP on/IN Friday/NNP night/RB ./.")
    assert words(paraphraser.restructured(query, Always())) == (
        "the @placeholder on Friday was stolen by Two men night ."
    )
    plural = tagged("She/NNP bought/VBD pictures/NNS ./.")
    assert words(paraphraser.restructured(plural, Always())) == "pictures were bought by She ."


def test_an_opening_phrase_moves_to_the_end(paraphraser):
    query = tagged("in/IN the/DT rain/NN ,/, @placeholder/NNP won/VBD ./.")
    assert words(paraphraser.restructured(query, Always())) == "@placeholder won in the rain ."


def test_what_is_left_out_of_a_long_sentence():
    query = tagged(
        "``/`` he/PRP left/VBD ,/, but/CC the/DT old/JJ @placeholder/NN did/VBD not/RB leave/VB the/DT big/JJ ship/NN "
        "because/IN it/PRP rained/VBD"
    )

    class Cutting(Always):
        """Cuts clauses, and drops modifiers."""

        def __init__(self):
            super().__init__()
            self.numbers = iter([0.5, 1.0, 0.1, 0.1])

        def random(self):
            return next(self.numbers)

    assert words(shortened(query, Cutting())) == "the @placeholder did not leave the ship ."


def test_a_pronoun_stands_for_the_only_person_before():
    window = [tuple("Mr. Hugo Santos said he was in Lisbon .".split()), tuple("He thanked Lisbon .".split())]
    pronoun = Blank(0, 1, ("Hugo", "Santos"), 1.0, "NNP")
    blanks = name_blanks(window, 1)
    assert blanks.count(pronoun) == 3
    assert [blank.answer for blank in blanks if blank != pronoun] == [("Lisbon",)]


def test_the_answer_among_the_candidates():
    candidates = [("Amelia", "Stone"), ("Stone",), ("Paul", "Maes")]
    assert place_of(("Amelia", "Stone"), candidates) == 0
    assert place_of(("Curator", "Stone"), candidates) == 1
    assert place_of(("Inspector", "Maes"), candidates) == 2
    assert place_of(("Brandt",), candidates) is None


def test_easy_questions():
    document = tuple(
        "Ann met Bob . Ann went to the town by the sea with her two brothers . Eve saw a red fox .".split()
    )
    people = (("Ann",), ("Bob",), ("Eve",))
    query = ("Later", PLACEHOLDER, "noticed", "foxes", ".")
    assert is_easy(Example("", document, query, people, 0))  # the most frequent
    assert is_easy(Example("", document, (PLACEHOLDER, "saw", "the", "fox", "."), people, 2))
    assert not is_easy(Example("", document, query, people, 1))


def test_a_query_needs_three_words_and_the_answer_is_seldom_the_most_frequent():
    window = [tuple("Amelia Stone met Paul Maes .".split()), tuple("Stone thanked Jan Verhoeven .".split())]
    query = (PLACEHOLDER, "thanked", "the", "painter", "yesterday", ".")
    assert example_of("x", window, (PLACEHOLDER, "thanked", "the", "painter", "."), ("Stone",), Random(1)) is None
    assert example_of("x", window, query, ("Amelia", "Stone"), Always()) is None
    made = example_of("x", window, query, ("Paul", "Maes"), Always())
    assert made is not None
    assert made.answer is not None
    assert made.candidates[made.answer] == ("Paul", "Maes")


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_share_of_the_easy_questions_is_written(tmp_path, vectors, capsys):
    for easy in (0, 1):
        main(NEWS, write=tmp_path / f"{easy}.jsonl", vectors=vectors, wordnet=FOLDER, easy=easy)
    hard, everything = read(tmp_path / "0.jsonl"), read(tmp_path / "1.jsonl")
    assert 0 < len(hard) < len(everything)
    assert hard == [each for each in everything if each in hard]
    counts = f"{len(everything):,} questions, {len(hard):,} of them hard"
    assert [line.split(" of ", 1)[1] for line in capsys.readouterr().out.splitlines()] == [counts] * 2
    assert all(each["answer"] in each["candidates"] and len(each["candidates"]) >= 3 for each in everything)


def test_stories_of_excluded_questions_are_left_out(paraphraser):
    assert paraphraser.questions(story(0))
    excluded = StoryIndex.of([tuple(story(0).text.split())])
    assert not Paraphraser(paraphraser.wordnet, paraphraser.vectors, excluded).questions(story(0))


def test_vectors_have_length_1(vectors):
    assert np.linalg.norm(unit_vectors(vectors)["halt"]) == pytest.approx(1)


@pytest.mark.slow
def test_workers_make_the_same_questions(tmp_path, vectors):
    for workers in (1, 2):
        main(NEWS, write=tmp_path / f"{workers}.jsonl", vectors=vectors, wordnet=FOLDER, workers=workers)
    assert read(tmp_path / "1.jsonl") == read(tmp_path / "2.jsonl") != []
