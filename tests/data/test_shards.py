"""Prepared corpora in several files, here or elsewhere, and made by several processes."""

from dataclasses import replace

import fsspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import synthetic
from data.test_store import CBT, EXAMPLES, examples
from gareader.core.errors import CorpusError, StoreError
from gareader.data import corpora
from gareader.data.addresses import is_prepared
from gareader.data.examples import counted_words
from gareader.data.sources import read_examples
from gareader.data.store import PreparedCorpus, encoding, prepare, prepare_corpus, writing
from gareader.training.experiment import Experiment
from gareader.training.run import BEST


def answerable(example):
    """Whether the answer is known and in the document, said plainly."""
    return example.answer is not None and bool(
        {*example.document} & {*counted_words(example.candidates[example.answer])}
    )


@given(examples(), st.integers(1, 5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_shards_are_the_corpus(tmp_path_factory, monkeypatch, examples, shard):
    monkeypatch.setattr(encoding, "WORDS_PER_BATCH", 1)
    folder = tmp_path_factory.mktemp("shards") / "corpus"
    corpus = prepare(examples, folder, shard=shard)
    assert list(corpus) == examples
    assert len(list(folder.iterdir())) == max(1, -(-len(examples) // shard))
    assert corpus.answerable().tolist() == list(map(answerable, examples))


def test_shards_made_apart_are_one_corpus(tmp_path):
    """Each has words of its own, as if many machines had prepared them."""
    prepare(EXAMPLES, tmp_path / "b.arrow")
    prepare(corpora.read(CBT), tmp_path / "a.arrow")
    corpus = PreparedCorpus.open(tmp_path)
    assert list(corpus) == list(read_examples(tmp_path)) == [*corpora.read(CBT), *EXAMPLES]
    words = [word for name in "ab" for word in PreparedCorpus.open(tmp_path / f"{name}.arrow").words]
    assert corpus.words == tuple(dict.fromkeys(words))


def test_a_shard_that_is_broken_is_named(tmp_path):
    corpus = prepare(EXAMPLES, tmp_path / "a.arrow")
    (tmp_path / "b.arrow").write_bytes((tmp_path / "a.arrow").read_bytes()[:-100])
    with pytest.raises(StoreError, match=r"b\.arrow: the prepared corpus is cut off"):
        PreparedCorpus.open(tmp_path)
    assert list(corpus) == EXAMPLES
    with pytest.raises(StoreError, match=r"samples: a folder without \*\.arrow files is no prepared corpus"):
        PreparedCorpus.open(CBT.parent)


def test_a_folder_that_is_there_is_not_overwritten(tmp_path):
    prepare(EXAMPLES, tmp_path / "corpus", shard=1)
    with pytest.raises(
        StoreError, match="corpus: this folder is there already; remove it, or choose another name with --out"
    ):
        prepare(EXAMPLES[:1], tmp_path / "corpus", shard=1)
    assert list(PreparedCorpus.open(tmp_path / "corpus")) == EXAMPLES


@pytest.fixture
def many(tmp_path, monkeypatch):
    """A file that is read in many stretches, a bad question in its middle and another at its end."""
    monkeypatch.setattr(writing, "SPAN", 2000)
    path = tmp_path / "cbt.txt"
    text = CBT.read_text(encoding="utf-8").rstrip() + "\n\n"
    path.write_text(text * 3 + "1 no question\n\n" + text * 3 + "1 not here\n", encoding="utf-8")
    return path


@pytest.mark.slow
def test_several_processes_make_the_corpus_that_one_makes(many, tmp_path):
    bad: list[CorpusError] = []
    alone_bad: list[CorpusError] = []
    passed = []

    def watch(numbers):
        for number in numbers:
            passed.append(number)
            yield number

    corpus = prepare_corpus(many, tmp_path / "two.arrow", on_bad=bad.append, workers=2, watch=watch)
    alone = prepare_corpus(many, tmp_path / "one.arrow", on_bad=alone_bad.append)
    assert list(corpus) == list(alone) == list(corpora.read(many, on_bad=lambda error: None))
    assert corpus.words == alone.words
    assert len(passed) == len(corpus)
    assert list(map(str, bad)) == list(map(str, alone_bad))
    assert len(bad) == 2


@pytest.mark.slow
def test_the_first_bad_question_stops_several_processes_too(many, tmp_path):
    with pytest.raises(CorpusError) as alone:
        prepare_corpus(many, tmp_path / "corpus.arrow")
    with pytest.raises(CorpusError) as several:
        prepare_corpus(many, tmp_path / "corpus.arrow", workers=2)
    assert str(several.value) == str(alone.value)
    assert [path.name for path in tmp_path.iterdir()] == ["cbt.txt"]


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A place that only fsspec knows, with three shards in it."""
    monkeypatch.setenv("GAREADER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(encoding, "WORDS_PER_BATCH", 1)
    prepare([*EXAMPLES, replace(EXAMPLES[0], id="c")], tmp_path / "corpus", shard=1)
    place = fsspec.filesystem("memory")
    place.put(str(tmp_path / "corpus"), "/corpora/shards", recursive=True)
    yield place
    place.rm("/corpora", recursive=True)


def test_shards_at_an_address(elsewhere, tmp_path):
    assert is_prepared("memory://corpora/shards")
    assert [example.id for example in read_examples("memory://corpora/shards")] == ["a", "b", "c"]
    assert [example.id for example in read_examples("memory://corpora/shards/00001.arrow")] == ["b"]
    copies = {path for path in (tmp_path / "cache").iterdir() if path.name != "cache"}
    assert list(read_examples("memory://corpora/shards"))  # no second copy
    assert {path for path in (tmp_path / "cache").iterdir() if path.name != "cache"} == copies


def test_a_shard_that_changed_is_fetched_again(elsewhere, tmp_path):
    assert PreparedCorpus.open("memory://corpora/shards")[1].id == "b"
    prepare([replace(EXAMPLES[0], id="new")], tmp_path / "new.arrow")
    elsewhere.put(str(tmp_path / "new.arrow"), "/corpora/shards/00001.arrow")
    assert PreparedCorpus.open("memory://corpora/shards")[1].id == "new"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("memory://nowhere/at/all", "memory://nowhere/at/all: cannot be fetched"),
        ("nonsense://bucket/corpus", "nonsense://bucket/corpus: cannot be fetched .*[Pp]rotocol"),
    ],
)
def test_addresses_that_lead_nowhere(address, message, tmp_path, monkeypatch):
    monkeypatch.setenv("GAREADER_CACHE", str(tmp_path / "cache"))
    with pytest.raises(StoreError, match=message):
        read_examples(address)


@pytest.mark.slow
def test_training_on_shards_is_training_on_the_corpus(tmp_path, monkeypatch):
    """To the bit, and resumed in the middle of an epoch."""
    monkeypatch.setattr(encoding, "WORDS_PER_BATCH", 500)
    questions = synthetic.corpus(200, seed=1)
    prepare(questions, tmp_path / "whole.arrow")
    prepare(questions, tmp_path / "shards", shard=30)
    prepare(synthetic.corpus(20, seed=2), tmp_path / "validation.arrow")
    assert len(list((tmp_path / "shards").iterdir())) > 2
    for name in ("whole.arrow", "shards"):
        data = {"train": str(tmp_path / name), "validation": str(tmp_path / "validation.arrow"), "vector_width": 8}
        table = {"data": data, "reader": {"hidden": 4, "hops": 1}, "train": {"max_epochs": 2, "log_every": 1}}
        experiment = Experiment.from_table(table)
        stopped = experiment.run(tmp_path / f"run {name}").train(iter([False, False, False, True]).__next__)
        assert (stopped.epoch, stopped.batch) == (0, 4)
        assert experiment.run(tmp_path / f"run {name}", resume=True).train().finished
    weights = [
        (tmp_path / f"run {name}" / BEST / "weights.safetensors").read_bytes() for name in ("whole.arrow", "shards")
    ]
    assert weights[0] == weights[1]


def test_a_file_without_questions(tmp_path):
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(CorpusError):
        prepare_corpus(tmp_path / "empty.jsonl", tmp_path / "empty.arrow", format="jsonl", workers=2)
