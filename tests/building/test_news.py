"""Questions from highlights, as CNN and Daily Mail have them."""

import os
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gareader.building.articles import Article, RawArticle, tokenise_article
from gareader.building.news import NewsQuestion, questions
from gareader.data.corpora import question_files, read
from gareader.data.examples import PLACEHOLDER

TEXT = """(CNN) -- President Barack Obama met Egyptian President Mohamed Morsy in Cairo on Monday. Obama said the
United States would help Egypt. "Egypt is our friend," Mr. Obama told reporters.

The European Union agreed. The EU's Catherine Ashton, who was in Port Said, said Morsy was right. Ashton thanked
Obama's team and flew to Paris. Michelle Obama stayed at home."""
HIGHLIGHTS = ("Obama meets Morsy in Cairo", "EU's Ashton agrees, says Reuters", "Nobody was there")
ARTICLE = tokenise_article(RawArticle("http://example.org/cairo", TEXT, HIGHLIGHTS))


def answer(question: NewsQuestion) -> str:
    """The name behind the right candidate."""
    example = question.example
    assert example.answer is not None
    return question.names[example.answer] if question.names else " ".join(example.candidates[example.answer])


def revealed(question: NewsQuestion, words: Sequence[str]) -> str:
    """The words with the marks' names in their place."""
    names = dict(zip((mark for (mark,) in question.example.candidates), question.names or (), strict=True))
    return " ".join(names.get(word, word) for word in words)


def test_a_question_for_each_entity_of_a_highlight_that_the_article_names() -> None:
    made = questions(ARTICLE, seed=1)
    assert [(revealed(one, one.example.query), answer(one)) for one in made] == [
        ("@placeholder meets Mohamed Morsy in Cairo", "Barack Obama"),
        ("Barack Obama meets @placeholder in Cairo", "Mohamed Morsy"),
        ("Barack Obama meets Mohamed Morsy in @placeholder", "Cairo"),
        ("@placeholder 's Catherine Ashton agrees , says Reuters", "European Union"),
        ("European Union 's @placeholder agrees , says Reuters", "Catherine Ashton"),
    ]
    assert len({one.example.id for one in made}) == len(made)
    assert {one.source for one in made} == {"http://example.org/cairo"}


def test_entities_and_their_other_names_become_marks_and_the_rest_is_in_lower_case() -> None:
    one = questions(ARTICLE, seed=1)[0]
    assert revealed(one, one.example.document[:17]) == (
        "( CNN ) -- president Barack Obama met Egypt president Mohamed Morsy in Cairo on monday . Barack Obama said"
    )
    assert not any(word[0].isupper() for word in one.example.document)
    names = [answer(replace(one, example=replace(one.example, answer=i))) for i in range(len(one.example.candidates))]
    assert sorted(names) == [
        "Barack Obama", "CNN", "Cairo", "Catherine Ashton", "Egypt", "European Union", "Michelle Obama",
        "Mohamed Morsy", "Paris", "Port Said", "United States",
    ]  # fmt: skip


def test_a_name_of_the_highlight_alone_is_listed_so_that_its_mark_has_a_name_but_not_asked_for() -> None:
    made = questions(ARTICLE, seed=1)
    assert ["Reuters" in (one.names or ()) for one in made] == [False, False, False, True, True]
    assert "Reuters" not in map(answer, made)


def test_each_mention_of_a_highlight_is_blanked_and_the_others_stay() -> None:
    twice = replace(ARTICLE, highlights=(("Obama", "says", "Obama", "wins"),))
    assert [revealed(one, one.example.query) for one in questions(twice, seed=1)] == [
        "@placeholder says Barack Obama wins",
        "Barack Obama says @placeholder wins",
    ]


def test_words_with_hyphens_and_signs_are_those_of_the_released_files() -> None:
    text = (
        'The U.S.-led force met Ban Ki-moon [left], "a so-called co-founder of his/her anti-American team," in Paris.'
    )
    article = tokenise_article(RawArticle("a", text, ("U.S.-led force in Paris",)))
    made = questions(article, seed=1)
    assert revealed(made[0], made[0].example.document) == (
        'the U.S. - led force met Ban Ki-moon [ left ] , " a so - called co-founder of his / her anti-american team '
        ', " in Paris .'
    )
    assert [revealed(one, one.example.query) for one in made] == [
        "@placeholder - led force in Paris",
        "U.S. - led force in @placeholder",
    ]
    (plain,) = questions(article, seed=1, anonymise=False)
    assert plain.example.query == ("U.S.-led", "force", "in", PLACEHOLDER)


def test_numbers_depend_on_article_and_seed_and_say_nothing_about_places() -> None:
    def order(article: Article, seed: int) -> list[str]:
        return list(questions(article, seed)[0].names or ())

    assert order(ARTICLE, 1) == order(ARTICLE, 1)
    assert order(ARTICLE, 1) != order(ARTICLE, 2)
    assert order(ARTICLE, 1) != order(replace(ARTICLE, id="other"), 1)
    marks = [mark for (mark,) in questions(ARTICLE, 1)[0].example.candidates]
    assert marks == sorted(marks, key=lambda mark: int(mark.removeprefix("@entity")))


