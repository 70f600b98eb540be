"""Weights in less room: how little, and how much is lost."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from gareader.nn.embedding import TABLE
from gareader.trained.packing import SCALE, pack, unpack


def weights(rows=50, width=30, scale=1.0):
    generator = torch.Generator().manual_seed(rows)
    return {
        TABLE: scale * torch.randn(rows, width, generator=generator),
        "gru.weight": torch.randn(7, 5, generator=generator),
    }


def test_the_table_takes_a_byte_a_number_and_the_rest_two():
    packed = pack(weights())
    assert packed[TABLE].dtype == torch.int8
    assert packed[SCALE].shape == (50, 1)
    assert packed["gru.weight"].dtype == torch.half


@given(st.floats(1e-3, 1e3), st.integers(1, 60))
def test_each_number_of_the_table_is_within_a_step_of_its_row(scale, rows):
    before = weights(rows, scale=scale)
    after = unpack(pack(before))
    step = before[TABLE].abs().amax(dim=1, keepdim=True) / 127
    assert ((after[TABLE] - before[TABLE]).abs() <= 0.57 * step).all()
    torch.testing.assert_close(after["gru.weight"], before["gru.weight"], rtol=2**-11, atol=1e-7)
    assert {weight.dtype for weight in after.values()} == {torch.float32}


def test_packing_again_changes_nothing():
    once = unpack(pack(weights()))
    twice = unpack(pack(once))
    assert all(once[name].equal(twice[name]) for name in once)


def test_a_row_of_zeros_and_a_table_without_rows():
    before = weights()
    before[TABLE][3] = 0
    assert unpack(pack(before))[TABLE][3].abs().max() == 0
    assert unpack(pack({TABLE: torch.empty(0, 4)}))[TABLE].shape == (0, 4)


def test_weights_that_are_not_packed_stay_as_they_are():
    before = weights()
    assert unpack(before) == before
