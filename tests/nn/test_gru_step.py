"""One step of a GRU against its equations."""

import numpy as np
import pytest
import torch

import reference
from gareader.nn.gru import GRUStep


def test_equals_the_equations():
    generator = torch.Generator().manual_seed(0)
    layer = GRUStep(3, 2, generator=generator).double()
    torch.nn.init.normal_(layer.bias, generator=generator)
    x, h = (torch.randn(4, n, dtype=torch.float64, generator=generator) for n in (3, 2))
    parts = {"W": layer.input_weight, "U": layer.recurrent_weight, "b": layer.bias}
    p = {
        f"{name}_{gate}": part.T
        for name, stacked in parts.items()
        for gate, part in zip("rzh", np.split(stacked.detach().numpy(), 3, axis=-1), strict=True)
    }
    expected = [reference.gru_step(a, b, p) for a, b in zip(x.numpy(), h.numpy(), strict=True)]
    np.testing.assert_allclose(layer(x, h).detach().numpy(), expected, rtol=1e-9)


def test_first_weights():
    layer = GRUStep(300, 32, generator=torch.Generator().manual_seed(0))
    assert layer.input_weight.std().item() == pytest.approx(0.1, rel=0.02)
    for matrix in layer.recurrent_weight.chunk(3, dim=1):
        torch.testing.assert_close(matrix @ matrix.T, torch.eye(32), rtol=0, atol=1e-5)
