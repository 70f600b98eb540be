"""Pointer-sum against equation 8, and in its corners."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gareader.nn.masked import masked_logsumexp
from gareader.nn.pointer_sum import pointer_sum
from reference import candidate_probabilities, softmax

WORDS = "abcdef"
questions = st.tuples(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12),
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), min_size=2, max_size=5),
    st.integers(0, 2**31),
)


def occurrence(document, candidates):
    return torch.tensor([[[word in candidate for word in document] for candidate in candidates]])


@given(questions)
@settings(deadline=None)
def test_equals_the_equation_and_never_gives_nan(question):
    document, candidates, seed = question
    scores = 3 * torch.randn(1, len(document), dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    scores.requires_grad_()
    marks = occurrence(document, candidates)
    result = pointer_sum(scores, marks)
    present = marks.any(-1)
    assert result.isneginf().equal(~present)
    if present.any():
        expected = candidate_probabilities(softmax(scores[0].detach().numpy()), document, candidates)
        np.testing.assert_allclose(result[0].exp().detach().numpy(), expected, rtol=1e-9)
        assert result.exp().sum().item() == pytest.approx(1)
    result[present].sum().backward()
    assert scores.grad is not None
    assert scores.grad.isfinite().all()


def test_a_shared_word_counts_for_both_and_is_renormalised():
    marks = occurrence(["mary", "ann", "tom"], [["mary", "ann"], ["ann"], ["tom"]])
    probabilities = pointer_sum(torch.zeros(1, 3), marks).exp()
    torch.testing.assert_close(probabilities, torch.tensor([[2 / 4, 1 / 4, 1 / 4]]))


def test_the_mean_prefers_the_longer_name_only_if_its_further_words_get_more_than_the_others():
    marks = occurrence(["New", "York", "Times", "York"], [["New", "York"], ["New", "York", "Times"]])
    words = torch.tensor([[2, 3]])
    for attention_on_times, expected in ((1.0, [1 / 2, 1 / 2]), (4.0, [1 / 3, 2 / 3])):
        attention = torch.tensor([[0.5, 1.0, attention_on_times, 0.5]])
        torch.testing.assert_close(pointer_sum(attention.log(), marks, words).exp(), torch.tensor([expected]))


def test_large_scores_stay_finite():
    result = pointer_sum(torch.tensor([[2000.0, -2000.0]]), occurrence(["a", "b"], [["a"], ["b"]]))
    assert result.tolist() == [[0.0, -4000.0]]


def test_a_missing_candidate_does_not_poison_a_gradient():
    scores = torch.zeros(1, 2, requires_grad=True)
    loss = torch.nn.functional.nll_loss(
        pointer_sum(scores, occurrence(["a", "b"], [["a"], ["b"], ["z"]])), torch.tensor([0])
    )
    loss.backward()
    assert scores.grad is not None
    assert scores.grad.tolist() == [[-0.5, 0.5]]


def test_no_candidate_at_all_is_minus_infinity_with_gradient_zero():
    scores = torch.zeros(1, 2, requires_grad=True)
    result = pointer_sum(scores, occurrence(["a", "b"], [["y"], ["z"]]))
    assert result.tolist() == [[-torch.inf, -torch.inf]]
    result.exp().sum().backward()
    assert scores.grad is not None
    assert scores.grad.tolist() == [[0.0, 0.0]]


def test_gradients():
    scores = torch.randn(2, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    marks = torch.tensor([[[1, 0, 1, 0], [0, 1, 1, 0]], [[1, 0, 0, 0], [0, 0, 0, 1]]]).bool()
    assert torch.autograd.gradcheck(lambda scores: pointer_sum(scores, marks), scores)
    assert torch.autograd.gradcheck(lambda scores: masked_logsumexp(scores, marks[:, 0]), scores)
