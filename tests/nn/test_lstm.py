"""The bidirectional LSTM against its equations, and padding."""

import numpy as np
import torch

from gareader.nn.lstm import BiLSTM
from gareader.nn.sequences import final_states
from reference import bilstm


def test_the_equations():
    layer = BiLSTM(3, 4, generator=torch.Generator().manual_seed(1), scale=0.7).double()
    layer.lstm.get_parameter("bias_ih_l0").data.normal_(generator=torch.Generator().manual_seed(2))
    X = torch.randn(1, 5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        states = layer(X, torch.ones(1, 5, dtype=torch.bool))[0].numpy()
    np.testing.assert_allclose(states, bilstm(X[0].numpy(), layer), rtol=1e-9)


def test_padding_changes_nothing():
    layer = BiLSTM(3, 4, generator=torch.Generator().manual_seed(1)).double()
    X = torch.randn(2, 6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    mask = torch.arange(6) < torch.tensor([[6], [2]])
    with torch.no_grad():
        together, alone = layer(X, mask), layer(X[1:, :2], mask[1:, :2])
    torch.testing.assert_close(together[1, :2], alone[0])
    assert (together[1, 2:] == 0).all()
    torch.testing.assert_close(final_states(together, mask)[1], final_states(alone, mask[1:, :2])[0])


def test_same_seed_same_weights_and_only_one_bias_learns():
    one, same = (BiLSTM(3, 4, generator=torch.Generator().manual_seed(5)).state_dict() for _ in range(2))
    assert all(torch.equal(one[name], same[name]) for name in one)
    learns = {name for name, weight in BiLSTM(3, 4).named_parameters() if weight.requires_grad}
    assert not any("bias_hh" in name for name in learns)
    assert len(learns) == 6
