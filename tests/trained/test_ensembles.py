"""Ensembles: the mean of their members, one word table for all of them, and nothing but names in their folder."""

import json
import shutil
from dataclasses import replace
from math import exp

import numpy as np
import pytest

import synthetic
from gareader.core.errors import ModelError
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.vocabulary import Vocabulary
from gareader.nn.tensors import tensors
from gareader.trained import ensembles, lexicon, model, models, packing
from gareader.trained.folder import ALPHABET, READER_JSON, VOCABULARY, WEIGHTS, WORD_TABLE, write_settings
from gareader.trained.model import OnTorch
from gareader.trained.predictor import Ensemble, Predictor, load
from gareader.trained.shipping import slim, write_words
from gareader.trained.stored import read
from gareader.trained.temperatures import AS_TRAINED
from packed_readers import made, trained, write_box, write_vectors

CORPUS = synthetic.corpus(12, seed=5)
UNKNOWN = Example(
    "new", ("Zebra", "has", "gold", "."), (PLACEHOLDER, "has", "gold"), (("Zebra",), ("gold",), ("no",)), 0
)


@pytest.fixture
def vectors(tmp_path):
    """A file of word vectors."""
    return write_vectors(tmp_path / "vectors.txt")


@pytest.fixture
def box(tmp_path, vectors):
    """Three packed readers of different sizes and kinds, which share a folder of words."""
    return write_box(tmp_path / "box", vectors)


def change(folder, **values):
    settings = json.loads((folder / READER_JSON).read_text(encoding="utf-8"))
    write_settings({**settings, **values}, folder)


def complaint(folder):
    with pytest.raises(ModelError) as error:
        load(folder)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_its_probabilities_are_the_mean_of_its_members_then_tempered(box):
    """Members of other hops, widths and papers, one with a temperature of its own."""
    parts = [load(box / name).predict([*CORPUS, UNKNOWN]) for name in ("one", "two", "three")]
    found = load(made(box, "one", "two", "three", temperature=2.0)).predict([*CORPUS, UNKNOWN])
    for number, prediction in enumerate(found):
        members = [[exp(value) for value in part[number].log_probabilities] for part in parts]
        mean = [sum(column) / 3 for column in zip(*members, strict=True)]
        roots = [share**0.5 for share in mean]
        assert [exp(value) for value in prediction.log_probabilities] == pytest.approx([r / sum(roots) for r in roots])
    assert found[-1].absent == [2]
    first = load(box / "one")
    # what is averaged is what each member answers
    assert (first.temperatures.given, first.reader.config.hops) == (0.5, 3)  # type: ignore[attr-defined]
    assert parts[0][0].log_probabilities != parts[1][0].log_probabilities


def test_its_attention_is_the_mean_hop_by_hop_where_that_can_be(box):
    one, two, three = (
        load(box / name).predict([UNKNOWN], attention=True)[0].attention for name in ("one", "two", "three")
    )
    both = load(made(box, "one", "two")).answer_example(UNKNOWN).attention
    assert both.document == pytest.approx((one.document + two.document) / 2)  # type: ignore[union-attr]
    assert len(both.hops) == 2  # type: ignore[union-attr]
    for mean, *of_each in zip(both.hops, one.hops, two.hops, strict=True):  # type: ignore[union-attr]
        assert mean == pytest.approx(sum(of_each) / 2)
    assert len(three.hops) != len(one.hops)  # type: ignore[union-attr]
    other = load(made(box, "one", "three", out="others")).answer_example(UNKNOWN).attention
    assert other.document == pytest.approx((one.document + three.document) / 2)  # type: ignore[union-attr]
    assert all(mean.tolist() == first.tolist() for mean, first in zip(other.hops, one.hops, strict=True))  # type: ignore[union-attr]
    assert load(box / "all").predict([UNKNOWN])[0].attention is None


