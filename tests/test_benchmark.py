"""The benchmark measures what it says: the contenders are the same reader, and they take turns."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import synthetic
from corpora.writers import write_jsonl
from gareader.benchmark import measure
from gareader.benchmark.all_readers import GRU, LSTM, bench_lstm
from gareader.benchmark.contenders import NATIVE, NN_GRU, PYTORCH, Size, TorchGRU, batch, reader
from gareader.benchmark.whole_run import bare_step, bench_run
from gareader.cli import app
from gareader.cli.bench_readers import readers
from gareader.config import load_table, override
from gareader.errors import GareaderError
from gareader.experiment import Experiment
from gareader.nn.gru import BiGRU
from gareader.readers.memory_reader import window_loss

PROJECT = Path(__file__).parents[1]
SMALL = Size(batch=3, document=11, query=5, hidden=6, vocabulary=50)


def test_the_clear_reader_is_the_native_one():
    torch.manual_seed(0)
    questions = batch(SMALL)
    native, clear = (reader(name, SMALL).eval() for name in (NATIVE, PYTORCH))
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
    model = reader(NN_GRU, SMALL)
    assert not any(isinstance(module, BiGRU) for module in model.modules())
    assert sum(isinstance(module, torch.nn.GRU) for module in model.modules()) == 7  # 3 + 3 and the characters'
    assert model(batch(SMALL)).log_probabilities.isfinite().all()


def test_operations_of_the_usual_step():
    assert Size().training_operations == pytest.approx(73.0e9, rel=0.01)
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
    monkeypatch.setattr(subprocess, "Popen", lambda *args: started.append(popen(*args)) or started[0])
    with measure.busy_core():
        assert started[0].poll() is None
    assert started[0].poll() is not None


def test_peak_memory_is_the_childs_own():
    ballast = bytearray(300_000_000)
    small = measure.peak_memory("")
    large = measure.peak_memory("x = bytearray(200_000_000)")
    del ballast
    assert 150 < large - small < 250


@pytest.mark.parametrize("work", ["gru", "train", "infer"])
def test_json_has_the_ratios_and_the_times_behind_them(work, capsys):
    sizes = ["--batch", "2", "--document", "9", "--hidden", "8", "--repeats", "2", "--no-busy"]
    app(["bench", work, *sizes, "--json"], result_action="return_value")
    result = json.loads(capsys.readouterr().out)
    native, baseline = (sorted(result["times"][name]["seconds"]) for name in (NATIVE, NN_GRU))
    assert len(native) == len(baseline) == 2
    assert result["speedup_over_nn_gru"] == pytest.approx(sum(baseline) / sum(native))
    assert result["share_of_peak"] == pytest.approx(2 * result["operations"] / sum(native) / result["peak"])


def test_the_pace_of_readers_and_where_it_goes(capsys):
    sizes = ["--batch", "2", "--document", "9", "--repeats", "2", "--json"]
    app(["bench", "readers", "stanford", "attentive", *sizes], result_action="return_value")
    stanford, attentive = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    for pace in (stanford, attentive):
        assert len(pace["training"]["seconds"]) == len(pace["answering"]["seconds"]) == 2
        assert sum(pace["shares"].values()) == pytest.approx(1)
    assert (stanford["reader"], attentive["reader"]) == ("stanford", "attentive")
    assert stanford["shares"][GRU] > 0 == stanford["shares"][LSTM]
    assert attentive["shares"][LSTM] > 0 == attentive["shares"][GRU]
    with pytest.raises(GareaderError, match="there is no reader 'stamford'; did you mean 'stanford'"):
        readers("stamford")


def test_both_layers_as_shares_of_the_same_peak():
    result = bench_lstm(8, SMALL, repeats=2, product=64)
    ours, theirs = (result.times[name].median * result.share_of_peak[name] for name in (GRU, LSTM))
    assert theirs / ours == pytest.approx(4 / 3)  # gates


def test_the_bare_step_of_a_run_has_its_readers_loss_and_its_optimiser(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = load_table(PROJECT / "configs" / "memory.toml")
    for setting in (
        "data.train=train.jsonl",
        "data.validation=train.jsonl",
        "data.vector_width=8",
        "train.clip_norm=1e9",
    ):
        table = override(table, setting)
    write_jsonl(synthetic.corpus(64, seed=1), tmp_path / "train.jsonl")
    run = Experiment.from_table(table).run(tmp_path / "run")
    questions = run.checkpoint.collator([run.training[i] for i in range(8)])
    before = {name: weight.detach().clone() for name, weight in run.weights.items()}
    window_loss(run.reader.train()(questions), questions).backward()
    gradients = {name: weight.grad.clone() for name, weight in run.weights.items()}
    bare_step(run)(questions)
    for name, weight in run.weights.items():  # by gradient descent
        torch.testing.assert_close(weight, before[name] - run.config.learning_rate * gradients[name])
    assert bench_run(Experiment.from_table(table), updates=1, repeats=2).share_of_bare_step > 0
