"""Readers that answer from a vocabulary, where candidates hide behind marks: names do not matter, places do."""

from dataclasses import replace

import pytest
import torch

from gareader.core.config import from_table
from gareader.data.anonymity import mark
from gareader.data.batching import SPECIAL_WORDS, Collator
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.vocabulary import Alphabet, Vocabulary
from gareader.nn.tensors import tensors
from gareader.readers.reader import Basis
from gareader.readers.registry import READERS, new_reader

MARKS = 6
VOCABULARY = Vocabulary([*SPECIAL_WORDS, *map(mark, range(MARKS)), *"Ann Ben Cora met and then left .".split()])
ALPHABET = Alphabet.of(VOCABULARY)
QUESTION = Example(
    "7",
    tuple("Ann met Ben and Cora . then Ben left .".split()),
    ("then", PLACEHOLDER, "left", "Ann", "."),
    (("Cora",), ("Ben",), ("Ann",)),
    1,
)
RENAMED = {"Ann": "Zoë", "Ben": "Ann", "Cora": "Yusuf"}

every_reader = pytest.mark.parametrize("name", ["deep-lstm", "attentive", "impatient", "stanford"])


def renamed(words):
    return tuple(RENAMED.get(word, word) for word in words)


OTHER = replace(
    QUESTION,
    document=renamed(QUESTION.document),
    query=renamed(QUESTION.query),
    candidates=tuple(map(renamed, QUESTION.candidates)),
)


def config(name):
    return from_table(READERS[name].config, {"hidden": 8}, "reader")


def probabilities(name, example, anonymity, draw=0):
    generator = torch.Generator().manual_seed(0)
    words = torch.randn(len(VOCABULARY), 8, generator=generator)
    reader = READERS[name].reader(config(name), Basis(words, len(ALPHABET), generator=generator))
    collate = Collator(VOCABULARY, ALPHABET, width=8, seed=1, anonymity=anonymity, marks=MARKS)
    with torch.no_grad():
        return reader.eval()(tensors(collate([example], draw))).log_probabilities[0]


@every_reader
@pytest.mark.parametrize("anonymity", ["permuted", "ordered"])
def test_names_behind_marks_do_not_matter(name, anonymity):
    for draw in range(3):
        assert torch.equal(probabilities(name, QUESTION, anonymity, draw), probabilities(name, OTHER, anonymity, draw))


@every_reader
def test_names_in_sight_matter(name):
    assert not torch.equal(probabilities(name, QUESTION, "none"), probabilities(name, OTHER, "none"))


@every_reader
def test_permuted_marks_change_with_the_draw_and_ordered_ones_do_not(name):
    permuted, again = (probabilities(name, QUESTION, "permuted", draw) for draw in (0, 1))
    assert not torch.equal(permuted, again)
    assert torch.equal(probabilities(name, QUESTION, "ordered", 0), probabilities(name, QUESTION, "ordered", 1))


@every_reader
def test_the_answers_are_the_rows_of_the_marks(name):
    """Only the marks have rows in W, and only those that the question shows get a gradient."""
    generator = torch.Generator().manual_seed(0)
    words = torch.randn(len(VOCABULARY), 8, generator=generator)
    collator = Collator(VOCABULARY, ALPHABET, width=8, seed=1, anonymity="ordered", marks=MARKS)
    assert collator.answers == [VOCABULARY.get(mark(number)) for number in range(MARKS)]
    reader = new_reader(name, config(name), words, collator, generator=generator)
    batch = tensors(collator([QUESTION]))
    READERS[name].loss(reader(batch), batch).backward()
    rows = reader.get_parameter("answer.weight")
    assert len(rows) == MARKS + 1
    assert rows.grad is not None
    assert rows.grad.abs().sum(dim=1).nonzero().flatten().tolist() == [0, 1, 2]


@every_reader
def test_rows_for_other_words_than_marks_would_change_nothing(name):
    torch.manual_seed(0)
    words, settings = torch.randn(len(VOCABULARY), 8), config(name)
    collator = Collator(VOCABULARY, ALPHABET, width=8, seed=1, anonymity="permuted", marks=MARKS)
    assert collator.answers is not None
    few, all_ = new_reader(name, settings, words, collator), READERS[name].reader(settings, Basis(words, len(ALPHABET)))
    state = all_.state_dict()
    few.load_state_dict({**state, "answer.weight": state["answer.weight"][[*collator.answers, -1]]})
    batch = tensors(collator([QUESTION]))
    ours, theirs = (reader.eval()(batch).log_probabilities for reader in (few, all_))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