def test_members_share_one_word_table_and_one_vocabulary(box, monkeypatch):
    mapped = []
    monkeypatch.setattr(lexicon, "mapped", lambda path: mapped.append(path) or packing.mapped(path))  # type: ignore[func-returns-value]
    lexicon._kept.cache_clear()
    all_ = load(made(box, "one", "two", "three"))
    assert len(mapped) == 1
    assert all_.members[0].reader.words is all_.members[1].reader.words  # type: ignore[attr-defined]
    assert len({id(member.collator.vocabulary) for member in all_.members}) == 1  # type: ignore[attr-defined]
    assert {file.name for file in (box / "one").iterdir()} == {READER_JSON, WEIGHTS}


def test_a_reader_that_begins_with_a_scaled_copy_has_the_shared_table(tmp_path, vectors):
    settings = {"hidden": 6, "word_scale": 0.5, "update_words": False}
    packed = slim(trained(vectors, 1, "attention-sum", **settings))
    write_words(packed, tmp_path / "words")
    model.save(packed, tmp_path / "one", packed=True, words_of=tmp_path / "words")
    found = model.load(tmp_path / "one")
    table = lexicon.Lexicon.read(tmp_path / "words").table
    np.testing.assert_array_equal(found.reader.embed.words.detach().numpy(), table[:])  # type: ignore[operator, union-attr]
    assert Predictor(OnTorch(found.reader), found.collator).predict(CORPUS) == Predictor(
        OnTorch(packed.reader), packed.collator
    ).predict(CORPUS)


def test_sharing_changes_no_answer_and_unknown_words_stay_the_readers_own(box, vectors, tmp_path):
    alone = slim(trained(vectors, 2, hops=3, hidden=4, feature=True))
    model.save(alone, tmp_path / "alone", packed=True)
    examples = [*CORPUS, UNKNOWN]
    shared, whole = load(box / "two"), load(tmp_path / "alone")
    assert [each.log_probabilities for each in shared.predict(examples)] == [
        each.log_probabilities for each in whole.predict(examples)
    ]
    unknown = [tensors(load(box / name).collator([UNKNOWN])).types.unknown for name in ("one", "two")]  # type: ignore[attr-defined]
    assert not unknown[0].equal(unknown[1])  # by the seed of each


def test_another_alphabet_stays_with_the_reader(box, vectors):
    packed = slim(trained(vectors, 4, hidden=4, letters="ßé"), None, box / "words")
    model.save(packed, box / "four", packed=True, words_of=box / "words")
    assert {file.name for file in (box / "four").iterdir()} == {READER_JSON, WEIGHTS, ALPHABET}
    assert model.load(box / "four").collator.alphabet == packed.collator.alphabet


