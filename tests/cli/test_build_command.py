"""`gareader build` as a user meets it."""

import json

import pytest

import forked
from places import BOOK, TINY

pytestmark = pytest.mark.slow


@pytest.fixture
def gareader(tmp_path):
    """`gareader` in an empty folder."""

    def run(*arguments, **environment):
        return forked.run(*arguments, cwd=tmp_path, env=environment)

    return run


def test_from_a_book_to_a_corpus_that_trains(gareader, tmp_path):
    made = gareader("build", "books", BOOK, "--out", "corpus", "--kind", "NE", "--json")
    assert (made.returncode, made.stderr) == (0, "")
    counts = json.loads(made.stdout)
    assert counts["questions"] == len((tmp_path / "corpus" / "train.txt").read_text().strip().split("\n\n"))
    assert counts["books"] == 1
    told = gareader("describe", "corpus/train.txt", "--json")
    assert json.loads(told.stdout)["examples"] == counts["questions"]
    (tmp_path / "run.toml").write_text(
        '[data]\ntrain = "corpus/train.txt"\nvalidation = "corpus/train.txt"\nvector_width = 8\n'
        '[reader]\nname = "gated-attention"\nhidden = 4\nhops = 1\n[train]\nmax_epochs = 1\n'
    )
    trained = gareader("train", "run.toml")
    assert trained.returncode == 0, trained.stderr
    assert "best validation accuracy" in trained.stdout


def test_for_people(gareader, tmp_path):
    made = gareader("build", "books", BOOK, tmp_path / "none.txt", "--out", "corpus", "--workers", 1)
    assert made.returncode == 0
    assert "questions from 1 books; see corpus/card.md" in made.stdout
    assert "none.txt: there is no such file" in made.stderr
    again = gareader("build", "books", BOOK, "--out", "corpus")
    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr == "gareader: corpus exists already; name another folder with --out, or remove it\n"


def test_the_check_says_what_is_found(gareader, tmp_path):
    gareader("build", "books", BOOK, "--out", "corpus")
    found = gareader("build", "books", BOOK, "--check", "corpus/train.txt")
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("100.0% of ")
    assert "; 100.0% of " in found.stdout
    assert [line.split()[-1] for line in found.stdout.splitlines() if "most frequent candidate is right" in line] == [
        "1.00"
    ]
    assert "differs" not in found.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus"]


def test_the_check_marks_what_differs_by_more_than_a_quarter(gareader, tmp_path):
    gareader("build", "books", BOOK, "--out", "corpus", "--kind", "CN")
    found = gareader("build", "books", BOOK, "--check", "corpus/train.txt")
    assert found.returncode == 0, found.stderr
    (row,) = [line for line in found.stdout.splitlines() if "answers: capitalised" in line]
    assert row.split()[2] == "0.00%"
    assert row.split()[-2:] == ["–", "differs"]
    told = json.loads(gareader("build", "books", BOOK, "--check", "corpus/train.txt", "--json").stdout)
    rows = {row["name"]: row for row in told["statistics"]}
    assert rows["answers_capitalised"]["ratio"] is None
    assert rows["answers_capitalised"]["differs"] is True
    assert rows["answers_capitalised"]["built"] > 0.5
    assert told["found"] == 0


def test_a_book_excluded_from_itself_leaves_nothing(gareader, tmp_path):
    made = gareader("build", "books", BOOK, "--out", "corpus", "--exclude", BOOK)
    assert made.returncode == 1
    assert "no book gave a question, so nothing was written" in made.stderr
    assert list(tmp_path.iterdir()) == []


def test_neither_out_nor_check(gareader, tmp_path):
    made = gareader("build", "books", BOOK)
    assert made.returncode == 1
    assert "say where to write the corpus with --out FOLDER" in made.stderr


def test_news_compared_with_its_own_questions(gareader, tmp_path):
    news = TINY / "news.jsonl"
    made = gareader("build", "news", news, "--out", "news", "--validation", "0", "--test", "0", "--json")
    assert made.returncode == 0, made.stderr
    counts = json.loads(made.stdout)
    found = gareader("build", "news", news, "--check", "news/train")
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith(f"100.0% of {counts['questions']} official questions are among the ")
    assert "; the stories of 100.0% are given" in found.stdout
    assert "0.0% of the official entities are split, 0.0% of the built ones join several" in found.stdout
    assert "differs" not in found.stdout
    told = json.loads(gareader("build", "news", news, "--check", "news/train", "--json").stdout)
    assert (told["found"], told["mentions_found"], told["split"]) == (1, 1, 0)
    assert {row["name"] for row in told["statistics"]} >= {"candidates_mean", "most_frequent_accuracy"}


def test_news_whose_questions_are_excluded_leave_nothing(gareader, tmp_path):
    news = TINY / "news.jsonl"
    gareader("build", "news", news, "--out", "news", "--validation", "0", "--test", "0")
    made = gareader("build", "news", news, "--out", "rest", "--exclude", "news/train")
    assert made.returncode == 1
    assert "no article gave a question, so nothing was written" in made.stderr
    one = min((tmp_path / "news" / "train").iterdir())
    (tmp_path / "held").mkdir()
    one.rename(tmp_path / "held" / one.name)
    made = gareader("build", "news", news, "--out", "rest", "--exclude", "held", "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["excluded"] == 1


def test_news_with_neither_out_nor_check(gareader):
    made = gareader("build", "news", TINY / "news.jsonl")
    assert made.returncode == 1
    assert "say where to write the corpus with --out FOLDER, or what to compare with, with --check" in made.stderr
