"""The command as a user meets it: output, errors, exit codes, help."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from cyclopts import App

import forked
from gareader.cli.app import app
from places import PROJECT, SAMPLES
from waiting import wait_until

pytestmark = pytest.mark.slow


def gareader(*arguments):
    """In a process that has imported nothing yet; commands that need torch are quicker in a forked one."""
    command = [sys.executable, "-m", "gareader", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=PROJECT)


def commands(group: App, name=()):
    """Every command with its function, from `gareader` down."""
    for word in group:
        if not word.startswith("-"):
            below = group[word]
            if below.default_command:
                yield " ".join((*name, word)), below.default_command
            yield from commands(below, (*name, word))


COMMANDS = dict(commands(app))


def test_the_commands():
    assert {"describe", "prepare", "demo"} <= COMMANDS.keys()
    measured = {name.removeprefix("bench ") for name in COMMANDS if name.startswith("bench ")}
    assert measured == {"train", "infer", "answer", "serve", "prepare"}  # the others are scripts of benchmarks/


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """An empty folder, as after `pip install`, where the examples of the help have been run one after the other."""
    folder = tmp_path_factory.mktemp("empty")
    results = {}
    for name in sorted(COMMANDS, key=lambda name: (name != "train", name != "evaluate")):
        example = re.search(r"Example: `gareader (.+)`", COMMANDS[name].__doc__)
        assert example, f"the help of {name} has no example"
        assert example[1].startswith(name)
        results[name] = forked.run(*shlex.split(example[1]), cwd=folder)
    return folder, results


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_in_the_help_runs(name, workspace, capsys):
    run = workspace[1][name]
    assert run.returncode == 0, run.stderr
    assert run.stdout
    if name not in ("train", "study", "tune"):
        assert run.stderr == ""  # no progress where stderr is no terminal
    app([*name.split(), "--help"], result_action="return_value")
    assert f"gareader {name}" in capsys.readouterr().out


def test_the_help_shows_every_form_of_a_blank(capsys):
    app(["answer", "--help"], result_action="return_value")
    assert "<mask>" in capsys.readouterr().out


def test_what_the_examples_say(workspace):
    folder, results = workspace
    assert "best validation accuracy 100.0%" in results["train"].stdout
    assert (folder / "runs" / "tiny" / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert "runs/tiny/best: 100.0% [98.1, 100.0] of 200 questions" in results["evaluate"].stdout
    assert "p = 1.2" in results["compare"].stdout
    assert results["answer"].stdout.startswith("Ann")
    assert (folder / "curves.png").read_bytes().startswith(b"\x89PNG")


def imported(code, *names):
    """Which of the modules are imported after the code ran in a fresh process."""
    code += f"\nimport sys; print([name for name in {names} if name in sys.modules], file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout, run.stderr


def test_help_answers_without_torch():
    code = "import sys; from gareader.cli import main; sys.argv = ['gareader', '--help']; main()"
    printed, modules = imported(code, "torch", "pyarrow", "scipy", "matplotlib")
    assert "describe" in printed
    assert "Statistics of corpora" in printed
    assert modules == "[]\n"


def test_nothing_below_the_layers_imports_torch():
    code = "from gareader.core import config, significance; from gareader.data import statistics, store, vectors"
    assert imported(code, "torch")[1] == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["describe"], 2, "corpus"),
        (["describe", "a", "--nonsense"], 2, "--nonsense"),
        (["describ"], 2, "describ"),
        (["prepare", "a"], 2, "out"),
        (["describe", "nowhere.txt"], 1, "gareader: nowhere.txt: there is no such file or folder; check the path"),
        (["describe", SAMPLES / "cbt.txt", "--format", "cbd"], 1, "did you mean 'cbt'?"),
        (["prepare", SAMPLES / "cbt.txt", "--out", "no/such/folder/x.arrow"], 1, "no/such/folder/x.arrow"),
    ],
)
def test_errors_and_exit_codes(arguments, code, message):
    run = gareader(*arguments)
    assert run.returncode == code
    assert run.stdout == ""
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def test_describe_prints_json_for_programs():
    run = gareader("describe", SAMPLES / "cbt.txt", SAMPLES / "questions.jsonl", "--json")
    first, second = map(json.loads, run.stdout.splitlines())
    assert {
        "examples",
        "vocabulary",
        "document_words_mean",
        "document_words_max",
        "query_words_mean",
        "candidates_mean",
        "answer_in_document",
        "most_frequent_accuracy",
        "skipped",
    } <= first.keys()
    assert Path(second["corpus"]).name == "questions.jsonl"


def test_bad_examples_stop_or_are_listed_and_counted(tmp_path):
    good = [line for line in (SAMPLES / "questions.jsonl").read_text().splitlines() if line]
    file = tmp_path / "mixed.jsonl"
    file.write_text("\n".join([good[0], '{"document": "no query"}', "{broken", *good[1:]]) + "\n")
    stopped = gareader("describe", file)
    assert stopped.returncode == 1
    assert f"{file}:2: the key 'query' is missing" in stopped.stderr
    listed = gareader("describe", file, "--skip-bad", "--json")
    assert listed.returncode == 0
    assert json.loads(listed.stdout)["skipped"] == 2
    assert json.loads(listed.stdout)["examples"] == len(good)
    assert f"skipped: {file}:2:" in listed.stderr
    assert f"skipped: {file}:3:" in listed.stderr


def test_a_prepared_corpus_describes_like_its_source(tmp_path):
    out = tmp_path / "cbt.arrow"
    run = gareader("prepare", SAMPLES / "cbt.txt", "--out", out)
    assert run.returncode == 0
    assert re.fullmatch(rf"{re.escape(str(out))}: \d+ examples, \d+ words, 0 bad examples skipped\n", run.stdout)
    one, other = (json.loads(gareader("describe", path, "--json").stdout) for path in (SAMPLES / "cbt.txt", out))
    assert {**one, "corpus": ""} == {**other, "corpus": ""}


def test_a_closed_pipe_is_no_traceback():
    with subprocess.Popen(
        [sys.executable, "-m", "gareader", "describe", SAMPLES / "cbt.txt"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()


def test_bench_serve_compares_the_service_with_bare_batches():
    command = ("bench", "serve", "--clients", "3", "--time", "2", "--questions", "2", "--workers", "2", "--json")
    result = json.loads(gareader(*command).stdout)
    assert result["statuses"].keys() == {"200"}
    assert result["answers_per_second"] == pytest.approx(result["statuses"]["200"] / 2)
    bare = sum(result["bare_per_second"]) / 2
    assert result["share_of_bare_speed"] == pytest.approx(result["answers_per_second"] / bare)


def test_bench_prepare_prints_json():
    result = json.loads(gareader("bench", "prepare", SAMPLES / "cbt.txt", "--repeats", "2", "--json").stdout)
    assert len(result["bare_seconds"]) == len(result["prepare_seconds"]) == 2
    assert result["share_of_bare_speed"] > 0
    assert result["peak_memory_mb"] > 1


def test_told_to_end_it_leaves_nothing_behind(tmp_path):
    corpus = tmp_path / "cbt.txt"
    corpus.write_bytes(8_000 * (SAMPLES / "cbt.txt").read_bytes())
    command = [sys.executable, "-m", "gareader", "prepare", corpus, "--out", tmp_path / "cbt.arrow"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: any(tmp_path.glob(".cbt.arrow.*/*")), process)  # the workers have begun
        process.terminate()
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (143, "")
    assert list(tmp_path.iterdir()) == [corpus]