def test_words_with_other_vectors_are_refused(box, vectors, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("kite " + " ".join(["0.5"] * 8) + "\n" + vectors.read_text())
    write_words(slim(trained(other, 1, hidden=4)), tmp_path / "words")
    with pytest.raises(ModelError, match="words: the vector of 'kite' is not the one this model"):
        slim(trained(vectors, 5, hidden=4), None, tmp_path / "words")


def test_a_model_of_marks_shares_words_for_its_marks_come_back_from_their_spelling(box, vectors):
    before = trained(vectors, 5, hidden=4)
    before = replace(before, collator=replace(before.collator, anonymity="permuted", marks=4))
    packed = slim(before, None, box / "words")
    model.save(packed, box / "marks", packed=True, words_of=box / "words")
    collator = model.load(box / "marks").collator
    assert (collator.anonymity, collator.marks, collator.row("@entity1")) == ("permuted", 4, None)


def test_readers_that_keep_their_own_words(box, vectors):
    for reader, why in (
        (trained(vectors, 1, hidden=4, update_words=True), "training has changed its word vectors"),
        (trained(vectors, 1, "attentive", hidden=4, update_words=False), "other weights of this model belong to"),
    ):
        for words in (box / "words", box / "fresh"):
            with pytest.raises(ModelError, match=rf"{why}.*pack it without shared words"):
                slim(reader, None, words)
    with pytest.raises(ModelError, match="these words have their vectors already; pack it without a vector file"):
        slim(trained(vectors, 1, hidden=4), vectors, box / "words")
    with pytest.raises(ModelError, match="these are not the words of the model"):
        model.save(trained(vectors, 1, hidden=4), box / "raw", words_of=box / "words")
    assert not (box / "raw").exists()


def test_a_member_is_loaded_once(box):
    all_ = load(made(box, "one", "two"))
    assert all_ is load(str(box / "all"))
    assert all_.members[1] is load(box / "two")  # type: ignore[attr-defined]


def test_an_ensemble_in_the_box_is_found_by_its_name(box, monkeypatch):
    monkeypatch.setattr(models, "BOX", box)
    made(box, "one", "two")
    assert models.names() == ["all", "one", "three", "two"]
    assert isinstance(load("all"), Ensemble)


def test_members_from_elsewhere_are_copied_with_one_copy_of_their_words(box, vectors, tmp_path):
    for run in ("a", "b"):
        reader = trained(vectors, 7 + (run == "b"), hidden=4, letters="é" * (run == "b"))
        model.save(slim(reader), tmp_path / run / "best", packed=True)
    own = trained(vectors, 9, hidden=4, update_words=True)
    model.save(own, tmp_path / "c" / "best")
    made(tmp_path, "a/best", "b/best", "c/best", "box/one", out="new/all")
    new = tmp_path / "moved"
    (tmp_path / "new" / "all").rename(new)
    expected = Ensemble([load(tmp_path / name) for name in ("a/best", "b/best", "c/best", "box/one")]).predict(CORPUS)
    for name in ("a", "b", "c", "box"):
        shutil.rmtree(tmp_path / name)
    assert {path.name for path in new.iterdir()} == {READER_JSON, "best", "best-2", "best-3", "one", "words"}
    assert {path.name for path in (new / "best").iterdir()} == {READER_JSON, WEIGHTS}
    assert {path.name for path in (new / "best-2").iterdir()} == {READER_JSON, WEIGHTS, ALPHABET}
    assert (new / "best-3" / WORD_TABLE).exists()
    for one, other in zip(load(new).predict(CORPUS), expected, strict=True):
        assert one.log_probabilities == other.log_probabilities
    assert all(file.stat().st_mode & 0o444 == 0o444 for file in new.rglob("*"))


def test_a_copy_never_takes_the_name_of_a_member_beside(box, vectors, tmp_path):
    model.save(slim(trained(vectors, 7, hidden=4)), tmp_path / "one", packed=True)
    ensembles.save([box / "one", tmp_path / "one"], box / "all", AS_TRAINED, {})
    assert json.loads((box / "all" / READER_JSON).read_text())["ensemble"] == ["one", "one-2"]
    assert load(box / "all").members[0] is load(box / "one")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "name", ["../one", "/etc", "..", ".", "", "one/../../one", "a\\b", "C:one", 7, None, ["one"], "o\0"]
)
def test_only_plain_names_can_be_named(box, name):
    """What comes from a stranger leads nowhere else."""
    folder = made(box, "one", "two")
    change(folder, ensemble=["one", name])
    told = f"names {name!r}, and a model may name only a folder inside its own or beside it; copy the model again"
    assert complaint(folder) == f"{folder / READER_JSON}: {told}"
    if name is not None:
        change(box / "one", words_of=name)
        assert complaint(box / "one") == f"{box / 'one' / READER_JSON}: {told}"


def test_what_is_missing_or_damaged_is_told(box):
    folder = made(box, "one", "two")
    good = (box / "two" / READER_JSON).read_text()
    change(box / "two", notes={})
    changed = (
        f"{box / 'two' / READER_JSON}: not the member that all was made of; copy it again, or make the ensemble anew"
    )
    assert complaint(folder).startswith(changed)
    (box / "two" / READER_JSON).write_text(good)
    weights = (box / "two" / WEIGHTS).read_bytes()
    (box / "two" / WEIGHTS).write_bytes(weights[:-1] + bytes([weights[-1] ^ 1]))
    assert complaint(folder) == f"{box / 'two' / WEIGHTS}: damaged: its checksum does not match; copy the model again"
    shutil.rmtree(box / "two")
    assert complaint(folder) == f"{folder}: it needs 'two', which is neither inside it nor beside it; copy that too"


