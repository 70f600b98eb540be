"""What every reader must do, run on every variant that changes its code path."""

from dataclasses import replace
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

import synthetic
from gareader.data.batching import SPECIAL_WORDS, Collator
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.vocabulary import Alphabet, Vocabulary
from gareader.nn.tensors import tensors
from gareader.readers.reader import Basis
from gareader.readers.registry import READERS
from readers.variants import CHANGES, LEARNING, VARIANTS

VOCABULARY = Vocabulary([*SPECIAL_WORDS, *synthetic.PEOPLE, *synthetic.THINGS, "has", "the", "."])
ALPHABET = Alphabet.of(VOCABULARY)
COLLATE = Collator(VOCABULARY, ALPHABET, width=16, seed=3)

every_variant = pytest.mark.parametrize(("kind", "config"), VARIANTS.values(), ids=VARIANTS)


def build(kind, config, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    words = torch.randn(len(VOCABULARY), 16, generator=generator)
    return kind.reader(config, Basis(words, len(ALPHABET), generator=generator)).to(dtype)


built = cache(build)
"""For tests that leave the weights as they are."""


def answers(reader, examples):
    """Log-probabilities of each example's candidates, read in one batch."""
    with torch.no_grad():
        rows = reader.eval()(tensors(COLLATE(examples))).log_probabilities
    return [row[: len(example.candidates)] for row, example in zip(rows, examples, strict=True)]


def assert_same(got, expected):
    torch.testing.assert_close(got, expected, rtol=1e-9, atol=1e-9)


words = st.sampled_from([*synthetic.PEOPLE[:4], *synthetic.THINGS[:2], "has", ".", "new", "Zoë"])
examples = st.builds(
    lambda document, before, after, candidates: Example(
        "drawn", tuple(document), (*before, PLACEHOLDER, *after), tuple(map(tuple, candidates)), None
    ),
    st.lists(words, min_size=1, max_size=9),
    st.lists(words, max_size=3),
    st.lists(words, max_size=3),
    st.lists(st.lists(words, min_size=1, max_size=2), min_size=2, max_size=5),
)


@pytest.mark.slow
@every_variant
@given(batch=st.lists(examples, min_size=2, max_size=4), data=st.data())
@settings(max_examples=12, deadline=None)
def test_neighbours_padding_and_candidate_order_change_nothing(kind, config, batch, data):
    reader = built(kind, config)
    together = answers(reader, batch)
    orders = [data.draw(st.permutations(range(len(example.candidates)))) for example in batch]
    permuted = [
        replace(example, candidates=tuple(example.candidates[i] for i in order))
        for example, order in zip(batch, orders, strict=True)
    ]
    for got, order, other in zip(together, orders, answers(reader, permuted), strict=True):
        assert_same(other, got[order])
    for example, got in zip(batch, together, strict=True):
        assert_same(got, answers(reader, [example])[0])
        assert not got.isnan().any()
        present = torch.tensor([any(w in example.document for w in candidate) for candidate in example.candidates])
        assert got.isneginf().equal(~present)
        if present.any():
            assert got.exp().sum().item() == pytest.approx(1)


@every_variant
def test_every_parameter_gets_a_gradient(kind, config):
    reader = build(kind, replace(config, dropout=0.2)).train()
    unknown = Example("new words", ("Zoë", "has", "the", "yak"), (PLACEHOLDER, "has"), (("Zoë",), ("yak",)), 0)
    missing = Example("missing", ("Ann", "Ben"), (PLACEHOLDER, "has"), (("Ann",), ("Ben",), ("Dan",)), 0)
    asked = Example("asked", ("Ann", "has", "Ben"), (PLACEHOLDER, "has", "Ben"), (("Ann",), ("Ben",)), 0)
    batch = tensors(COLLATE([*synthetic.corpus(8, seed=0), unknown, missing, asked]))
    kind.loss(reader(batch), batch).backward()
    for name, parameter in reader.named_parameters():
        if parameter.requires_grad:
            assert parameter.grad.isfinite().all(), name
            assert (parameter.grad != 0).any(), name


@every_variant
def test_a_question_without_candidates_in_the_document_harms_nobody(kind, config):
    reader = build(kind, config)
    good = synthetic.corpus(3, seed=1)
    lost = Example("lost", ("nothing", "here"), (PLACEHOLDER, "has"), (("Ann",), ("Ben",)), None)
    batch = tensors(COLLATE([*good, lost]))
    output = reader(batch).log_probabilities
    assert output[3].isneginf().all()
    functional.nll_loss(output[:3], batch.answer[:3]).backward()
    assert all(p.grad.isfinite().all() for p in reader.parameters() if p.grad is not None)


@every_variant
def test_saved_and_loaded_weights_give_equal_outputs(kind, config, tmp_path):
    one, other = build(kind, config, seed=0), build(kind, config, seed=1)
    batch = synthetic.corpus(3, seed=0)
    assert not torch.equal(torch.stack(answers(one, batch)), torch.stack(answers(other, batch)))
    torch.save(one.state_dict(), tmp_path / "weights")
    other.load_state_dict(torch.load(tmp_path / "weights", weights_only=True))
    assert torch.equal(torch.stack(answers(one, batch)), torch.stack(answers(other, batch)))


@every_variant
def test_same_seed_same_weights_and_the_world_is_not_seeded(kind, config):
    before = torch.get_rng_state()
    one, same, other = (build(kind, config, seed=seed).state_dict() for seed in (0, 0, 1))
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert any(not torch.equal(one[name], other[name]) for name in one)


@cache
def questions(corpus, count, seed):
    return corpus(count, seed=seed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "config"),
    [
        pytest.param(*VARIANTS[name], id=name)
        for name in VARIANTS
        if name.startswith("gated") or name.endswith("default")
    ],
)
def test_learns_who_has_what(kind, config):
    own = next(LEARNING.get(name, {}) for name, each in READERS.items() if each is kind)
    reader = build(kind, replace(config, hidden=24, **own.get("settings", {})), dtype=torch.float32)
    optimiser = torch.optim.Adam([p for p in reader.parameters() if p.requires_grad], lr=own.get("rate", 0.01))
    corpus = own.get("corpus", synthetic.corpus)
    updates = own.get("updates", 100)
    training, unseen = questions(corpus, 32 * updates, 1), questions(corpus, 200, 2)
    accuracy = 0.0
    for update in range(updates):
        batch = tensors(COLLATE(training[32 * update : 32 * (update + 1)]))
        optimiser.zero_grad()
        kind.loss(reader.train()(batch), batch).backward()
        optimiser.step()
        if update % 20 == 19:
            right = [int(row.argmax()) == e.answer for row, e in zip(answers(reader, unseen), unseen, strict=True)]
            accuracy = sum(right) / len(unseen)
            if accuracy > 0.9:  # a guess is right in a quarter, in a half of the pairs
                return
    pytest.fail(f"{accuracy:.1%} of the questions after {updates} updates")


def test_every_reader_is_under_contract():
    assert CHANGES.keys() == READERS.keys()
