"""Weights in less room: how little, and how much is lost."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from gareader.data.arrays import TABLE
from gareader.trained.packing import SCALE, PackedTable, mapped, pack, table_of, unpack


def weights(rows=50, width=30, scale=1.0):
    chance = np.random.default_rng(rows)
    return {
        TABLE: (scale * chance.normal(size=(rows, width))).astype(np.float32),
        "gru.weight": chance.normal(size=(7, 5)).astype(np.float32),
    }


def test_the_table_takes_a_byte_a_number_and_the_rest_two():
    packed = pack(weights())
    assert packed[TABLE].dtype == np.int8
    assert packed[SCALE].shape == (50, 1)
    assert packed["gru.weight"].dtype == np.float16


@given(st.floats(1e-3, 1e3), st.integers(1, 60))
def test_each_number_of_the_table_is_within_a_step_of_its_row(scale, rows):
    before = weights(rows, scale=scale)
    after = unpack(pack(before))
    step = np.abs(before[TABLE]).max(axis=1, keepdims=True) / 127
    assert (np.abs(after[TABLE] - before[TABLE]) <= 0.57 * step).all()
    np.testing.assert_allclose(after["gru.weight"], before["gru.weight"], rtol=2**-11, atol=1e-7)
    assert {weight.dtype for weight in after.values()} == {np.dtype(np.float32)}


def test_packing_again_changes_nothing():
    once = unpack(pack(weights()))
    twice = unpack(pack(once))
    assert all(np.array_equal(once[name], twice[name]) for name in once)


def test_a_row_of_zeros_and_a_table_without_rows():
    before = weights()
    before[TABLE][3] = 0
    assert not unpack(pack(before))[TABLE][3].any()
    assert unpack(pack({TABLE: np.empty((0, 4), np.float32)}))[TABLE].shape == (0, 4)


def test_weights_that_are_not_packed_stay_as_they_are():
    before = weights()
    assert unpack(before) == before


def test_a_table_that_stays_packed_gives_the_same_rows(tmp_path):
    packed = pack(weights())
    save_file(packed, tmp_path / "words.safetensors")
    table = table_of(mapped(tmp_path / "words.safetensors"))
    assert isinstance(table, PackedTable)
    assert isinstance(table.numbers.base, np.memmap)
    rows = np.array([7, 0, 7])
    np.testing.assert_array_equal(table[rows], unpack(packed)[TABLE][rows])
    np.testing.assert_array_equal(table[:], unpack(packed)[TABLE])


def test_a_mapped_file_has_the_arrays_that_were_written(tmp_path):
    arrays = {**weights(), "empty": np.empty((0, 4), np.float32), "half": np.ones((3, 1), np.float16)}
    save_file(arrays, tmp_path / "weights.safetensors", {"about": "a test"})
    found = mapped(tmp_path / "weights.safetensors")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array, strict=True)
        assert not found[name].flags.writeable
