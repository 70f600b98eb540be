"""Commands that answer work in the small installation: without torch and all other packages of extras."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import synthetic
from gareader.core import errors
from gareader.core.errors import EXTRAS, line_to_install
from gareader.trained.predictor import load
from packed_readers import made, write_box, write_vectors, written
from places import PROJECT, SAMPLES, TINY

QUESTION = ("--query", "XXXXX has the lamp.")
STORY = str(PROJECT / "configs" / "tiny" / "story.txt")
PROGRAM = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
absent, commands = json.load(sys.stdin)
sys.modules |= dict.fromkeys(absent)  # to import one of them raises ModuleNotFoundError
from gareader.cli import main
for arguments in commands:
    sys.argv, code = ["gareader", *arguments], 0
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        try:
            main()
        except SystemExit as exit_:
            code = exit_.code
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Exit code, stdout and stderr of each command; one process runs them all."""
    folder = tmp_path_factory.mktemp("small")
    box = write_box(folder / "box", write_vectors(folder / "vectors.txt"))
    made(box, "one", "two", out="both")
    corpus = folder / "questions.jsonl"
    corpus.write_text("".join(map(written, synthetic.corpus(5, seed=1))))
    commands = {
        "help": ["--help"],
        "demo": ["demo"],
        "answer": ["answer", "--document", STORY, *QUESTION],
        "ensemble": ["answer", "--document", STORY, *QUESTION, "--model", "stories-ensemble", "--json"],
        "evaluate": ["evaluate", str(box / "both"), str(corpus), "--json"],
        "analyse": ["analyse", str(box / "one"), str(corpus), "--json"],
        "describe": ["describe", str(SAMPLES / "cbt.txt"), "--json"],
        "models": ["models", "--json"],
        "readers": ["readers", "bidaf", "--json"],
        "another reader": ["evaluate", str(box / "three"), str(corpus)],
        "train": ["train", str(PROJECT / "configs" / "tiny.toml"), "--out", str(folder / "run")],
        "prepare": ["prepare", str(corpus), "--out", str(folder / "corpus.arrow")],
        "build pairs": ["build", "pairs", str(TINY / "dated.jsonl"), "--out", str(folder / "pairs")],
        "serve": ["serve", "--check"],
        "push": ["push", str(box / "one"), str(folder / "one.tar.xz")],
        "pushed": ["evaluate", str(folder / "one.tar.xz"), str(corpus), "--json"],
        "push elsewhere": ["push", str(box / "one"), "s3://bucket/one.tar.xz"],
        "export": ["export", "stories", "--out", str(folder / "stories.onnx")],
        "plot": ["plot", "attention", "--document", STORY, *QUESTION, "--out", str(folder / "attention.png")],
    }
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps([[*EXTRAS], list(commands.values())]),
        capture_output=True,
        text=True,
        cwd=PROJECT,
        env={**os.environ, "GAREADER_CACHE": str(folder / "cache")},
    )
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(lines) == len(commands), run.stderr
    assert not (folder / "run").exists()
    return dict(zip(commands, lines, strict=True))


@pytest.mark.parametrize(
    "command",
    [
        "help",
        "demo",
        "answer",
        "ensemble",
        "evaluate",
        "analyse",
        "describe",
        "models",
        "readers",
        "serve",
        "push",
        "pushed",
    ],
)
def test_it_works(results, command):
    code, out, err = results[command]
    assert (code, err) == (0, "")
    assert out


def test_the_answer_is_the_one_of_the_whole_installation(results):
    expected = load("stories-ensemble").answer(Path(STORY).read_text(), QUESTION[1])
    assert json.loads(results["ensemble"][1])["best"] == expected.best


@pytest.mark.parametrize(
    ("command", "package", "extra"),
    [
        ("another reader", "torch", "train"),
        ("train", "torch", "train"),
        ("prepare", "pyarrow", "train"),
        ("build pairs", "scipy", "pairs"),
        ("plot", "matplotlib", "plot"),
        ("push elsewhere", "fsspec", "share"),
        ("export", "onnx", "export"),
    ],
)
def test_what_is_missing_is_told_with_the_line_to_type(results, command, package, extra):
    code, out, err = results[command]
    assert (code, out) == (1, "")
    line = line_to_install(extra)
    assert line.endswith(f" install -c constraints.txt -e '.[{extra}]'")  # this is a clone
    assert err == f"gareader: this needs {package}, which is not installed; type: {line}\n"


@pytest.fixture
def python(tmp_path, monkeypatch):
    """The Python of an environment, whose pip is not the first that a shell finds, of a wheel."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(errors, "CLONE", tmp_path / "lib" / "python3")
    for name in ("python", "pip"):
        program = tmp_path / "my env" / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.touch(0o755)
    monkeypatch.setattr(sys, "executable", str(program.with_name("python")))
    return program.with_name("python")


def test_the_line_for_a_wheel(python, monkeypatch):
    assert line_to_install("plot") == "'my env/bin/pip' install 'gareader[plot]'"
    monkeypatch.setenv("PATH", str(python.parent))
    assert line_to_install("plot") == "pip install 'gareader[plot]'"
    python.with_name("pip").unlink()
    assert line_to_install("plot") == "'my env/bin/python' -m pip install 'gareader[plot]'"


def test_the_line_for_a_clone_elsewhere(python, tmp_path, monkeypatch):
    clone = tmp_path.parent / f"{tmp_path.name} clone"
    clone.mkdir()
    (clone / "constraints.txt").touch()
    monkeypatch.setattr(errors, "CLONE", clone)
    monkeypatch.setenv("PATH", str(python.parent))
    assert line_to_install("plot") == f"pip install -c '{clone}/constraints.txt' -e '{clone}[plot]'"
