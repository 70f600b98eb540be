"""Whole corpora from articles."""

import json

import pytest

from gareader.building.execution import Execution
from gareader.building.from_articles import NewsBuilder, Shares, build_news, build_pairs
from gareader.building.pairs import PairSettings
from gareader.core.errors import BuildError, ConfigError, CorpusError
from gareader.data.corpora import read
from gareader.data.statistics import describe
from places import TINY

ALL = Shares(0, 0)


def news(out, paths=(TINY / "news.jsonl",), builder=None, **options):
    bad: list[CorpusError] = []
    execution = Execution(options.pop("workers", 1), report=bad.append)
    counts = build_news(paths, out, builder or NewsBuilder(), execution, **{"shares": ALL, **options})
    return counts, [str(error) for error in bad]


def pairs(out, paths=(TINY / "dated.jsonl",), **options):
    bad: list[CorpusError] = []
    watch = options.pop("watch", Execution.watch)
    execution = Execution(options.pop("workers", 1), report=bad.append, watch=watch)
    counts = build_pairs(paths, out, PairSettings(), execution, **{"shares": ALL, **options})
    return counts, [str(error) for error in bad]


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("format", ["question", "jsonl"])
def test_news_that_is_written_is_read(tmp_path, format):
    counts, bad = news(tmp_path / "out", format=format)
    assert bad == []
    examples = list(read(tmp_path / "out" / ("train" if format == "question" else "train.jsonl")))
    assert len(examples) == counts["questions"] == 14
    assert counts["articles"] == 3
    for example in examples:
        assert example.answer is not None
        answer = example.candidates[example.answer]
        assert answer[0].startswith("@entity")
        assert answer[0] in example.document
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert card["parts"]["train"]["most_frequent_accuracy"] == describe(examples).most_frequent_accuracy


def test_news_with_its_words(tmp_path):
    news(tmp_path / "out", builder=NewsBuilder(anonymise=False), format="jsonl")
    examples = list(read(tmp_path / "out" / "train.jsonl"))
    answers = {example.candidates[example.answer] for example in examples if example.answer is not None}
    assert ("Laura", "Brandt") in answers
    assert not any(word.startswith("@entity") for example in examples for word in example.document)


def test_whole_articles_are_held_out(tmp_path):
    news(tmp_path / "out", shares=Shares(0.4, 0.4))
    parts = {path.name for path in (tmp_path / "out").iterdir() if path.is_dir()}
    assert len(parts) > 1
    sources = [{file.read_text().split("\n")[0] for file in (tmp_path / "out" / part).iterdir()} for part in parts]
    assert sum(map(len, sources)) == 3


@pytest.mark.parametrize("make", [news, pairs])
def test_the_same_seed_gives_the_same_bytes_for_any_number_of_workers(tmp_path, make):
    for out, workers in (("one", 1), ("two", 2)):
        make(tmp_path / out, workers=workers)
    assert content(tmp_path / "one") == content(tmp_path / "two")


def test_pairs_that_are_written_are_read(tmp_path):
    for kind, name in (("wdw", "train.xml"), ("jsonl", "train.jsonl")):
        counts, bad = pairs(tmp_path / kind, format=kind, variant="relaxed")
        assert bad == []
        examples = list(read(tmp_path / kind / name))
        assert len(examples) == counts["questions"] > 5
        assert all(2 <= len(example.candidates) <= 5 for example in examples)


def test_strict_suppresses_more_than_relaxed(tmp_path):
    strict, relaxed = (pairs(tmp_path / variant, variant=variant)[0] for variant in ("strict", "relaxed"))
    assert 0 < strict["questions"] < relaxed["questions"]
    assert strict["questions"] + strict["suppressed"] == relaxed["questions"] + relaxed["suppressed"]


def test_the_newest_questions_are_held_out(tmp_path):
    pairs(tmp_path / "out", variant="relaxed", shares=Shares(0.2, 0.2), format="jsonl")
    dates = {
        row["id"]: row["date"]
        for row in map(json.loads, (TINY / "dated.jsonl").read_text(encoding="utf-8").splitlines())
    }
    parts = {
        part: [dates[example.id.split(" ")[0]] for example in read(tmp_path / "out" / f"{part}.jsonl")]
        for part in ("train", "validation", "test")
    }
    assert max(parts["train"]) <= min(parts["validation"]) <= max(parts["validation"]) <= min(parts["test"])


@pytest.mark.parametrize("make", [news, pairs])
def test_bad_lines_and_files_are_reported_and_the_rest_is_built(tmp_path, make):
    good = TINY / ("news.jsonl" if make is news else "dated.jsonl")
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text('{"id": 1}\n' + good.read_text(encoding="utf-8") + "nonsense\n", encoding="utf-8")
    counts, bad = make(tmp_path / "out", [tmp_path / "none.jsonl", mixed])
    assert counts["questions"] > 3
    assert len(bad) == 3
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert len(card["left out"]) == 3
    assert any(line.startswith("mixed.jsonl:1: ") for line in card["left out"])


@pytest.mark.parametrize("make", [news, pairs])
def test_nothing_is_written_without_a_question(tmp_path, make):
    file = tmp_path / "file.jsonl"
    file.write_text("")
    with pytest.raises(BuildError, match="no article gave a question, so nothing was written"):
        make(tmp_path / "out", [file])
    assert [path.name for path in tmp_path.iterdir()] == ["file.jsonl"]


def test_shares_that_leave_nothing():
    with pytest.raises(ConfigError, match=r"shares 0.5 and 0.5 leave nothing to train on"):
        Shares(0.5, 0.5)


def test_pairs_look_at_the_folder_before_the_work(tmp_path):
    (tmp_path / "out").mkdir()

    def refuse(articles):
        raise AssertionError("read before the folder was looked at")
        yield from articles

    with pytest.raises(BuildError, match="out exists already"):
        pairs(tmp_path / "out", watch=refuse)
