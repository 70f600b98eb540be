"""A batch in slices, by one process or several, gives every reader the gradient of the whole batch."""

import sys

import numpy as np
import pytest
import torch

import forked
import synthetic
from gareader.core.distributed import joined
from gareader.nn.tensors import tensors
from gareader.training.engine import Engine
from gareader.training.settings import TrainConfig
from readers.test_contract import COLLATE, build, every_variant
from readers.variants import VARIANTS

pytestmark = pytest.mark.slow

EXAMPLES = sorted(synthetic.corpus(7, seed=5), key=lambda example: len(example.document))


def gradients(kind, config, group=None, examples=EXAMPLES, **train):
    """Of the examples, in double precision, and what was measured."""
    reader = build(kind, config).train()
    engine = Engine(kind, reader, TrainConfig(**train), *([group] if group else []))
    slices = [tensors(COLLATE([examples[i] for i in part])) for part in engine.slices(np.arange(len(examples)))]
    measured = engine.gradients(slices, len(examples), 0)
    return {name: weight.grad for name, weight in reader.named_parameters() if weight.grad is not None}, measured


def assert_same(got, expected):
    torch.testing.assert_close(got[0], expected[0], rtol=1e-6, atol=1e-12)
    assert got[1].loss == pytest.approx(expected[1].loss, rel=1e-9)
    assert got[1].accuracy == expected[1].accuracy
    assert got[1].padding == pytest.approx(expected[1].padding)


@every_variant
@pytest.mark.parametrize("slices", [3, 20])
def test_slices_one_after_the_other(kind, config, slices):
    assert_same(gradients(kind, config, micro_batches=slices), gradients(kind, config))


def test_two_processes():
    """Seven examples in two parts, in four, and one example of which nothing is left for the second process."""
    done = forked.together(2, target=main)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("the same") == 2 * len(VARIANTS)


def main():
    """What each of the processes does."""
    torch.set_num_threads(1)
    with joined() as group:
        for kind, config in VARIANTS.values():
            alone = gradients(kind, config)
            assert_same(gradients(kind, config, group), alone)
            assert_same(gradients(kind, config, group, micro_batches=2), alone)
            sys.stdout.write("the same\n")
        for name in ("gated-attention: default", "lstm-lm: default"):
            kind, config = VARIANTS[name]
            assert_same(gradients(kind, config, group, EXAMPLES[:1]), gradients(kind, config, examples=EXAMPLES[:1]))
