"""The LSTM loop: against torch.nn.LSTM, and its hand-written gradient against numerical ones."""

import pytest
import torch

from gareader.nn.lstm_loop import LSTMLoop
from reference import sigmoid

T, N, H = 5, 3, 4
lstm_loop = LSTMLoop()


def tensors(*shapes, dtype=torch.float64):
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(shape, dtype=dtype, generator=generator).requires_grad_() for shape in shapes]


def test_without_peepholes_it_is_torchs_lstm():
    steps, weight, h, c = tensors((T, N, 4 * H), (H, 4 * H), (N, H), (N, H))
    lstm = torch.nn.LSTM(4 * H, H, bias=False, dtype=torch.float64)
    order = torch.cat([torch.arange(H) + H * gate for gate in (1, 0, 2, 3)])  # torch has i, f, g, o
    with torch.no_grad():
        lstm.get_parameter("weight_ih_l0").copy_(torch.eye(4 * H)[order])
        lstm.get_parameter("weight_hh_l0").copy_(weight.T[order])
    expected, (last_h, last_c) = lstm(steps, (h.unsqueeze(0), c.unsqueeze(0)))
    states, cells = lstm_loop(steps, weight, state=(h, c))
    torch.testing.assert_close(states, expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(states[-1], last_h[0], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(cells[-1], last_c[0], rtol=1e-12, atol=1e-12)


def test_peepholes_see_the_cell_before_and_the_output_gate_the_new_one():
    steps, weight, peepholes, h, c = (
        tensor.detach() for tensor in tensors((1, N, 4 * H), (H, 4 * H), (3, H), (N, H), (N, H))
    )
    f, i, g, o = (steps[0] + h @ weight).numpy().reshape(N, 4, H).swapaxes(0, 1)
    p_f, p_i, p_o = peepholes.numpy()
    new = sigmoid(f + p_f * c.numpy()) * c.numpy() + sigmoid(i + p_i * c.numpy()) * torch.tensor(g).tanh().numpy()
    states, cells = lstm_loop(steps, weight, peepholes, (h, c))
    torch.testing.assert_close(cells[0], torch.tensor(new), rtol=1e-12, atol=1e-12)
    expected = torch.tensor(sigmoid(o + p_o * new)) * torch.tensor(new).tanh()
    torch.testing.assert_close(states[0], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("steps", [1, T])
def test_gradients_of_all_that_it_takes_and_gives(steps):
    taken = tensors((steps, N, 4 * H), (H, 4 * H), (3, H), (N, H), (N, H))
    assert torch.autograd.gradcheck(lambda x, u, p, h, c: lstm_loop(x, u, p, (h, c)), taken)
    assert torch.autograd.gradcheck(lstm_loop, taken[:2])  # from zeros, no peepholes


def test_inputs_of_half_the_precision_are_read_in_that_of_the_weights():
    steps, weight = tensors((T, N, 4 * H), (H, 4 * H), dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        states, cells = lstm_loop(steps.bfloat16(), weight)
    assert states.dtype == cells.dtype == torch.float32
    torch.testing.assert_close(states, lstm_loop(steps.bfloat16().float(), weight)[0])
    states.sum().backward()
    assert steps.grad.isfinite().all()
