"""How near the questions come to the corpus's own."""

import pytest

from gareader.building.books import BookBuilder
from gareader.building.execution import Execution
from gareader.building.fidelity import measure_fidelity
from gareader.building.passages import PassageConfig
from gareader.core.errors import BuildError, CorpusError

ROWS = ["The boy Ann saw was in the wood .", "The wood was for Ben .", "So Ann said to Ben and Ann it was old ."]
QUESTION = "1 {}\n2 {}\n3 {}\t{}\t\tAnn|Ben\n\n"


def compared(paths, official, **options):
    return measure_fidelity(paths, official, BookBuilder(PassageConfig(**options)), Execution(report=lambda bad: None))


@pytest.fixture
def book(tmp_path):
    path = tmp_path / "book.txt"
    path.write_text("_BOOK_TITLE_ : B\n" + "\n".join(ROWS) + "\n")
    return path


def test_the_official_questions_are_among_the_built_and_the_built_are_like_them(shared_data):
    folder = shared_data / "cbt"
    found = compared([folder / "cbt_valid.txt.xz"], folder / "cbtest_NE_valid_2000ex.txt.xz")
    assert found.questions == 2000
    assert found.found > 0.955
    assert found.per_passage < 1.4
    assert found.passages == 1785
    assert found.reproduced > 0.99  # the others go from one book into the next
    differing = [row.name for row in found.statistics if row.differs]
    assert differing in (["answers_often"], ["answers_capitals", "answers_often"])  # 6 and 18 official questions


@pytest.mark.usefixtures("simple_tagger")
def test_shares_are_of_official_questions_and_passages(book, tmp_path):
    official = tmp_path / "official.txt"
    official.write_text(
        QUESTION.format(ROWS[0], ROWS[1], ROWS[2].replace("Ben", "XXXXX"), "Ben")
        + QUESTION.format(ROWS[0], "Something else .", ROWS[2].replace("Ben", "XXXXX"), "Ben")
    )
    found = compared([book], official, sentences=2, candidates=2)
    assert (found.questions, found.found) == (2, 0.5)
    assert (found.passages, found.reproduced) == (2, 0.5)
    assert (found.built, found.per_passage) == (3, 3.0)


@pytest.mark.usefixtures("simple_tagger")
def test_the_same_blank_counts_and_not_only_the_same_answer(book, tmp_path):
    official = tmp_path / "official.txt"
    official.write_text(QUESTION.format(*ROWS[:2], "So Ann said to Ben and XXXXX it was old .", "Ann"))
    assert compared([book], official, sentences=2, candidates=2).found == 1
    official.write_text(QUESTION.format(*ROWS[:2], "So Ann said to XXXXX and Ann it was old .", "Ann"))
    assert compared([book], official, sentences=2, candidates=2).found == 0


@pytest.mark.usefixtures("simple_tagger")
def test_a_question_without_an_answer(book, tmp_path):
    official = tmp_path / "official.txt"
    official.write_text(QUESTION.format(*ROWS[:2], "So XXXXX said", ""))
    with pytest.raises(CorpusError, match=r"official\.txt: official:3 has no answer; --check takes questions whose"):
        compared([book], official)


def test_a_file_that_holds_no_questions(tmp_path):
    official = tmp_path / "official.txt"
    official.write_text("1 a\n2 b\tc\n")
    with pytest.raises(CorpusError, match=r"official\.txt:2: the question ends here without its query line"):
        compared([], official)


@pytest.mark.usefixtures("simple_tagger")
def test_a_book_in_place_of_the_questions(book):
    with pytest.raises(CorpusError, match=r"book\.txt: cannot tell the format"):
        compared([book], book)


@pytest.mark.usefixtures("simple_tagger")
def test_books_without_a_question(book, tmp_path):
    official = tmp_path / "official.txt"
    official.write_text(QUESTION.format(*ROWS[:2], "So XXXXX said", "Ann"))
    with pytest.raises(BuildError, match="no book gave a question; see what was said about each"):
        compared([book], official)