@pytest.mark.parametrize("file", [VOCABULARY, ALPHABET, WORD_TABLE])
def test_shared_words_that_are_damaged_or_gone_are_told(box, file):
    folder = made(box, "one", "two")
    path = box / "words" / file
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert complaint(folder) == f"{path}: damaged: its checksum does not match; copy the model again"
    path.write_bytes(data)
    assert read(box / "one").collator.vocabulary == Vocabulary.read(
        box / "words" / VOCABULARY
    )  # no damaged one is kept
    path.unlink()
    assert complaint(folder) == f"{path}: missing; copy the whole folder of the model again"
    shutil.rmtree(box / "words")
    assert complaint(folder).endswith("one: it needs 'words', which is neither inside it nor beside it; copy that too")


def test_damaged_words_that_were_read_are_forgotten(box):
    path = box / "words" / VOCABULARY
    data = path.read_bytes()
    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    lexicon._kept.cache_clear()
    with pytest.raises(ModelError, match="damaged: its checksum does not match"):
        read(box / "one")
    path.write_bytes(data)
    assert read(box / "one").collator.vocabulary == Vocabulary.read(path)


def test_shared_words_cannot_be_trained(box):
    settings = json.loads((box / "one" / READER_JSON).read_text())["settings"]
    change(box / "one", settings={**settings, "update_words": True})
    assert "its word vectors are to be trained, and those it shares with others cannot be" in complaint(box / "one")


def test_an_ensemble_of_ensembles_or_of_itself(box):
    folder = made(box, "one", "two")
    change(folder, ensemble=["all", "one"])
    assert complaint(folder) == (f"{folder}: its member 'all' is an ensemble itself; name the members of that one")
    with pytest.raises(ModelError, match="all: this is an ensemble itself; name its members"):
        made(box, "one", "all", out="more")


@pytest.mark.parametrize(
    "changes",
    [
        {"ensemble": []},
        {"ensemble": "one"},
        {"sha256": {}},
        {"sha256": None},
        {"temperature": 0},
        {"temperature": "warm"},
    ],
)
def test_settings_that_do_not_fit(box, changes):
    folder = made(box, "one", "two")
    change(folder, **changes)
    assert complaint(folder).startswith(f"{folder}: the files do not fit together (")


def test_where_an_ensemble_cannot_be_made(box, monkeypatch):
    (box / "mine").mkdir()
    (box / "mine" / "notes.txt").write_text("mine")
    shutil.copytree(box / "one", box / "a|b")
    for names, out, problem in (
        (["one"], "all", "an ensemble needs two models or more"),
        (["one", "two"], "two", "this is one of the members"),
        (["one", "two"], "mine", "this holds something else than a model"),
        (["one", "a|b"], "all", "a member's name is of letters"),
    ):
        with pytest.raises(ModelError, match=problem):
            made(box, *names, out=out)
    before = made(box, "one", "two").joinpath(READER_JSON).read_bytes()
    monkeypatch.setattr(ensembles, "write_settings", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(ModelError, match="all: the ensemble cannot be written: No space left"):
        made(box, "one", "two", temperature=3.0)
    assert (box / "all" / READER_JSON).read_bytes() == before
    assert not (box / ".all.new").exists()


def test_one_reader_is_needed_where_an_ensemble_is_given(box):
    folder = made(box, "one", "two")
    with pytest.raises(ModelError, match="this is an ensemble, and a single model is needed"):
        model.load(folder)


def test_permutations_reach_the_members(box):
    members = load(made(box, "one", "two")).members  # type: ignore[attr-defined]
    hidden = [Predictor(member.reader, replaced(member.collator)) for member in members]
    both = Ensemble(hidden).permuted(3)
    assert [member.permutations for member in both.members] == [3, 3]  # type: ignore[attr-defined]


def replaced(collator):
    """The same with candidates behind permuted marks."""
    return replace(collator, anonymity="permuted", marks=4)