def test_marks_that_the_article_has_of_its_own_are_not_used() -> None:
    own = replace(ARTICLE, sentences=(*ARTICLE.sentences, ("He", "met", "@entity3", "and", "@entity0", ".")))
    marks = {mark for (mark,) in questions(own, seed=1)[0].example.candidates}
    assert marks.isdisjoint({"@entity0", "@entity3"})


def test_without_marks_the_words_stay_and_candidates_stand_in_the_document() -> None:
    made = questions(ARTICLE, seed=1, anonymise=False)
    first = made[0].example
    assert first.document == ARTICLE.words
    assert first.query == (PLACEHOLDER, "meets", "Morsy", "in", "Cairo")
    assert answer(made[0]) == "Barack Obama"
    assert made[0].names is None
    document = " ".join(first.document)
    assert all(f" {' '.join(candidate)} " in document for candidate in first.candidates)
    assert ("Reuters",) not in made[-1].example.candidates


def test_words_in_lower_case_are_composed_again() -> None:
    capital = "J\u030c"  # has no composed form, its lower case has
    article = replace(ARTICLE, sentences=((f"{capital}ump", "he", "said", "."), *ARTICLE.sentences))
    assert questions(article, seed=1)[0].example.document[0] == "\u01f0ump"


def test_too_few_candidates_make_no_question() -> None:
    lonely = tokenise_article(RawArticle("a", "Then Mr. Obama ran.", ("Obama ran",)))
    assert questions(lonely, seed=1) == []
    assert questions(ARTICLE, seed=1, fewest=12)  # eleven of the article and Reuters
    assert questions(ARTICLE, seed=1, fewest=13) == []


@pytest.mark.parametrize("blank", [PLACEHOLDER, "XXXXX", "____"])
def test_a_highlight_with_a_blank_of_its_own_is_passed_over(blank: str) -> None:
    article = replace(ARTICLE, highlights=((blank, "met", "Morsy"),))
    assert questions(article, seed=1, anonymise=False) == []


def written(question: NewsQuestion) -> str:
    """The text of its file."""
    return question_files.written(question.example, question.source, question.names)


@pytest.mark.parametrize("anonymise", [True, False])
def test_what_is_written_is_what_is_read(tmp_path: Path, anonymise: bool) -> None:
    made = questions(ARTICLE, seed=1, anonymise=anonymise)
    for one in made:
        (tmp_path / question_files.file_name(one.example)).write_text(written(one), encoding="utf-8")
    expected = sorted((one.example for one in made), key=lambda example: example.id)
    assert list(read(tmp_path)) == expected


NAMES = st.sampled_from(
    ["Obama", "Barack Obama", "EU", "Paris", "İstanbul", "Ǆ", "J̌a Ann", "@entity1:x", "Mr. Lee", "a:b"]
)
SENTENCES = st.lists(
    st.one_of(NAMES, st.sampled_from("saw . the said it , who XXXXX @placeholder".split())), min_size=1
)


@given(st.lists(SENTENCES, min_size=1, max_size=6), st.lists(SENTENCES, max_size=3), st.booleans())
def test_any_article_is_written_as_it_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], highlights: list[list[str]], anonymise: bool
) -> None:
    text = "\n\n".join(" ".join(row) for row in rows)
    article = tokenise_article(RawArticle("a", text, tuple(" ".join(row) for row in highlights)))
    made = questions(article, seed=1, anonymise=anonymise)
    folder = tmp_path_factory.mktemp("questions")
    for one in made:
        (folder / question_files.file_name(one.example)).write_text(written(one), encoding="utf-8")
    if made:
        assert list(read(folder)) == sorted((one.example for one in made), key=lambda example: example.id)


def test_the_same_questions_in_every_process() -> None:
    code = (
        "from test_news import ARTICLE, questions, written\n"
        "print(*map(written, questions(ARTICLE, 3)), *map(written, questions(ARTICLE, 3, False)))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parent,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1


def test_articles_like_cnn_give_as_many_entities(shared_data: Path, tmp_path: Path) -> None:
    with tarfile.open(shared_data / "cnn" / "cnn_validation_500.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    counts = []
    for path in sorted((tmp_path / "validation").iterdir())[:100]:
        rows = path.read_text(encoding="utf-8").split("\n")
        names = dict(row.split(":", 1) for row in rows[8:] if row.strip())
        text, query = (" ".join(names.get(word, word) for word in rows[line].split()) for line in (2, 4))
        text = ". ".join(sentence[:1].upper() + sentence[1:] for sentence in text.split(" . "))
        article = tokenise_article(RawArticle(path.stem, text, (query.replace(PLACEHOLDER, names[rows[6]]),)))
        made = questions(article, seed=1)
        counts.append((len(names), len(made[0].example.candidates) if made else 0))
    released, ours = (fmean(column) for column in zip(*counts, strict=True))
    assert 20 < released < 32
    assert 0.8 < ours / released < 1.25
