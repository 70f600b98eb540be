"""Where and how gradients are computed: devices, precision, compilation; what is not there is refused."""

import numpy as np
import pytest
import torch

import synthetic
from gareader.core.distributed import ALONE
from gareader.core.errors import ConfigError, TrainingError
from gareader.nn import native
from gareader.nn.tensors import tensors
from gareader.training import engine
from gareader.training.engine import Engine, training_device
from gareader.training.settings import TrainConfig
from readers.test_contract import COLLATE, build, every_variant
from readers.variants import VARIANTS

EXAMPLES = synthetic.corpus(7, seed=5)


def gradients(kind, config, dtype=torch.float32, **train):
    """Of the examples, and what was measured."""
    reader = build(kind, config, dtype=dtype).train()
    measured = Engine(kind, reader, TrainConfig(**train)).gradients([tensors(COLLATE(EXAMPLES))], len(EXAMPLES), 0)
    return {name: weight.grad for name, weight in reader.named_parameters() if weight.grad is not None}, measured


half_the_bits = pytest.mark.filterwarnings("ignore:train.precision = 'bf16'")


@half_the_bits
@every_variant
def test_half_the_bits_give_nearly_the_same_loss(kind, config):
    exact, rough = (gradients(kind, config, precision=precision)[1].loss for precision in ("float32", "bf16"))
    assert rough == pytest.approx(exact, rel=0.005)


@half_the_bits
def test_half_the_bits_leave_the_weights_and_the_kernel_as_they_are(monkeypatch):
    calls = []
    kernel = native.bigru

    def counted(*arguments, **options):
        calls.append(options["precision"])
        return kernel(*arguments, **options)

    monkeypatch.setattr(native, "bigru", counted)
    rough, exact = (gradients(*VARIANTS["gated-attention: default"], precision=p)[0] for p in ("bf16", "float32"))
    assert {gradient.dtype for gradient in rough.values()} == {torch.float32}
    assert all(not gradient.equal(exact[name]) for name, gradient in rough.items())
    assert calls == ["bf16"] * 7 + ["float32"] * 7  # every Bi-GRU


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
    sliced = Engine(*VARIANTS["gated-attention: default"][:1], torch.nn.Linear(1, 1), TrainConfig(micro_batches=4))
    assert [part.tolist() for part in sliced.slices(np.arange(2))] == [[0], [1]]


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


@pytest.mark.parametrize(
    ("variant", "warning"),
    [
        ("gated-attention: default", "this processor has no instructions for it: it is emulated, slower than float32"),
        ("deep-lstm: default", "no bf16, and the native kernel no layer of this reader: training in float32"),
    ],
)
def test_a_processor_without_bf16(variant, warning, monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True})
    monkeypatch.setattr(engine, "has_bf16", lambda: False)
    kind, config = VARIANTS[variant]
    with pytest.warns(UserWarning, match=warning):
        gradients(kind, config, precision="bf16")


def test_a_processor_with_bf16(monkeypatch):
    """The kernel's layers leave nothing to torch; a reader without them is torch's."""
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True})
    monkeypatch.setattr(engine, "has_bf16", lambda: True)
    kernels, lstm = (build(*VARIANTS[f"{name}: default"]) for name in ("gated-attention", "deep-lstm"))
    half, whole = TrainConfig(precision="bf16"), TrainConfig()
    cpu, gpu = torch.device("cpu"), torch.device("cuda")
    assert engine.precisions(half, kernels, cpu) == ("bf16", False)
    assert engine.precisions(half, lstm, cpu) == ("float32", True)
    assert engine.precisions(half, kernels, gpu) == ("float32", True)
    assert engine.precisions(whole, kernels, cpu) == engine.precisions(whole, lstm, gpu) == ("float32", False)


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
