"""Where and how gradients are computed: devices, precision, compilation; what is not there is refused."""

import numpy as np
import pytest
import torch

import synthetic
from gareader.core.distributed import ALONE
from gareader.core.errors import ConfigError, TrainingError
from gareader.nn import gru_kernel
from gareader.nn.tensors import tensors
from gareader.training.engine import Engine, training_device
from gareader.training.settings import TrainConfig
from readers.test_contract import COLLATE, build, every_variant
from readers.variants import VARIANTS

EXAMPLES = synthetic.corpus(7, seed=5)


def gradients(kind, config, dtype=torch.float32, **train):
    """Of the examples, and what was measured."""
    reader = build(kind, config, dtype=dtype).train()
    engine = Engine(kind, reader, TrainConfig(**train))
    measured = engine.gradients([tensors(COLLATE(EXAMPLES))], len(EXAMPLES), 0)
    return {name: weight.grad for name, weight in reader.named_parameters() if weight.grad is not None}, measured


@pytest.mark.filterwarnings("ignore:train.precision = 'bf16'")
@every_variant
def test_half_the_bits_give_nearly_the_same_loss(kind, config):
    exact, rough = (gradients(kind, config, precision=precision)[1].loss for precision in ("float32", "bf16"))
    assert rough == pytest.approx(exact, rel=0.005)


def test_half_the_bits_leave_the_weights_and_the_kernel_as_they_are(monkeypatch):
    calls = []
    kernel = gru_kernel.bigru

    def counted(*arguments):
        calls.append(1)
        return kernel(*arguments)

    monkeypatch.setattr(gru_kernel, "bigru", counted)
    rough, exact = (gradients(*VARIANTS["gated-attention: default"], precision=p)[0] for p in ("bf16", "float32"))
    assert {gradient.dtype for gradient in rough.values()} == {torch.float32}
    assert any(not gradient.equal(exact[name]) for name, gradient in rough.items())  # something was in bf16
    assert len(calls) == 2 * 7  # every Bi-GRU


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["gated-attention: two hops", "deep-lstm: default"])
def test_compiled_equations_are_the_same(variant):
    from torch._inductor import config as inductor

    kind, config = VARIANTS[variant]
    with inductor.patch(compile_threads=1):  # processes that compile would import torch first
        plain, compiled = (gradients(kind, config, torch.float64, compile=choice) for choice in (False, True))
    assert compiled[1].loss == pytest.approx(plain[1].loss, rel=1e-9)
    torch.testing.assert_close(compiled[0], plain[0], rtol=1e-6, atol=1e-9)


def test_slices_for_which_nothing_is_left_are_left_out():
    engine = Engine(*VARIANTS["gated-attention: default"][:1], torch.nn.Linear(1, 1), TrainConfig(micro_batches=4))
    assert [part.tolist() for part in engine.slices(np.arange(2))] == [[0], [1]]


def test_a_batch_moves_as_a_whole():
    batch = tensors(COLLATE(EXAMPLES), torch.device("meta"))
    assert all(tensor.is_meta for tensor in vars(batch.types).values())
    assert all(tensor.is_meta for name, tensor in vars(batch).items() if name != "types")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there():
    assert (
        training_device(TrainConfig(), ALONE)
        == training_device(TrainConfig(device="cpu"), ALONE)
        == torch.device("cpu")
    )
    with pytest.raises(TrainingError, match=r"train\.device = 'cuda', but PyTorch finds no GPU here; use auto or cpu"):
        training_device(TrainConfig(device="cuda"), ALONE)


def test_a_processor_without_bf16(monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True})
    with pytest.raises(TrainingError, match="this processor has no bf16; use float32"):
        training_device(TrainConfig(device="cpu", precision="bf16"), ALONE)


def test_no_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(TrainingError, match=r"train\.compile needs a C\+\+ compiler, and there is no no-such-compiler"):
        gradients(*VARIANTS["gated-attention: default"], compile=True)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"device": "gpu"}, "device = 'gpu' is not known"),
        ({"precision": "fp8"}, "precision = 'fp8' is not known"),
        ({"micro_batches": 0}, "micro_batches = 0 is too small"),
    ],
)
def test_settings_that_cannot_be(setting, message):
    with pytest.raises(ConfigError, match=message):
        TrainConfig(**setting)
