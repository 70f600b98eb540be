"""The benchmark measures what it says: the contenders are the same reader, and they take turns."""

import json
import os
import subprocess
from dataclasses import replace

import pytest
import torch

from gareader.benchmark import measure
from gareader.benchmark.contenders import BF16, NATIVE, NN_GRU, PYTORCH, Size, TorchGRU, contender, random_batch
from gareader.benchmark.reading import Measurement
from gareader.cli.app import app
from gareader.cli.bench import restrict
from gareader.core.errors import ConfigError
from gareader.kernels import library
from gareader.nn.gru import BiGRU

pytestmark = pytest.mark.slow

SMALL = Size(batch=3, document=11, query=5, hidden=6, vocabulary=50)


def test_the_clear_reader_is_the_native_one():
    torch.manual_seed(0)
    questions = random_batch(SMALL)
    native, clear = (contender(name, SMALL).eval() for name in (NATIVE, PYTORCH))
    clear.load_state_dict(native.state_dict())
    torch.testing.assert_close(clear(questions).log_probabilities, native(questions).log_probabilities)


def test_torch_gru_computes_what_ours_with_its_cell_does_where_nothing_is_padded():
    theirs, ours = TorchGRU(5, 4), BiGRU(5, 4, "cudnn")
    with torch.no_grad():
        for direction, suffix in enumerate(("", "_reverse")):
            ours.input_weight[direction] = getattr(theirs.gru, f"weight_ih_l0{suffix}").T
            ours.recurrent_weight[direction] = getattr(theirs.gru, f"weight_hh_l0{suffix}").T
            ours.bias[direction] = getattr(theirs.gru, f"bias_ih_l0{suffix}")
            getattr(theirs.gru, f"bias_hh_l0{suffix}").zero_()
    table, words, mask = torch.randn(7, 5), torch.randint(7, (3, 9)), torch.ones(3, 9, dtype=torch.bool)
    torch.testing.assert_close(theirs(table, mask, words), ours(table, mask, words), rtol=1e-5, atol=1e-6)


def test_every_gru_of_the_baseline_is_torchs():
    model = contender(NN_GRU, SMALL)
    assert not any(isinstance(module, BiGRU) for module in model.modules())
    assert sum(isinstance(module, torch.nn.GRU) for module in model.modules()) == 7  # 3 + 3 and the characters'
    assert model(random_batch(SMALL)).log_probabilities.isfinite().all()


def test_operations_of_the_usual_step():
    assert 3 * Size().forward_operations == pytest.approx(73.0e9, rel=0.01)
    assert replace(Size(), batch=64).forward_operations == pytest.approx(2 * Size().forward_operations, rel=0.01)


def test_works_take_turns_with_their_own_threads():
    torch.set_num_threads(1)
    seen = []
    works = {name: lambda name=name: seen.append((name, torch.get_num_threads())) for name in "ab"}
    times = measure.side_by_side(works, 3, {"a": 1, "b": 2})
    assert seen == [("a", 1), ("b", 2)] * 3
    assert times["b"].threads == 2
    assert len(times["b"].seconds) == 3
    assert torch.get_num_threads() == 1


def test_the_better_number_of_threads_is_chosen(monkeypatch):
    monkeypatch.setattr(measure, "cores", lambda: 4)
    cost = {1: 3.0, 4: 2.0}
    monkeypatch.setattr(measure, "seconds", lambda work: cost[torch.get_num_threads()])
    try:
        assert measure.best_threads(lambda: None) == 4
        cost[4] = 5.0
        assert measure.best_threads(lambda: None) == 1
    finally:
        torch.set_num_threads(1)


def test_a_neighbour_is_there_and_then_gone(monkeypatch):
    started = []
    popen = subprocess.Popen

    def start(*args):
        started.append(popen(*args))
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", start)
    with measure.busy_core():
        assert started[0].poll() is None
    assert started[0].poll() is not None


def test_peak_memory_is_the_childs_own():
    ballast = bytearray(300_000_000)
    small = measure.peak_memory("")
    large = measure.peak_memory("x = bytearray(200_000_000)")
    del ballast
    assert 150 < large - small < 250


@pytest.mark.parametrize("work", ["train", "infer"])
def test_json_has_the_ratios_and_the_times_behind_them(work, capsys):
    sizes = ["--batch", "2", "--document", "9", "--hidden", "8", "--repeats", "2", "--no-busy"]
    app(["bench", work, *sizes, "--json"], result_action="return_value")
    result = json.loads(capsys.readouterr().out)
    native, baseline = (sorted(result["times"][name]["seconds"]) for name in (NATIVE, NN_GRU))
    assert len(native) == len(baseline) == 2
    assert result["speedup_over_nn_gru"] == pytest.approx(sum(baseline) / sum(native))
    assert result["share_of_peak"] == pytest.approx(2 * result["operations"] / sum(native) / result["peak"])
    float32 = {name: speed for name, speed in result["speeds"].items() if not name.startswith("bf16")}
    assert result["peak"] == max(float32.values()) > 0
    if library.library() is not None:
        assert set(float32) == {"matrix product", "multiply-add loop"}
        assert result["instruction_sets"] == library.instruction_sets()
        assert result["bf16_speedup"] == pytest.approx(sum(native) / sum(result["times"][BF16]["seconds"]))
        assert (result["bf16_peak"] is None) == (result["bf16_share_of_peak"] is None) == (not library.has_bf16())


@pytest.fixture
def environment(monkeypatch):
    """The variables that restrict instructions, as they were before and after."""
    for name in ("GAREADER_INSTRUCTIONS", "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS"):
        monkeypatch.setenv(name, "")
    yield
    monkeypatch.undo()
    library.chosen_set.cache_clear()


@pytest.mark.skipif(library.library() is None, reason="needs the native kernel")
@pytest.mark.usefixtures("environment")
def test_instructions_are_restricted(capsys):
    every = library.instruction_sets()
    assert [library.chosen_set(), every[-1]] == [0, "plain"]
    sizes = ["--document", "9", "--hidden", "8", "--repeats", "1", "--no-busy", "--instructions", "plain"]
    app(["bench", "answer", *sizes, "--json"], result_action="return_value")
    assert json.loads(capsys.readouterr().out)["instruction_sets"] == library.instruction_sets() == ["plain"]
    assert library.chosen_set() == len(every) - 1
    assert os.environ["ATEN_CPU_CAPABILITY"] == "default"


@pytest.mark.skipif(library.library() is None, reason="needs the native kernel")
@pytest.mark.usefixtures("environment")
def test_instructions_that_this_machine_lacks():
    with pytest.raises(ConfigError, match=r"GAREADER_INSTRUCTIONS = 'sse9' is not of this machine: .*plain"):
        restrict("sse9")


def test_the_share_of_the_bf16_peak():
    times = {NATIVE: measure.Times(1, [4.0]), BF16: measure.Times(1, [2.0]), NN_GRU: measure.Times(1, [8.0])}
    result = Measurement("train", False, times, operations=60.0, speeds={}, peak=30.0, bf16_peak=50.0)
    assert (result.share_of_peak, result.bf16_speedup, result.bf16_share_of_peak) == (0.5, 2.0, 0.6)
