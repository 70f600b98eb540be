"""The scripts of benchmarks/: their examples run, and they measure what they say."""

import importlib
import json
import random
import re
import runpy
import shlex
import sys
from copy import deepcopy
from functools import partial
from pathlib import Path

import pytest
import torch

import forked
import synthetic
from benchmarks import gru, load, readers, shards
from benchmarks.lstm import GRU, LSTM, bench_lstm
from benchmarks.script import start
from benchmarks.whole_run import bare_step, bench_run
from data.corpora.writers import write_jsonl
from gareader.benchmark import contenders
from gareader.benchmark.contenders import NATIVE, NN_GRU, Size
from gareader.core.config import load_table, override
from gareader.core.errors import GareaderError
from gareader.data import corpora
from gareader.data.store import prepare
from gareader.nn.tensors import tensors
from gareader.readers.memory_reader import window_loss
from gareader.serve.openapi import description
from gareader.training.experiment import Experiment
from places import PROJECT, SAMPLES

pytestmark = pytest.mark.slow

PARTS = {"__init__", "script", "scale_steps", "wordnet"}
"""Modules of scripts, which are not started by themselves."""
SCRIPTS = sorted({path.stem for path in (PROJECT / "benchmarks").glob("*.py")} - PARTS)


@pytest.fixture
def clone(tmp_path):
    """A folder like a clone of the project, where a script may leave its files."""
    for name in ("benchmarks", "configs", "tests"):
        (tmp_path / name).symlink_to(PROJECT / name)
    return tmp_path


ENCODER = """
from torch import nn

class BertConfig:
    vocab_size = 9

class BertModel(nn.Embedding):
    def __init__(self, config, add_pooling_layer):
        super().__init__(config.vocab_size, 4)
        self.config = config

    def forward(self, input_ids):
        return super().forward(input_ids)
"""
"""In place of transformers, which is large and serves one script."""


