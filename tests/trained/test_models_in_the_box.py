"""The models in the box: small, quick to answer, right about the bundled story, and as good as they say."""

import json
import re
from pathlib import Path

import pytest

import gareader
from gareader.core.errors import ModelError
from gareader.data import corpora
from gareader.data.sources import STORIES
from gareader.measuring.evaluation import evaluate
from gareader.trained import ensembles, models
from gareader.trained.folder import READER_JSON, WORD_TABLE
from gareader.trained.predictor import load
from places import PROJECT

CARD = (PROJECT / "docs" / "models" / "stories.md").read_text(encoding="utf-8")
NOTES = json.loads((models.BOX / "stories" / READER_JSON).read_text(encoding="utf-8"))["notes"]


def test_the_default_model_is_in_the_box():
    assert models.DEFAULT in models.names()
    assert load() is load("general") is gareader.load()


@pytest.mark.parametrize("name", models.names())
def test_each_is_small_and_says_what_it_is(name):
    folder = models.folder(name)
    assert sum(file.stat().st_size for file in ensembles.files(folder)) < 25e6
    notes = json.loads((folder / READER_JSON).read_text(encoding="utf-8"))["notes"]
    assert notes["about"]
    assert notes["measured"]["examples"] >= 500
    assert folder.with_suffix(".md").read_text(encoding="utf-8").startswith("# ")


def test_all_of_them_share_one_word_table():
    assert [path.parent.name for path in models.BOX.rglob(WORD_TABLE)] == ["words"]


def test_a_path_is_a_path_and_an_unknown_name_is_told(tmp_path):
    assert models.folder(tmp_path) == tmp_path
    assert models.folder("runs/tiny/best") == Path("runs/tiny/best")
    with pytest.raises(ModelError, match="did you mean 'stories'"):
        models.folder("story")


def test_a_path_is_always_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert models.folder("stories") == models.BOX / "stories"
    assert models.folder(Path("stories")) == Path("stories") == models.folder("./stories")
    with pytest.raises(ModelError, match="there is no model here"):
        load(Path("stories"))


EXAMPLES = list(corpora.read(STORIES))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
def test_the_bundled_stories(example):
    assert 150 <= len(example.document) <= 300
    assert load().answer_example(example).correct


def test_a_story_of_ones_own_with_words_nobody_has_written():
    story = (
        "Grumblefitz the dwarf hid the silver key under a stone. Old Tamsin saw him do it, and when he had gone she "
        "took the key. In the evening Grumblefitz came back for the key, but Tamsin only smiled and said nothing."
    )
    prediction = load().answer(story, "The key was now in the pocket of old XXXXX.", ["Grumblefitz", "Tamsin"])
    assert prediction.best == "Tamsin"
    assert sum(probability for _, probability in prediction.ranking) == pytest.approx(1, abs=1e-5)


def test_the_card_has_the_numbers_of_the_reader():
    measured = NOTES["measured"]
    low, high = (100 * bound for bound in measured["interval"])
    assert f"{100 * measured['accuracy']:.1f} % [{low:.1f}, {high:.1f}]" in CARD
    assert "rebuilt" in CARD
    size = sum(file.stat().st_size for file in ensembles.files(models.folder("stories"))) / 1e6
    assert f"{size:.1f} MB" in CARD
    assert re.search(r"gareader train configs/\w+\.toml", CARD)


def test_it_is_as_good_as_it_says_on_the_official_questions(cbt_questions):
    examples = list(corpora.read(cbt_questions.path))
    report = evaluate(load("stories").answer_many(examples))
    if not cbt_questions.whole:
        assert report.examples == 40
        assert report.accuracy > 0.5  # the most frequent candidate is right in a third
        return
    assert report.examples == NOTES["measured"]["examples"] == 2000
    assert report.accuracy == pytest.approx(NOTES["measured"]["accuracy"], abs=0.002)  # other machines round otherwise
