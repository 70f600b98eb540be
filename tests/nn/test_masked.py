"""Masked softmax and means, the pointer's mass, and answers as words."""

import pytest
import torch
from torch.nn import functional

from gareader.data.batching import Collator
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.vocabulary import Alphabet, Vocabulary
from gareader.nn.answer_words import AnswerWords
from gareader.nn.masked import equal_shares, masked_log_softmax, masked_mean, masked_softmax
from gareader.nn.pointer_sum import pointer_mass, pointer_sum
from gareader.nn.tensors import tensors


def test_masked_softmax():
    scores = torch.tensor([[1.0, 2.0, 50.0], [1.0, 2.0, 3.0]], requires_grad=True)
    mask = torch.tensor([[True, True, False], [False, False, False]])
    attention = masked_softmax(scores, mask)
    torch.testing.assert_close(attention[0, :2], torch.tensor([1.0, 2.0]).softmax(0))
    assert attention[0, 2] == 0
    assert attention[1].tolist() == [0, 0, 0]
    attention.square().sum().backward()
    assert scores.grad.isfinite().all()  # type: ignore[union-attr]


def test_masked_log_softmax():
    scores = torch.tensor([[1.0, 2.0, 50.0], [1.0, 2.0, -torch.inf]], requires_grad=True)
    mask = torch.tensor([[True, True, False], [False, False, False]])
    logs = masked_log_softmax(scores, mask)
    torch.testing.assert_close(logs.exp(), masked_softmax(scores, mask))
    assert logs[~mask].isneginf().all()
    logs[0, 0].backward()
    assert scores.grad.isfinite().all()  # type: ignore[union-attr]


def test_masked_mean_and_its_weights():
    values = torch.tensor([[1.0, 2.0, 50.0], [1.0, 2.0, 3.0]])
    mask = torch.tensor([[True, True, False], [False, False, False]])
    assert masked_mean(values, mask).tolist() == [1.5, 0.0]
    assert equal_shares(mask, 1, torch.float64).tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
    assert equal_shares(mask.T, 0, torch.float32).dtype == torch.float32


def test_pointer_mass_is_of_the_whole_document():
    scores = torch.tensor([[1.0, 2.0, 3.0, 9.0]])
    mask = torch.tensor([[True, True, True, False]])
    occurrence = torch.tensor([[[True, False, True, False], [False, False, False, False]]])
    mass = pointer_mass(scores, mask, occurrence)
    share = scores[0, :3].softmax(0)
    assert mass[0, 0].exp().item() == pytest.approx((share[0] + share[2]).item())
    assert mass[0, 1] == -torch.inf
    both = occurrence | torch.tensor([[[False] * 4, [False, True, False, False]]])
    renormalised = pointer_mass(scores, mask, both).log_softmax(-1)
    torch.testing.assert_close(renormalised, pointer_sum(scores, both))


def test_answers_as_words():
    collate = Collator(Vocabulary(["Tom", "Ann"]), Alphabet.of(["x"]), width=2, seed=1)
    candidates = ("Tom",), ("Ann", "Zoë"), ("Ben",)
    example = Example("1", tuple("Tom saw Ann and Zoë".split()), (PLACEHOLDER,), candidates, 0)
    layer = AnswerWords(2, 3, generator=torch.Generator().manual_seed(1))
    g = torch.randn(1, 3, generator=torch.Generator().manual_seed(2))
    got = layer(g, tensors(collate([example])))
    tom, ann, unknown = (layer.weight @ g[0]).tolist()
    expected = functional.log_softmax(torch.tensor([tom, (ann + unknown) / 2]), 0)
    torch.testing.assert_close(got[0, :2], expected)
    assert got[0, 2] == -torch.inf
    few = AnswerWords(2, 3, [1])
    few.load_state_dict({"weight": layer.weight[1:]})
    tom, ann, unknown = (few.weight @ g[0])[[1, 0, 1]].tolist()  # Tom has no row of his own
    expected = functional.log_softmax(torch.tensor([tom, (ann + unknown) / 2]), 0)
    torch.testing.assert_close(few(g, tensors(collate([example])))[0, :2], expected)
