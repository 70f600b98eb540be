"""The Bi-GRU against the paper's equations, against torch.nn.GRU, and under masks."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gareader.nn.gru import CELLS, BiGRU
from gareader.nn.sequences import at_position, final_states
from reference import bigru, gru_parameters


def make(inputs, hidden, cell, seed=0):
    gru = BiGRU(inputs, hidden, cell, generator=torch.Generator().manual_seed(seed)).double()
    torch.nn.init.normal_(gru.bias, generator=torch.Generator().manual_seed(seed + 1))
    torch.nn.init.normal_(gru.recurrent_weight, generator=torch.Generator().manual_seed(seed + 2))
    return gru


def random(*shape, seed=7):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("cell", CELLS)
def test_equals_the_equations(cell):
    gru = make(5, 4, cell)
    x = random(1, 9, 5)
    expected = bigru(list(x[0].numpy()), *gru_parameters(gru), cell=cell)
    np.testing.assert_allclose(
        gru(x, torch.ones(1, 9, dtype=torch.bool))[0].detach().numpy(), expected, rtol=1e-9, atol=1e-12
    )


def test_the_two_cells_differ():
    paper, cudnn = make(5, 4, "paper"), make(5, 4, "cudnn")
    x, mask = random(1, 9, 5), torch.ones(1, 9, dtype=torch.bool)
    assert (paper(x, mask) - cudnn(x, mask)).abs().max() > 1e-2


def test_cudnn_cell_equals_torch_gru():
    ours = make(5, 4, "cudnn")
    torchs = torch.nn.GRU(5, 4, bidirectional=True, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        for d, suffix in enumerate(("", "_reverse")):
            getattr(torchs, f"weight_ih_l0{suffix}").copy_(ours.input_weight[d].T)
            getattr(torchs, f"weight_hh_l0{suffix}").copy_(ours.recurrent_weight[d].T)
            getattr(torchs, f"bias_ih_l0{suffix}").copy_(ours.bias[d, 0, 0])
            getattr(torchs, f"bias_hh_l0{suffix}").zero_()
    x = random(3, 9, 5)
    torch.testing.assert_close(ours(x, torch.ones(3, 9, dtype=torch.bool)), torchs(x)[0], rtol=1e-9, atol=1e-12)


@given(st.lists(st.integers(1, 7), min_size=1, max_size=4), st.sampled_from(sorted(CELLS)), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_padding_and_neighbours_change_nothing(lengths, cell, extra):
    gru = make(3, 4, cell)
    width = max(lengths) + extra
    x = random(len(lengths), width, 3)
    mask = torch.arange(width) < torch.tensor(lengths)[:, None]
    together = gru(x, mask)
    for row, length in enumerate(lengths):
        alone = gru(x[row : row + 1, :length], mask[row : row + 1, :length])
        torch.testing.assert_close(together[row, :length], alone[0], rtol=1e-9, atol=1e-12)
        assert (together[row, length:] == 0).all()
        expected = torch.cat([alone[0, -1, :4], alone[0, 0, 4:]])
        torch.testing.assert_close(final_states(together, mask)[row], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cell", CELLS)
def test_gradients(cell):
    gru = make(2, 3, cell)
    mask = torch.tensor([[True, True, True], [True, False, False]])
    x = random(2, 3, 2).requires_grad_()
    names, values = zip(*gru.named_parameters(), strict=True)

    def run(x, *parameters):
        return torch.func.functional_call(gru, dict(zip(names, parameters, strict=True)), (x, mask))

    assert torch.autograd.gradcheck(run, (x, *values))


@pytest.mark.parametrize("cell", CELLS)
def test_no_gradient_from_padding(cell):
    gru = make(2, 3, cell)
    x = random(1, 4, 2).requires_grad_()
    gru(x, torch.tensor([[True, True, False, False]])).sum().backward()
    assert (x.grad[0, :2] != 0).all()
    assert (x.grad[0, 2:] == 0).all()


def test_initial_values():
    gru = BiGRU(200, 100, generator=torch.Generator().manual_seed(0))
    assert gru.input_weight.std().item() == pytest.approx(0.1, rel=0.02)
    assert gru.recurrent_weight.std().item() == pytest.approx(0.1, rel=0.02)
    assert abs(gru.input_weight.mean().item()) < 2e-3
    assert (gru.bias == 0).all()
    again = BiGRU(200, 100, generator=torch.Generator().manual_seed(0))
    assert torch.equal(gru.input_weight, again.input_weight)
    assert torch.equal(gru.recurrent_weight, again.recurrent_weight)


def test_at_position():
    states = torch.arange(12).reshape(2, 3, 2)
    assert at_position(states, torch.tensor([2, 0])).tolist() == [[4, 5], [6, 7]]
