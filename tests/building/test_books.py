"""Whole corpora from books: what is written, what is read back, what is left when something goes wrong."""

import json

import pytest

from gareader.building.books import BookBuilder, build
from gareader.building.execution import Execution
from gareader.building.overlap import Excluded
from gareader.building.passages import PassageConfig
from gareader.building.shelf import texts
from gareader.core.errors import BuildError, CorpusError
from gareader.data.corpora import read
from gareader.data.language import perceptron
from gareader.data.statistics import describe
from places import BOOK

NAMES = "Ann Ben Cay Dot Eve Fay Gus Hal Ida Jon Kit Lou".split()
CONFIG = PassageConfig(sentences=6, candidates=4)


def tokenised(number, sentences=30, names=NAMES):
    """A tokenised book in which everyone meets everyone."""
    rows = [
        f"The day {names[(i * number) % len(names)]} saw {names[(i + 1) % len(names)]} in the wood of day {number} ."
        for i in range(sentences)
    ]
    return f"_BOOK_TITLE_ : Book {number}\n" + "\n".join(rows) + "\n"


@pytest.fixture
def shelf(tmp_path):
    path = tmp_path / "shelf.txt"
    path.write_text("".join(tokenised(number) for number in (1, 5, 7, 11)))
    return path


def built(paths, out, builder=None, held_out=(0, 0), **options):
    bad: list[CorpusError] = []
    execution = Execution(**{"report": bad.append, **options})
    return build(paths, out, builder or BookBuilder(CONFIG), execution, held_out), [str(error) for error in bad]


@pytest.mark.usefixtures("simple_tagger")
@pytest.mark.parametrize("format", ["cbt", "jsonl"])
def test_what_is_written_is_read(shelf, tmp_path, format):
    counts, bad = built([shelf], tmp_path / "out", BookBuilder(CONFIG, format=format))
    assert bad == []
    (file,) = [path for path in (tmp_path / "out").iterdir() if path.stem == "train"]
    examples = list(read(file))
    assert len(examples) == counts["questions"] > 50
    assert counts["books"] == 4
    assert counts["sentences"] == 120
    sentences = [line.split() for line in shelf.read_text().splitlines() if "_BOOK" not in line]
    text = " ".join(word for words in sentences for word in words)
    for example in examples:
        assert example.answer is not None
        answer = example.candidates[example.answer]
        query = [word for part in example.query for word in (answer if part == "@placeholder" else (part,))]
        assert " ".join([*example.document, *query]) in text
        assert answer[0] in example.document
        assert len(example.candidates) == 4
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    told = describe(examples)
    assert card["parts"]["train"]["examples"] == told.examples
    assert card["parts"]["train"]["vocabulary"] == told.vocabulary
    assert card["parts"]["train"]["most_frequent_accuracy"] == told.most_frequent_accuracy
    assert card["settings"]["sentences"] == 6
    assert f"| questions | {told.examples:,} |" in (tmp_path / "out" / "card.md").read_text()


@pytest.mark.usefixtures("simple_tagger")
def test_parts_are_whole_books(shelf, tmp_path):
    built([shelf], tmp_path / "out", BookBuilder(CONFIG, format="jsonl"), held_out=(1, 2))
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert {part: len(titles) for part, titles in card["books"].items()} == {"train": 1, "validation": 1, "test": 2}
    for part, titles in card["books"].items():
        found = {example.id.split(":")[0] for example in read(tmp_path / "out" / f"{part}.jsonl")}
        assert found == set(titles)


@pytest.mark.usefixtures("simple_tagger")
def test_one_book_in_twenty_is_held_out_by_itself(shelf, tmp_path):
    built([shelf], tmp_path / "out", held_out=(None, None))
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert {part: len(titles) for part, titles in card["books"].items()} == {"train": 2, "validation": 1, "test": 1}


@pytest.mark.usefixtures("simple_tagger")
def test_too_many_held_out(shelf, tmp_path):
    with pytest.raises(BuildError, match="2 validation and 2 test books of 4 leave none to train on"):
        built([shelf], tmp_path / "out", held_out=(2, 2))


@pytest.mark.usefixtures("simple_tagger")
def test_the_same_seed_gives_the_same_bytes(shelf, tmp_path):
    for out in ("one", "two"):
        built([shelf], tmp_path / out, held_out=(1, 1))
    built([shelf], tmp_path / "other", BookBuilder(PassageConfig(sentences=6, candidates=4, seed=2)), held_out=(1, 1))
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert names == ["card.json", "card.md", "test.txt", "train.txt", "validation.txt"]
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in names)
    assert (tmp_path / "one" / "train.txt").read_bytes() != (tmp_path / "other" / "train.txt").read_bytes()


def test_any_number_of_workers_gives_the_same_bytes(tmp_path):
    for workers in (1, 2):
        counts, bad = built([BOOK], tmp_path / str(workers), BookBuilder(PassageConfig()), workers=workers)
        assert bad == []
    assert counts["questions"] >= 10
    text = (tmp_path / "1" / "train.txt").read_text()
    assert text == (tmp_path / "2" / "train.txt").read_text()
    assert "Gutenberg" not in text
    examples = read(tmp_path / "1" / "train.txt")
    answers = {example.candidates[example.answer][0] for example in examples if example.answer is not None}
    assert {"Barnaby", "Tobias", "Crane", "Hester"} <= answers


