"""How near the questions come to CNN's own."""

import json
import lzma
import re
import tarfile
from itertools import islice
from pathlib import Path

import pytest

from gareader.building.execution import Execution
from gareader.building.from_articles import NewsBuilder
from gareader.building.news_fidelity import NewsFidelity, measure_news
from gareader.core.errors import BuildError, CorpusError

TEXT = """Yesterday Barack Obama met Mohamed Morsy in Cairo. Obama thanked Morsy for the lamb, the pigeons and the
lentils. Then Morsy showed the pyramids, the sphinx and the museum to Obama. Later Obama flew to Paris, tired but
cheerful."""
DOCUMENT = """yesterday {o} met {m} in @entity2 . {o} thanked {m} for the lamb , the pigeons and the lentils . then {m}
showed the pyramids , the sphinx and the museum to {o} . later {o} flew to @entity9 , tired but cheerful ."""
NAMES = "@entity1:Obama\n@entity2:Cairo\n@entity7:Morsy\n@entity8:Mo\n@entity9:Paris\n"


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    path = tmp_path / "stories.jsonl"
    other = "Something else happened to Ann in Rome, with other words."
    path.write_text(
        json.dumps({"id": "a", "article": other, "highlights": ["Ann is in Rome"]})
        + "\n"
        + json.dumps({"id": "b", "article": TEXT, "highlights": ["Obama meets Morsy in Cairo"]})
    )
    return path


def official(folder: Path, query: str, answer: str, document: str = DOCUMENT, names: str = NAMES) -> Path:
    """A folder with one official question."""
    folder.mkdir(exist_ok=True)
    text = " ".join(document.format(o="@entity1", m="@entity7").split())
    (folder / "1.question").write_text("\n\n".join(["id", text, query, answer, names]))
    return folder


def compared(stories: Path, questions: Path) -> NewsFidelity:
    return measure_news([stories], questions, NewsBuilder(), Execution(report=lambda bad: None))


def test_the_same_highlight_and_the_same_entity(stories: Path, tmp_path: Path) -> None:
    found = compared(stories, official(tmp_path / "q", "@placeholder meets @entity7 in @entity2", "@entity1"))
    assert (found.questions, found.matched, found.found) == (1, 1, 1)
    assert (found.stories, found.built) == (1, 3)
    assert (found.mentions_found, found.mentions_official, found.split, found.joined) == (1, 1, 0, 0)
    rows = {row.name: row for row in found.statistics}
    assert rows["document_words_mean"].official == rows["document_words_mean"].built
    assert (rows["candidates_mean"].official, rows["candidates_mean"].built) == (5, 4)
    assert (rows["questions_per_highlight_mean"].official, rows["questions_per_highlight_mean"].built) == (3, 3)
    assert rows["most_frequent_accuracy"].built == 1


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("@placeholder meets @entity7 in @entity2", "@entity7"),  # another entity
        ("@entity1 @placeholder @entity7 in @entity2", "@entity9"),  # another blank
        ("@placeholder flew home after a long day with many words", "@entity1"),  # another highlight
    ],
)
def test_what_is_not_the_same_question(stories: Path, tmp_path: Path, query: str, answer: str) -> None:
    assert compared(stories, official(tmp_path / "q", query, answer)).found == 0


def test_entities_that_are_split_and_joined(stories: Path, tmp_path: Path) -> None:
    document = DOCUMENT.replace("then {m}", "then @entity8").replace("later {o}", "later {m}")
    found = compared(stories, official(tmp_path / "q", "@placeholder meets @entity7", "@entity1", document))
    assert found.split == 1 / 5  # the official Morsy is our Morsy and our Obama
    assert found.joined == 2 / 4  # our Morsy is two official ones, our Obama too


def test_mentions_that_only_one_of_both_has(stories: Path, tmp_path: Path) -> None:
    document = DOCUMENT.replace("in @entity2", "in cairo").replace("the sphinx", "the @entity8")
    found = compared(stories, official(tmp_path / "q", "@placeholder meets @entity7", "@entity1", document))
    assert found.mentions_found == pytest.approx(8 / 9)
    assert found.mentions_official == pytest.approx(8 / 9)


def test_an_archive_of_questions(stories: Path, tmp_path: Path) -> None:
    folder = official(tmp_path / "q", "@placeholder meets @entity7 in @entity2", "@entity1")
    with tarfile.open(tmp_path / "q.tar.xz", "w:xz") as archive:
        archive.add(folder, "validation")
    assert compared(stories, tmp_path / "q.tar.xz") == compared(stories, folder)


def test_stories_of_other_questions(stories: Path, tmp_path: Path) -> None:
    folder = official(tmp_path / "q", "@placeholder ran", "@entity1", "@entity1 walked elsewhere yesterday evening .")
    with pytest.raises(BuildError, match=re.escape(f"no story here belongs to a question of {folder}; give the")):
        compared(stories, folder)


def test_a_question_without_an_answer(stories: Path, tmp_path: Path) -> None:
    folder = official(tmp_path / "q", "@placeholder meets @entity7", "")
    with pytest.raises(CorpusError, match="1 has no answer; --check takes questions whose answers are known"):
        compared(stories, folder)


def test_an_archive_without_questions(stories: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "q.tar", "w") as archive:
        archive.add(stories)
    with pytest.raises(CorpusError, match="no question is in here; give a folder or an archive"):
        compared(stories, tmp_path / "q.tar")


@pytest.mark.slow
def test_the_official_questions_of_cnn(shared_data: Path, tmp_path: Path) -> None:
    """The stories of about one in ten of them are among the first 8,000 of the training split."""
    with lzma.open(shared_data / "cnn" / "cnn_training.jsonl.xz", "rt", encoding="utf-8") as rows:
        (tmp_path / "stories.jsonl").write_text("".join(islice(rows, 8000)), encoding="utf-8")
    found = compared(tmp_path / "stories.jsonl", shared_data / "cnn" / "cnn_validation_500.tar.xz")
    assert found.questions == 500
    assert 0.05 < found.matched < 0.2
    assert found.found > 0.88 * found.matched
    assert found.mentions_found > 0.97
    assert found.mentions_official > 0.95
    assert found.split < 0.08
    assert found.joined < 0.08
    near = {"document_words_mean", "query_words_mean", "candidates_mean", "questions_per_highlight_mean"}
    assert not near & {row.name for row in found.statistics if row.differs}
