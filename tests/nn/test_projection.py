"""A linear map and its first weights."""

import pytest
import torch

from gareader.nn.projection import Projection


def test_a_linear_map():
    layer = Projection(3, 2, bias=True)
    layer.weight.data = torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]])
    assert layer.bias is not None
    layer.bias.data = torch.tensor([10.0, 20.0])
    assert layer(torch.tensor([[1.0, 1.0, 1.0], [0.0, 2.0, 0.0]])).tolist() == [[16.0, 21.0], [14.0, 22.0]]


def test_first_weights():
    before = torch.get_rng_state()
    glorot, bounded = (
        Projection(100, 50, bound=bound, generator=torch.Generator().manual_seed(0)) for bound in (None, 0.01)
    )
    assert torch.equal(before, torch.get_rng_state())
    assert glorot.weight.abs().max().item() == pytest.approx((6 / 150) ** 0.5, rel=0.01)
    assert bounded.weight.abs().max().item() == pytest.approx(0.01, rel=0.01)
    assert bounded.bias is None
    bias = Projection(2, 3, bias=True).bias
    assert bias is not None
    assert (bias == 0).all()
