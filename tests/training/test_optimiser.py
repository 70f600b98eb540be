"""Updates of the rows that a batch reads are those of updating every row every time."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from gareader.core.distributed import ALONE, Group
from gareader.nn.rows import row_table, rows
from gareader.training.optimiser import PERIOD, Optimiser, row_tables
from gareader.training.settings import TrainConfig

RECIPES: dict[str, dict[str, Any]] = {
    "adam": {},
    "sgd": {"optimiser": "sgd"},
    "sgd with momentum": {"optimiser": "sgd", "momentum": 0.9},
    "rmsprop": {"optimiser": "rmsprop"},
    "rmsprop with momentum": {"optimiser": "rmsprop", "momentum": 0.9},
    "adadelta": {"optimiser": "adadelta"},
    "adam with a penalty": {"word_weight_decay": 1e-3},
}
NAMES = ["embed.words", "other"]


class Trained:
    """Two tables and an optimiser of them; the gradients of a row are about as large as its `scale`."""

    def __init__(self, recipe, tables, seed=0, size=40, dtype=torch.float64):
        self.random = torch.Generator().manual_seed(seed)
        self.weights = {
            name: row_table(torch.randn(size, 3, dtype=dtype, generator=self.random) / 10) for name in NAMES
        }
        self.scale = 10 ** (-9 * torch.rand(size, 1, dtype=dtype, generator=self.random))
        self.frequency = 1 / torch.arange(1, size + 1).double() ** 2
        self.optimiser = Optimiser(TrainConfig(**recipe), self.weights, tables)

    def draw(self, number=4):
        return torch.multinomial(self.frequency, number, replacement=True, generator=self.random)

    def update(self, rate=1e-3, read=rows):
        self.optimiser.zero_grad()
        for table in self.weights.values():
            for indices in (self.draw(), self.draw(2)):  # as two slices of a batch
                gradient = torch.randn(len(indices), 3, dtype=table.dtype, generator=self.random)
                (read(table, indices) * gradient * self.scale[indices]).sum().backward()
        norm = self.optimiser.clip().item()
        self.optimiser.step(rate)
        return norm

    def values(self):
        self.optimiser.bring_up_to_date()
        return {name: table.detach() for name, table in self.weights.items()}


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES)
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rate=st.floats(1e-5, 1e-3), fall=st.floats(0, 1), clip=st.sampled_from([0.1, 9]))
def test_the_rows_have_the_values_of_dense_updates(recipe, seed, rate, fall, clip):
    each_row, every_row = (Trained({**RECIPES[recipe], "clip_norm": clip}, tables, seed) for tables in (NAMES, []))
    count = PERIOD + 90
    for number in range(count):
        now = rate * (1 - fall * number / (count - 1))
        assert each_row.update(now) == pytest.approx(every_row.update(now), rel=1e-5)
    waits = (each_row.optimiser.tables["other"].row_step < count).any()
    assert waits == ("sgd" not in recipe or "momentum" not in recipe)
    torch.testing.assert_close(each_row.values(), every_row.values(), rtol=0, atol=1e-7)


@pytest.mark.slow
def test_in_single_precision():
    each_row, every_row = (Trained({}, tables, dtype=torch.float32) for tables in (NAMES, []))
    for _ in range(2 * PERIOD - 10):
        each_row.update()
        every_row.update()
    torch.testing.assert_close(each_row.values(), every_row.values(), rtol=0, atol=1e-6)


def test_no_gradient_of_the_whole_table_is_made():
    trained = Trained({}, NAMES)
    trained.update()
    assert all(table.grad is None for table in trained.weights.values())
    assert all(len(table.rows) <= 6 for table in trained.optimiser.tables.values())


def test_a_table_that_is_read_otherwise_too_has_dense_updates():
    def also_whole(table, indices):
        return rows(table, indices) + table.sum() / 7

    def dense(table, indices):
        return functional.embedding(indices, table) + table.sum() / 7

    each_row, every_row = Trained({}, NAMES), Trained({}, [])
    for _ in range(20):
        each_row.update(read=also_whole)
        every_row.update(read=dense)
    torch.testing.assert_close(each_row.values(), every_row.values(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_state_goes_on_to_the_bit(recipe, monkeypatch):
    period = 40
    monkeypatch.setattr("gareader.training.optimiser.PERIOD", period)
    whole, broken = (Trained(RECIPES[recipe], NAMES) for _ in range(2))
    for _ in range(period + 30):
        whole.update()
        broken.update()
    other = Trained(RECIPES[recipe], NAMES)
    other.random.set_state(broken.random.get_state())
    for name in NAMES:
        with torch.no_grad():
            other.weights[name].copy_(broken.weights[name])
        state = {key: value.clone() for key, value in broken.optimiser.state(name).items()}
        other.optimiser.set_state(name, state)
    for _ in range(period):
        whole.update()
        other.update()
    assert all(torch.equal(value, other.values()[name]) for name, value in whole.values().items())


def test_the_state_of_dense_updates_is_taken():
    dense = Trained({}, [])
    for _ in range(PERIOD + 30):
        dense.update()
    by_rows = Trained({}, NAMES)
    by_rows.random.set_state(dense.random.get_state())
    for name in NAMES:
        with torch.no_grad():
            by_rows.weights[name].copy_(dense.weights[name])
        state = {key: value.clone() for key, value in dense.optimiser.state(name).items()}
        by_rows.optimiser.set_state(name, state)
    for _ in range(40):
        dense.update()
        by_rows.update()
    torch.testing.assert_close(by_rows.values(), dense.values(), rtol=0, atol=1e-7)


def test_rates_of_zero_move_nothing():
    trained = Trained({}, NAMES)
    for _ in range(PERIOD):
        trained.update()
    before = {name: value.clone() for name, value in trained.values().items()}
    for _ in range(3):
        trained.update(rate=0.0)
    assert all(torch.equal(value, before[name]) for name, value in trained.values().items())


def test_which_tables_are_updated_by_rows():
    weights = {"table": row_table(torch.ones(2, 2)), "matrix": nn.Parameter(torch.ones(2, 2))}
    assert row_tables(TrainConfig(), weights, ALONE) == ["table"]
    assert row_tables(TrainConfig(), weights, Group(size=2)) == []
    assert row_tables(TrainConfig(compile=True), weights, ALONE) == []
    assert row_tables(TrainConfig(ema=0.9), weights, ALONE) == []
    on_another_device = {"table": row_table(torch.ones(2, 2, device="meta"))}
    assert row_tables(TrainConfig(), on_another_device, ALONE) == []
