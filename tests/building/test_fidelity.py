"""How near the questions come to the corpus's own."""

import pytest

from gareader.building.books import BookBuilder
from gareader.building.fidelity import compare
from gareader.building.passages import PassageConfig
from gareader.errors import CorpusError


def compared(paths, official, **options):
    return compare(
        paths,
        official,
        BookBuilder(PassageConfig(**options)),
        workers=1,
        report=lambda bad: None,
        watch=lambda seen, total: seen,
    )


@pytest.mark.usefixtures("nltk_data")
def test_the_official_questions_are_among_the_built(shared_data):
    folder = shared_data / "cbt"
    found = compared([folder / "cbt_valid.txt.xz"], folder / "cbtest_NE_valid_2000ex.txt.xz")
    assert found.questions == 2000
    assert found.found > 0.95
    assert found.per_passage < 1.5
    assert found.reproduced == 1


@pytest.mark.usefixtures("simple_tagger")
def test_shares_are_of_official_questions_and_lines(tmp_path):
    rows = ["The boy Ann saw was in the wood .", "The wood was for Ben .", "So Ann said to Ben it was old ."]
    book = tmp_path / "book.txt"
    book.write_text("_BOOK_TITLE_ : B\n" + "\n".join(rows) + "\n")
    official = tmp_path / "official.txt"
    question = "1 {}\n2 {}\n3 {}\t{}\t\tAnn|Ben\n\n"
    official.write_text(
        question.format(rows[0], rows[1], rows[2].replace("Ann", "XXXXX"), "Ann")
        + question.format(rows[0], "Something else .", rows[2].replace("Ben", "XXXXX"), "Ben")
    )
    found = compared([book], official, sentences=2, candidates=2)
    assert (found.questions, found.found) == (2, 0.5)
    assert (found.lines, found.reproduced) == (4, 0.75)
    assert (found.built, found.per_passage) == (2, 2.0)


@pytest.mark.usefixtures("simple_tagger")
def test_a_file_of_another_format(tmp_path):
    official = tmp_path / "official.txt"
    official.write_text("1 a\n2 b\tc\n")
    with pytest.raises(CorpusError, match=r"official\.txt:2: this is no query line of the Children's Book Test"):
        compared([], official)


@pytest.mark.usefixtures("simple_tagger")
def test_a_file_without_questions(tmp_path):
    book = tmp_path / "book.txt"
    book.write_text("_BOOK_TITLE_ : B\nThe boy Ann saw was in the wood .\n")
    with pytest.raises(
        CorpusError, match=r"book\.txt: no question of the Children's Book Test is in here; --check takes"
    ):
        compared([book], book)
