"""The gated-attention module against equations 5 and 6."""

import numpy as np
import pytest
import torch

import reference
from gareader.nn.gated_attention import GATES, token_attention, whole_query


def tensors(seed=0, sizes=((2, 5, 6), (2, 4, 6))):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*size, dtype=torch.float64, generator=generator) for size in sizes]


LENGTHS = torch.tensor([4, 2])
MASK = torch.arange(4) < LENGTHS[:, None]


def test_token_attention_equals_the_equation_and_ignores_padding():
    document, query = tensors()
    view, alpha = token_attention(document, query, MASK)
    for b, length in enumerate(LENGTHS):
        for i in range(5):
            expected, weights = reference.token_attention(document[b, i].numpy(), list(query[b, :length].numpy()))
            np.testing.assert_allclose(view[b, i].numpy(), expected, rtol=1e-9)
            np.testing.assert_allclose(alpha[b, i, :length].numpy(), weights, rtol=1e-9)
        assert (alpha[b, :, length:] == 0).all()


def test_whole_query_takes_both_final_states():
    document, query = tensors()
    view, alpha = whole_query(document, query, MASK)
    assert alpha is None
    for b, length in enumerate(LENGTHS):
        expected = reference.whole_query(list(query[b, :length].numpy()))
        np.testing.assert_array_equal(view[b].numpy(), np.tile(expected, (5, 1)))


@pytest.mark.parametrize("gate", GATES)
def test_gates(gate):
    d, q = tensors(sizes=((3,), (3,)))
    np.testing.assert_array_equal(GATES[gate](d, q).numpy(), reference.gate(d.numpy(), q.numpy(), gate))


@pytest.mark.parametrize("attend", [token_attention, whole_query])
def test_gradients(attend):
    document, query = (t.requires_grad_() for t in tensors(sizes=((2, 3, 4), (2, 4, 4))))
    assert torch.autograd.gradcheck(lambda d, q: GATES["multiply"](d, attend(d, q, MASK)[0]), (document, query))
