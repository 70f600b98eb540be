"""A wider reader begins with the answers of the narrow one, and all its new units learn."""

from dataclasses import replace

import pytest
import torch

import synthetic
from gareader.nn.tensors import tensors
from gareader.readers.features import FEATURES, chosen
from gareader.readers.settings import GatedAttentionConfig
from gareader.training.engine import Engine
from gareader.training.settings import TrainConfig
from gareader.training.widening import can_widen, widen
from readers.test_contract import COLLATE, build
from readers.variants import VARIANTS

EXAMPLES = synthetic.corpus(7, seed=5)


def wider(config, **others):
    return replace(config, hidden=config.hidden + 5, **others)


CHANGES = {
    "more units": {"hidden": 5},
    "more features": {"distance_feature": True, "before_feature": True},
    "more units and features": {"hidden": 5, "feature": True, **dict.fromkeys(FEATURES, True)},
}


def changed(config, change):
    return replace(config, **change | {"hidden": config.hidden + change.get("hidden", 0)})


CAN = {
    f"{name}, {change}": (kind, config, larger)
    for name, (kind, config) in VARIANTS.items()
    for change in CHANGES
    if isinstance(config, GatedAttentionConfig) and can_widen(config, larger := changed(config, CHANGES[change]))
}


@pytest.mark.parametrize("name", CAN)
def test_a_wider_reader_begins_with_the_same_answers_and_all_its_weights_learn(name):
    kind, config, larger = CAN[name]
    narrow = build(kind, config).eval()
    wide = build(kind, larger).eval()
    before, batch = narrow.state_dict(), tensors(COLLATE(EXAMPLES))
    other = wide(batch).log_probabilities
    wide.load_state_dict(widen(before, wide.state_dict(), config, larger))
    torch.testing.assert_close(wide(batch).log_probabilities, narrow(batch).log_probabilities)
    assert not torch.allclose(other, narrow(batch).log_probabilities)

    optimiser = torch.optim.SGD(wide.parameters(), lr=0.1)
    weights = {key: weight.detach().clone() for key, weight in wide.named_parameters()}
    for _ in range(2):  # weights of the document's new units have a gradient once those of the query are not zero
        optimiser.zero_grad()
        Engine(kind, wide, TrainConfig()).gradients([batch], len(EXAMPLES), 0)
        optimiser.step()
    grus = [key for key in weights if "_grus." in key]
    new = [wide.get_parameter(key)[..., -1] != weights[key][..., -1] for key in grus]  # h̃ of the last new unit
    assert all(changed.any() for changed in new)
    added = [name for name in chosen(larger) if name not in chosen(config)]
    assert all(wide.more_features[name].any() for name in added)
    assert added or larger.hidden > config.hidden


@pytest.mark.parametrize("change", [{"gate": "add"}, {"gate": "concatenate"}, {"query_attention": "none"}])
def test_what_reads_the_new_units_at_once_is_not_widened(change):
    config = GatedAttentionConfig()
    assert can_widen(config, wider(config))
    assert can_widen(replace(config, hops=1, **change), wider(config, hops=1, **change))
    assert not can_widen(replace(config, **change), wider(config, **change))


def test_only_a_larger_reader_of_the_same_kind_can_be_widened():
    config = GatedAttentionConfig()
    assert not can_widen(config, config)
    assert not can_widen(replace(config, distance_feature=True), config)
    assert not can_widen(replace(config, distance_feature=True), wider(config, quotation_feature=True))
    assert not can_widen(wider(config), config)
    assert not can_widen(VARIANTS["attention-sum: default"][1], wider(config))
