"""The recipe: learning rates, optimisers, clipping."""

import pytest
import torch
from torch import nn

from gareader.core.errors import ConfigError
from gareader.training.optimiser import OPTIMISERS, Optimiser
from gareader.training.settings import TrainConfig


def weights(*values):
    """A word table and another weight, each with a gradient."""
    made = {"embed.words": nn.Parameter(torch.ones(2)), "other": nn.Parameter(torch.ones(2))}
    for weight, value in zip(made.values(), values, strict=True):
        weight.grad = torch.full((2,), value)
    return made


def test_the_learning_rate_is_halved_after_the_second_epoch():
    assert [TrainConfig().rate(epoch, 0) for epoch in range(4)] == [5e-4, 5e-4, 2.5e-4, 1.25e-4]


def test_another_course_of_the_learning_rate():
    config = TrainConfig(learning_rate=1.0, constant_epochs=1, learning_rate_decay=0.1)
    assert [config.rate(epoch, 0) for epoch in range(3)] == pytest.approx([1, 0.1, 0.01])
    assert TrainConfig(learning_rate=1.0, learning_rate_decay=1.0).rate(50, 0) == 1


@pytest.mark.parametrize("config", [TrainConfig(max_minutes=10.0), TrainConfig(anneal=True)], ids=["minutes", "decay"])
def test_the_learning_rate_falls_to_zero_over_the_second_half(config):
    assert [config.rate(0, share) for share in (0, 0.5, 0.75, 1)] == pytest.approx([5e-4, 5e-4, 2.5e-4, 0])
    assert config.rate(2, 0) == 2.5e-4


@pytest.mark.parametrize(
    ("name", "settings", "step"),
    [
        ("adam", {}, 0.1),  # whatever the gradient's size
        ("sgd", {}, 0.2),
        ("rmsprop", {"rho": 0.75}, 0.1 * 2 / (0.25 * 4) ** 0.5),
        ("adadelta", {"rho": 0.75}, 0.1 * 2 * (1e-6 / (0.25 * 4 + 1e-6)) ** 0.5),
    ],
)
def test_the_first_step_of_each_optimiser(name, settings, step):
    those = weights(2.0, 2.0)
    Optimiser(TrainConfig(optimiser=name, **settings), those).step(0.1)
    for weight in those.values():
        assert (1 - weight).tolist() == pytest.approx([step] * 2, rel=1e-3)


def test_momentum():
    those = weights(1.0, 1.0)
    optimiser = Optimiser(TrainConfig(optimiser="sgd", momentum=0.5), those)
    optimiser.step(0.1)
    optimiser.step(0.1)
    assert (1 - those["other"]).tolist() == pytest.approx([0.1 + 0.15] * 2)


def test_the_squares_of_word_vectors_alone_are_made_small():
    those = weights(0.0, 0.0)
    Optimiser(TrainConfig(optimiser="sgd", word_weight_decay=0.5), those).step(0.1)
    assert those["embed.words"].tolist() == pytest.approx([0.9, 0.9])  # d/dw of 0.5 w² is w
    assert those["other"].tolist() == [1, 1]


def test_a_long_gradient_is_shortened_or_its_components_are():
    those = weights(3.0, 4.0)
    norm = Optimiser(TrainConfig(clip_norm=1.0), those).clip()
    assert norm.item() == pytest.approx(50**0.5)
    assert those["other"].grad.tolist() == pytest.approx([4 / 50**0.5] * 2)
    those = weights(0.5, 4.0)
    norm = Optimiser(TrainConfig(clip_value=1.0), those).clip()
    assert norm.item() == pytest.approx(32.5**0.5)
    assert those["embed.words"].grad.tolist() == [0.5, 0.5]
    assert those["other"].grad.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"optimiser": "adm"}, "optimiser = 'adm' is not known; did you mean 'adam'"),
        ({"momentum": -0.1}, "momentum = -0.1 is too small; use 0 or more"),
        ({"word_weight_decay": -0.1}, "word_weight_decay = -0.1 is too small; use 0 or more"),
        ({"rho": 1.0}, "rho = 1.0 is too large; use more than 0 and less than 1"),
        ({"clip_value": 0.0}, "clip_value = 0.0 is too small; use more than 0"),
        ({"constant_epochs": 0}, "constant_epochs = 0 is too small"),
        ({"patience": 0}, "patience = 0 is too small"),
    ],
)
def test_impossible_settings(settings, message):
    with pytest.raises(ConfigError, match=message):
        TrainConfig(**settings)


def test_every_optimiser_is_tried():
    assert OPTIMISERS.keys() == {"adam", "sgd", "rmsprop", "adadelta"}