def script(name, *arguments):
    """What a process does: the script in the working folder, and growing sizes that begin small."""
    sys.path.insert(0, str(Path.cwd()))
    sys.argv = [name, *arguments]
    if name == "growth":
        vars(contenders)["Size"] = partial(Size, batch=2, document=20, hidden=8, vocabulary=50)
    sys.modules.pop(f"benchmarks.{name}", None)  # runpy warns of a module that this file has imported
    runpy.run_module(f"benchmarks.{name}", run_name="__main__", alter_sys=True)


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_example_of_a_script_runs(name, clone):
    text = (PROJECT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")
    example = re.search(r"^Example: `python -m benchmarks\.(\w+) ([^`]+)`$", text, re.MULTILINE)
    assert example, f"benchmarks/{name}.py has no example"
    assert example[1] == name
    (clone / "transformers.py").write_text(ENCODER)
    run = forked.run(name, *shlex.split(example[2]), target=script, cwd=clone)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout
    if name == "growth":
        assert (clone / "growth.png").read_bytes().startswith(b"\x89PNG")


def test_the_page_has_every_script():
    page = (PROJECT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == SCRIPTS


def exit_code(line):
    """Of a script started in this process; for an error of ours it is what stands on stderr."""
    name, *arguments = line.split()
    with pytest.raises(SystemExit) as exited:
        start(importlib.import_module(f"benchmarks.{name}").main, arguments)
    return exited.value.code


@pytest.mark.parametrize(
    "line",
    [
        "gru --hidden 0",
        "whole_run config --updates 0",
        "growth x.png --values 0",
        "profiling --steps 0",
        "load --requests 0",
        "readers --repeats 0",
        "lstm 16 0",
        "scale --updates 0",
        "shards corpus --out x --questions 0",
        "shards corpus --out x --read 0",
    ],
)
def test_an_impossible_number_is_a_usage_error(line, capsys):
    assert exit_code(line) == 2
    assert "Must be" in capsys.readouterr().err


def test_errors_are_one_line():
    assert exit_code("readers stamford").startswith("there is no reader 'stamford'; did you mean 'stanford'?")
    assert exit_code("growth picture.xyz").startswith("picture.xyz: a picture is PNG, SVG or PDF")


def test_the_layer_beside_torchs(capsys):
    gru.main(batch=2, document=9, hidden=8, repeats=2, busy=False, as_json=True)
    result = json.loads(capsys.readouterr().out)
    native, baseline = (result["times"][name]["seconds"] for name in (NATIVE, NN_GRU))
    assert len(native) == len(baseline) == 2
    assert result["speedup_over_nn_gru"] == pytest.approx(sum(baseline) / sum(native))


def test_the_pace_of_readers_and_where_it_goes(capsys):
    readers.main("stanford", "attentive", batch=2, document=9, repeats=2, as_json=True)
    stanford, attentive = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    for pace in (stanford, attentive):
        assert len(pace["training"]["seconds"]) == len(pace["answering"]["seconds"]) == 2
        assert sum(pace["shares"].values()) == pytest.approx(1)
    assert (stanford["reader"], attentive["reader"]) == ("stanford", "attentive")
    assert stanford["shares"][GRU] > 0 == stanford["shares"][LSTM]
    assert attentive["shares"][LSTM] > 0 == attentive["shares"][GRU]


def test_both_layers_as_shares_of_the_same_peak():
    size = Size(batch=3, document=11, query=5, hidden=6, vocabulary=50)
    result = bench_lstm(8, size, repeats=2, product=64)
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
    questions = tensors(run.model.collator([run.training[i] for i in range(8)]))
    before = {name: weight.detach().clone() for name, weight in run.weights.items()}
    copy = deepcopy(run.reader).train()  # its word vectors have a gradient of all rows
    window_loss(copy(questions), questions).backward()
    gradients = {name: weight.grad for name, weight in copy.named_parameters() if weight.grad is not None}
    bare_step(run)(questions)
    for name, weight in run.weights.items():  # by gradient descent
        torch.testing.assert_close(weight, before[name] - run.config.learning_rate * gradients[name])
    assert bench_run(Experiment.from_table(table), updates=1, repeats=2).share_of_bare_step > 0


def test_no_more_is_read_than_there_is(tmp_path):
    prepare(corpora.read(SAMPLES / "cbt.txt"), tmp_path / "cbt.arrow")
    shards.repeat(tmp_path / "cbt.arrow", 7, tmp_path / "many")
    found = shards.bench_shards(tmp_path / "many", 100)
    assert (found.questions, found.read) == (7, 7)
    with pytest.raises(GareaderError, match="name one of them"):
        shards.repeat(tmp_path / "many", 7, tmp_path / "more")
    assert {path.name for path in tmp_path.iterdir()} == {"cbt.arrow", "many"}


@pytest.mark.parametrize(
    ("method", "status", "body", "expected"),
    [
        ("POST", "200", b"{}", True),
        ("POST", "200", b"", False),
        ("HEAD", "200", b"", True),
        ("OPTIONS", "204", b"", True),
        ("POST", "422", b'{"detail": "this is no question"}', True),
        ("POST", "422", b'{"detail": ""}', False),
        ("POST", "500", b'{"detail": "the service failed"}', False),
        ("POST", "503", b'{"detail": "too many questions wait"}', False),
        ("POST", "cut", b"", False),
    ],
)
def test_which_responses_to_random_requests_are_right(method, status, body, expected):
    assert load.right(method, status, body) == expected


def test_random_requests_are_the_same_for_the_same_seed_and_of_all_kinds():
    api = description(64)
    made = [load.random_request(api, random.Random(seed))[1] for seed in [*range(200), *range(200)]]
    assert made[:200] == made[200:]
    bodies = [each.partition(b"\r\n\r\n")[2] for each in made]
    valid = [body for body in bodies if body.startswith((b'{"document"', b'[{"document"'))]
    assert 100 < len(valid) < 300
