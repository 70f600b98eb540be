"""A wrong argument of any command is an error that names it, before torch is imported."""

import json
import subprocess
import sys

import pytest

from cli.test_cli import COMMANDS
from places import PROJECT

TINY, QUESTION = str(PROJECT / "configs" / "tiny.toml"), ("--query", "XXXXX left.")
CASES = [
    (("analyse", "storys", "corpus"), 1, "storys"),
    (("analyse", "stories", "nowhere.txt"), 1, "nowhere.txt"),
    (("analyse", "stories", "nowhere.txt", "--plot", "picture.xyz"), 1, "picture.xyz"),
    (("answer", "--query", "XXXXX left."), 1, "--document"),
    (("answer", "--document", "nowhere.txt", *QUESTION), 1, "nowhere.txt"),
    (("answer", "--batch", "nowhere.jsonl"), 1, "nowhere.jsonl"),
    (("answer", "--document", TINY, *QUESTION, "--model", "storys"), 1, "did you mean 'stories'"),
    (("answer", "--document", TINY, *QUESTION, "--reader", "storys"), 1, "did you mean 'stories'"),
    (("answer", "--document", TINY, *QUESTION, "--model", "./empty"), 1, "there is no model here"),
    (("answer", "--document", TINY, *QUESTION, "--top", "0"), 2, "--top"),
    (("bench answer", "--repeats", "0"), 2, "--repeats"),
    (("bench infer", "--hidden", "0"), 2, "--hidden"),
    (("bench prepare", "nowhere.txt"), 1, "nowhere.txt"),
    (("bench serve", "--corpus", "nowhere.txt"), 1, "nowhere.txt"),
    (("bench train", "--batch", "0"), 2, "--batch"),
    (("build books", "nowhere.txt", "--out", "x"), 1, "nowhere.txt"),
    (("build news", "nowhere.jsonl", "--out", "x"), 1, "nowhere.jsonl"),
    (("build pairs", "nowhere.jsonl", "--out", "x"), 1, "nowhere.jsonl"),
    (("compare", "nowhere.jsonl", "--against", "90"), 1, "nowhere.jsonl"),
    (("demo", "nonsense"), 2, "nonsense"),
    (("describe", "nowhere.txt"), 1, "nowhere.txt"),
    (("ensemble", "stories", "storys", "--out", "x"), 1, "storys"),
    (("ensemble", "stories", "--out", "x"), 1, "two models or more"),
    (("ensemble", "stories", "stories-one-hop", "--out", "x", "--measure", "nowhere.txt"), 1, "nowhere.txt"),
    (("evaluate", "storys", "corpus"), 1, "storys"),
    (("evaluate", "stories", "nowhere.txt"), 1, "nowhere.txt"),
    (("evaluate", "stories"), 1, "give a corpus"),
    (("export", "storys", "--out", "x.onnx"), 1, "did you mean 'stories'"),
    (("export", "stories", "--out", "nowhere/x.onnx"), 1, "there is no folder nowhere"),
    (("models", "storys"), 1, "storys"),
    (("pack", "storys", "--out", "x", "--measure", "corpus"), 1, "storys"),
    (("pack", "stories", "--out", "x", "--measure", "nowhere.txt"), 1, "nowhere.txt"),
    (("pack", "stories", "--out", "x", "--measure", "corpus", "--vectors", "nowhere.txt"), 1, "nowhere.txt"),
    (("plot attention", "--document", "nowhere.txt", *QUESTION), 1, "nowhere.txt"),
    (("plot attention", "--corpus", "nowhere.txt", "--out", "picture.xyz"), 1, "picture.xyz"),
    (("plot compare", "nowhere.jsonl"), 1, "nowhere.jsonl"),
    (("plot curves", "nowhere"), 1, "nowhere"),
    (("prepare", "nowhere.txt", "--out", "x.arrow"), 1, "nowhere.txt"),
    (("presets", "--out", "empty"), 1, "empty: this is there already"),
    (("push", "storys", "x.tar.xz"), 1, "did you mean 'stories'"),
    (("push", "stories", "nowhere/x.tar.xz"), 1, "there is no folder nowhere"),
    (("push", "stories", "x.tar.xz", "--card", "nowhere.md"), 1, "nowhere.md"),
    (("readers", "gated-atention"), 1, "did you mean 'gated-attention'"),
    (("serve", "storys"), 1, "storys"),
    (("serve", "--port", "70000"), 2, "--port"),
    (("study", "nowhere.toml"), 1, "nowhere.toml"),
    (("study", "tinny"), 1, "did you mean 'tiny'"),
    (("study", "study_without_corpus.toml"), 1, "nowhere.txt"),
    (("study", "study_without_config.toml"), 1, "nowhere.toml"),
    (("train", "nowhere.toml"), 1, "nowhere.toml"),
    (("train", "cbt-nee"), 1, "did you mean 'cbt-ne'"),
    (("train", TINY, "--set", "nonsense"), 1, "nonsense"),
    (("train", TINY, "--set", "data.train=nowhere.txt"), 1, "nowhere.txt"),
    (("train", TINY, "--set", "train.sed=3"), 1, "did you mean 'seed'"),
    (("train", TINY, "--set", "train.seed=-3"), 1, "train.seed = -3"),
    (("train", TINY, "--set", "reader.hop=2"), 1, "did you mean 'hops'"),
    (("train", TINY, "--set", "reader.hops=0"), 1, "reader.hops = 0"),
    (("train", TINY, "--set", "trian.seed=3"), 1, "did you mean 'train'"),
    (("tune", "nowhere.toml", "--space", TINY), 1, "nowhere.toml"),
    (("tune", TINY, "--space", "nowhere.toml"), 1, "nowhere.toml"),
    (("tune", "tiny", "--space", "tinny"), 1, "did you mean 'tiny'"),
    (("tune", TINY, "--space", TINY, "--set", "nonsense"), 1, "nonsense"),
    (("vectors", "nowhere.txt", "--out", "x"), 1, "nowhere.txt"),
]
PROGRAM = """
import io, json, sys
from contextlib import redirect_stderr
from gareader.cli import main
for arguments in json.load(sys.stdin):
    sys.argv, before, code = ["gareader", *arguments], "torch" in sys.modules, 0
    with redirect_stderr(io.StringIO()) as err:
        try:
            main()
        except SystemExit as exit_:
            code = exit_.code
    print(json.dumps([code, err.getvalue(), "torch" in sys.modules and not before]))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Exit code, stderr and whether torch was imported, for each case; one process runs them all."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "empty").mkdir()
    for name, config, corpus in (("corpus", TINY, "nowhere.txt"), ("config", "nowhere.toml", TINY)):
        text = f'[rows.one]\nconfig = "{config}"\n[corpora.one]\ntrain = "{corpus}"\nvalidation = "{corpus}"\n'
        (folder / f"study_without_{name}.toml").write_text(text)
    before = sorted(folder.iterdir())
    commands = [[*name.split(), *arguments] for (name, *arguments), _, _ in CASES]
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps(commands), capture_output=True, text=True, cwd=folder
    )
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(lines) == len(CASES), run.stderr
    assert sorted(folder.iterdir()) == before
    return {arguments: line for (arguments, _, _), line in zip(CASES, lines, strict=True)}


def test_every_command_has_a_case():
    assert {name for (name, *_), _, _ in CASES} == COMMANDS.keys()


@pytest.mark.parametrize(
    ("arguments", "code", "message"), CASES, ids=lambda value: " ".join(value) if isinstance(value, tuple) else None
)
def test_it_is_told_without_torch(results, arguments, code, message):
    exit_code, err, imports_torch = results[arguments]
    assert exit_code == code, err
    assert message in err
    assert not imports_torch
