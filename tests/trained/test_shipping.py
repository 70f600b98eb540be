"""A reader made ready to pass on: smaller, knowing more words, and answering as before."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import synthetic
from gareader.core.errors import ModelError
from gareader.data.batching import SPECIAL_WORDS, Collator
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.vectors import word_table
from gareader.data.vocabulary import Alphabet
from gareader.nn.tensors import tensors
from gareader.readers.gated_attention_reader import GatedAttentionReader
from gareader.readers.reader import Basis
from gareader.readers.registry import READERS
from gareader.readers.settings import GatedAttentionConfig
from gareader.trained.folder import VOCABULARY, WEIGHTS, without_folders
from gareader.trained.model import Model, OnTorch, load, save
from gareader.trained.predictor import Predictor
from gareader.trained.shipping import slim
from gareader.trained.temperatures import Temperatures

pytestmark = pytest.mark.slow

WORDS = [*SPECIAL_WORDS, *synthetic.PEOPLE, *synthetic.THINGS, "has", "the", "."]
CORPUS = synthetic.corpus(20, seed=5)
NEW = Example(
    "new", ("Zebra", "has", "gold", "."), (PLACEHOLDER, "has", "gold"), (("Zebra",), ("gold",), ("no",), ("one",)), 0
)


@pytest.fixture
def vectors(tmp_path):
    """Things, two names in lower case, and words that the corpus does not have."""
    path = tmp_path / "vectors.txt"
    chance = np.random.default_rng(0)
    words = [*synthetic.THINGS, "ann", "ben", "has", "the", "zebra", "gold"]
    path.write_text("".join(f"{word} {' '.join(f'{x:.4f}' for x in chance.normal(size=12))}\n" for word in words))
    return path


def trained(vectors, **settings):
    """A reader as a training run leaves it: rows for the words of its corpus."""
    table = word_table(WORDS, vectors, width=12, seed=3)
    alphabet = Alphabet.of(table.vocabulary)
    config = GatedAttentionConfig(hidden=6, **settings)
    generator = torch.Generator().manual_seed(1)
    reader = GatedAttentionReader(config, Basis(torch.from_numpy(table.matrix), len(alphabet), generator=generator))
    collator = Collator(table.vocabulary, alphabet, width=12, seed=3, pretrained=table.pretrained)
    return Model("gated-attention", reader, collator, {"settings": {"data": {"train": "/home/me/train.txt"}}})


def answers(model, examples=CORPUS):
    predictor = Predictor(OnTorch(model.reader), model.collator, model.temperatures)
    return torch.tensor([prediction.log_probabilities for prediction in predictor.answer_many(examples)])


@pytest.mark.parametrize("whole_file", [True, False])
def test_it_answers_as_before_but_for_rounding(vectors, whole_file):
    before = trained(vectors)
    after = slim(before, vectors if whole_file else None)
    torch.testing.assert_close(answers(after), answers(before), rtol=0, atol=0.02)
    assert not answers(after).equal(answers(before))


def test_what_comes_from_the_folder_is_what_was_made(vectors, tmp_path):
    made = replace(slim(trained(vectors), vectors), temperatures=Temperatures(1.7, 2.1))
    save(made, tmp_path / "packed", packed=True)
    found = load(tmp_path / "packed")
    assert answers(found, [*CORPUS, NEW]).tolist() == answers(made, [*CORPUS, NEW]).tolist()
    assert found.temperatures == Temperatures(1.7, 2.1)
    save(trained(vectors), tmp_path / "whole")
    assert (tmp_path / "packed" / WEIGHTS).stat().st_size < 0.6 * (tmp_path / "whole" / WEIGHTS).stat().st_size


def test_words_with_a_random_vector_go_for_they_come_back_from_their_spelling(vectors, tmp_path):
    made = slim(trained(vectors))
    vocabulary = set(made.collator.vocabulary)
    assert vocabulary == {*synthetic.THINGS, "Ann", "Ben", "has", "the"}
    before, after = tensors(trained(vectors).collator([CORPUS[0]])).types, tensors(made.collator([CORPUS[0]])).types
    assert len(after.unknown) > len(before.unknown) == 0
    save(made, tmp_path / "packed", packed=True)
    assert (tmp_path / "packed" / VOCABULARY).read_text().split("\n")[:-1] == list(made.collator.vocabulary)


def test_with_the_vector_file_every_word_of_it_is_known(vectors):
    without, with_ = slim(trained(vectors)), slim(trained(vectors), vectors)
    assert without.collator.row("gold") is without.collator.row("Zebra") is None
    assert with_.collator.row("Zebra") == with_.collator.row("zebra") is not None
    assert with_.collator.row("Ann") == with_.collator.row("ann") is not None


def test_a_reader_whose_vectors_begin_smaller(vectors):
    table = word_table(WORDS, vectors, width=12, seed=3)
    alphabet = Alphabet.of(table.vocabulary)
    collator = Collator(table.vocabulary, alphabet, width=12, seed=3, pretrained=table.pretrained)
    config = READERS["attention-sum"].config(hidden=6, word_scale=0.058, update_words=False)  # type: ignore[call-arg]
    reader = READERS["attention-sum"].reader(config, Basis(torch.from_numpy(table.matrix), len(alphabet)))
    before = Model("attention-sum", reader.eval(), collator)
    after = slim(before, vectors)
    assert after.collator.row("Zebra") is not None
    torch.testing.assert_close(answers(after), answers(before), rtol=0, atol=0.02)


def test_another_vector_file_is_refused(vectors, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("kite " + " ".join(["0.5"] * 12) + "\n" + vectors.read_text())
    with pytest.raises(ModelError, match="vector of 'kite' is not the one this model was trained"):
        slim(trained(vectors), other)


def test_a_larger_vector_file_gives_vectors_to_words_that_had_none(vectors, tmp_path):
    before = trained(vectors)
    assert "Cora" in list(before.collator.vocabulary)[before.collator.pretrained :]
    other = tmp_path / "other.txt"
    other.write_text(vectors.read_text() + "Cora " + " ".join(["0.5"] * 12) + "\n")
    after = slim(before, other)
    assert "Cora" in list(after.collator.vocabulary)[: after.collator.pretrained]


def test_a_vector_file_with_fewer_words_is_refused(vectors, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text(vectors.read_text().replace("drum ", "dromedary "))
    with pytest.raises(ModelError, match="vector of 'drum' is not the one"):
        slim(trained(vectors), other)


def test_vectors_that_training_changed_stay_with_the_reader(vectors):
    before = trained(vectors, update_words=True)
    assert slim(before).collator.vocabulary == before.collator.vocabulary
    with pytest.raises(ModelError, match="pack it without a vector file"):
        slim(before, vectors)


def test_the_notes_do_not_say_where_files_lay(vectors):
    assert slim(trained(vectors)).notes["settings"]["data"] == {"train": "train.txt"}
    assert without_folders({"accuracy": 1}) == {"accuracy": 1}
    assert without_folders({"settings": {"data": {"vector_width": 100}, "reader": {}}}) == {
        "settings": {"data": {"vector_width": 100}, "reader": {}}
    }
    assert without_folders({"settings": {"train": {"start": "/home/me/runs/one"}}}) == {
        "settings": {"train": {"start": "one"}}
    }


@pytest.mark.parametrize("name", [name for name, kind in READERS.items() if kind.row_per_word])
def test_a_reader_that_answers_with_words_keeps_them_all(vectors, name):
    table = word_table(WORDS, vectors, width=12, seed=3)
    alphabet = Alphabet.of(table.vocabulary)
    kind = READERS[name]
    config = kind.config(hidden=6, update_words=False)  # type: ignore[call-arg]
    reader = kind.reader(
        config, Basis(torch.from_numpy(table.matrix), len(alphabet), generator=torch.Generator().manual_seed(1))
    )
    collator = Collator(table.vocabulary, alphabet, width=12, seed=3, pretrained=table.pretrained)
    before = Model(name, reader, collator)
    torch.testing.assert_close(answers(slim(before)), answers(before), rtol=0, atol=0.05)
    with pytest.raises(ModelError, match="other weights of this model belong to its words"):
        slim(before, vectors)