@pytest.mark.usefixtures("simple_tagger")
def test_bad_books_are_reported_and_the_rest_is_built(shelf, tmp_path):
    short, plain = tmp_path / "short.txt", tmp_path / "plain.txt"
    short.write_text("She saw it.")
    plain.write_text("It was so and he was not. " * 40)
    counts, bad = built([short, shelf, tmp_path / "none.txt", plain], tmp_path / "out")
    assert counts["books"] == 4
    assert len(bad) == 3
    assert any("short.txt: too few sentences (1); a passage takes 7" in line for line in bad)
    assert any("plain.txt: no sentence has a word of the kind NE that the 6 before it have too" in line for line in bad)
    assert any("none.txt: there is no such file" in line for line in bad)
    left_out = json.loads((tmp_path / "out" / "card.json").read_text())["left out"]
    assert len(left_out) == 3
    assert not any(str(tmp_path) in line for line in left_out)


def test_what_workers_find_bad_comes_home(tmp_path):
    short = tmp_path / "short.txt"
    short.write_text("She saw it.")
    counts, bad = built([short, BOOK], tmp_path / "out", BookBuilder(PassageConfig()), workers=2)
    assert counts["books"] == 1
    assert bad == [f"{short}: too few sentences (1); a passage takes 21"]


@pytest.mark.usefixtures("simple_tagger")
def test_nothing_is_written_when_no_book_gives_a_question(tmp_path):
    short = tmp_path / "short.txt"
    short.write_text("She saw it.")
    with pytest.raises(BuildError, match="no book gave a question, so nothing was written"):
        built([short], tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["short.txt"]


@pytest.mark.usefixtures("simple_tagger")
def test_nothing_is_left_of_an_interrupted_build(shelf, tmp_path):
    def interrupted(made, total):
        yield next(made)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        built([shelf], tmp_path / "out", watch=interrupted)
    assert [path.name for path in tmp_path.iterdir()] == ["shelf.txt"]


@pytest.mark.usefixtures("simple_tagger")
def test_a_folder_that_exists_is_not_touched(shelf, tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(BuildError, match="out exists already; name another folder"):
        built([shelf], tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.usefixtures("simple_tagger")
def test_passages_of_excluded_books_are_left_out(shelf, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text(tokenised(5))
    excluded = Excluded.from_texts(texts(other))
    counts, bad = built([shelf], tmp_path / "out", BookBuilder(CONFIG, format="jsonl", excluded=excluded))
    assert bad == []
    assert counts["excluded"] >= 24
    found = {example.id.split(":")[0] for example in read(tmp_path / "out" / "train.jsonl")}
    assert "Book 5" not in found
    assert "Book 7" in found


@pytest.mark.usefixtures("simple_tagger")
def test_the_tagger_is_loaded_once_for_all_books(shelf, tmp_path):
    built([shelf], tmp_path / "out")
    assert perceptron.tagger.cache_info().misses == 1


@pytest.mark.usefixtures("simple_tagger")
@pytest.mark.parametrize(("held_out", "part"), [((1, 0), "validation"), ((0, 1), "test"), ((1, 1), "train")])
def test_a_part_without_a_question_is_an_error_and_not_an_empty_file(tmp_path, held_out, part):
    paths = []
    for number in range(1 + sum(held_out)):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_text(tokenised(2 * number + 1).replace("Book", f"Book {number}"))
    built(paths, tmp_path / "out", held_out=held_out)
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    (title,) = card["books"][part]
    paths[int(title.split()[1])].write_text(f"_BOOK_TITLE_ : {title}\nThe day was so .\n")
    message = f"the {part} split has no question, so nothing was written; its books gave none: {title}. Leave them out"
    with pytest.raises(BuildError, match=message):
        built(paths, tmp_path / "other", held_out=held_out)
    assert not (tmp_path / "other").exists()


@pytest.mark.usefixtures("simple_tagger")
def test_a_book_that_is_excluded_whole_leaves_no_empty_file(shelf, tmp_path):
    built([shelf], tmp_path / "out", held_out=(1, 0))
    (title,) = json.loads((tmp_path / "out" / "card.json").read_text())["books"]["validation"]
    other = tmp_path / "other.txt"
    other.write_text(tokenised(int(title.split()[1])))
    builder = BookBuilder(CONFIG, excluded=Excluded.from_texts(texts(other)))
    with pytest.raises(BuildError, match="the validation split has no question"):
        built([shelf], tmp_path / "excluded", builder, held_out=(1, 0))


@pytest.mark.usefixtures("simple_tagger")
def test_why_there_are_too_few_books_is_told(shelf, tmp_path):
    bad: list[CorpusError] = []
    with pytest.raises(BuildError, match="4 validation and 0 test books of 4 leave none to train on"):
        built([shelf, tmp_path / "typo.txt"], tmp_path / "out", held_out=(4, 0), report=bad.append)
    assert [str(error) for error in bad] == [
        f"{tmp_path / 'typo.txt'}: there is no such file or folder; check the path"
    ]


@pytest.mark.usefixtures("simple_tagger")
def test_a_file_name_that_is_no_text_is_told_in_one(shelf, tmp_path):
    odd = tmp_path / "caf\udce9.txt"
    odd.write_text("She saw it.")
    built([shelf, odd], tmp_path / "out")
    (told,) = json.loads((tmp_path / "out" / "card.json").read_text())["left out"]
    assert told.startswith("caf\\udce9.txt: too few sentences")


@pytest.mark.usefixtures("simple_tagger")
@pytest.mark.parametrize("format", ["cbt", "jsonl"])
@pytest.mark.parametrize("word", ["XXXXX", "____", "@placeholder", "a|b"])
def test_words_that_the_format_needs_for_itself(tmp_path, format, word):
    path = tmp_path / "books.txt"
    path.write_text(tokenised(5) + tokenised(7).replace("wood", word))
    built([path], tmp_path / "out", BookBuilder(CONFIG, format=format))
    (file,) = [path for path in (tmp_path / "out").iterdir() if path.stem == "train"]
    examples = list(read(file))
    assert examples
    assert not any(word in candidate for example in examples for candidate in example.candidates)
