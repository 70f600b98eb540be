"""`gareader tune` as its users meet it: stopped or killed it goes on, and ends as if nothing had happened."""

import json
import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest

import forked
from gareader.cli import main
from gareader.core.config import load_table
from gareader.core.errors import line_to_install
from gareader.training.experiment import Experiment
from gareader.training.run import METRICS
from places import PROJECT
from training.test_training import metrics
from waiting import lines, wait_until

SPACE = """
[reader.hidden]
values = [8, 16]
[train.learning_rate]
low = 1e-3
high = 5e-2
log = true
[sweep]
startup = 2
seed = 2
"""
SETTINGS = {
    "train.max_epochs": 1,
    "train.fraction": 0.5,
    "train.validate_every": 5,
    "train.validation_examples": 60,
    "train.log_every": 5,
}
TRIALS = 4

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")]


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    path = tmp_path_factory.mktemp("space") / "space.toml"
    path.write_text(SPACE)
    return path


def arguments(space, out, *more):
    sets = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    return ["tune", "configs/tiny.toml", "--space", space, "--trials", TRIALS, "--out", out, *sets, *more]


def gareader(*words):
    """Runs the command in this process: exit code, stdout, stderr."""
    out, err = StringIO(), StringIO()
    code: str | int | None = 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(PROJECT)
        patch.setattr(sys, "argv", ["gareader", *map(str, words)])
        try:
            main()
        except SystemExit as exit_:
            code = exit_.code
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def whole(space, tmp_path_factory):
    """A sweep that nothing disturbed, and what it printed."""
    folder = tmp_path_factory.mktemp("whole") / "sweep"
    code, out, err = gareader(*arguments(space, folder, "--json"))
    assert code == 0, err
    return folder, trials(out)


def trials(printed):
    """What was printed of the trials, but for what depends on the machine."""
    return [{**json.loads(line), "minutes": 0, "place": ""} for line in printed.splitlines()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_stopped_or_killed_it_goes_on_with_the_same_trial(number, space, whole, tmp_path):
    folder = tmp_path / "sweep"
    file = folder / "trials" / "0002" / METRICS
    with forked.Command(*arguments(space, folder)) as process:
        wait_until(lambda: lines(file) >= 3, process)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "stopped; everything is saved, and the same command goes on" in err
        assert "| – | 2 |" in out
    code, out, err = gareader(*arguments(space, folder, "--json"))
    assert code == 0
    assert err.splitlines()[0].startswith(f"gareader: trial 2 (3 of {TRIALS}): reader.hidden = ")
    assert trials(out) == whole[1]
    for run in sorted((folder / "trials").iterdir()):
        assert metrics(run) == metrics(whole[0] / "trials" / run.name)


def test_what_is_left_in_the_folder(space, whole):
    folder, found = whole
    assert [(each["trial"], each["state"]) for each in found] == [
        (2, "complete"),
        (1, "complete"),
        (0, "complete"),
        (3, "pruned"),
    ]
    for picture in ("parallel.png", "importance.png"):
        assert (folder / picture).read_bytes().startswith(b"\x89PNG")
    code, out, err = gareader(*arguments(space, folder, "--table"))
    assert (code, err) == (0, "")
    assert out == (folder / "table.md").read_text() + "\n"
    best = found[0]
    (row,) = [line for line in out.splitlines() if line.startswith("| 1 |")]
    hidden, rate = best["settings"].values()
    low, high = best["interval"]
    share = f"{100 * best['accuracy']:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
    assert row.startswith(
        f"| 1 | {best['trial']} | {hidden} | {rate} | {share} | {best['update']} | {best['updates']} |"
    )


def test_the_best_settings_are_a_config_that_gives_the_same_run(whole, tmp_path):
    folder, (best, *_) = whole
    text = (folder / "best.toml").read_text()
    assert f"trial {best['trial']}.\n" in text
    settings = Experiment.from_table(load_table(folder / "best.toml"))
    assert settings.data.train == "configs/tiny/train.txt"
    assert (settings.reader_config.hidden, settings.train.learning_rate) == tuple(best["settings"].values())  # type: ignore[attr-defined]
    assert (settings.train.max_epochs, settings.train.fraction) == (1, 0.5)
    code, _, _ = gareader("train", folder / "best.toml", "--out", tmp_path / "run")
    assert code == 0
    assert metrics(tmp_path / "run") == metrics(folder / "trials" / f"{best['trial']:04d}")


def test_other_settings_are_not_mixed_in(space, whole):
    for more in ((), ("--table",)):
        code, out, err = gareader(*arguments(space, whole[0], "--set", "reader.hops=1", *more))
        assert (code, out) == (1, "")
        assert "the sweep there has other settings (reader.hops); use its own, or choose another --out" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--table"], "nowhere: there is no sweep yet, so there is no table; run it first"),
        (["--set", "reader.hop=1"], "reader.hop is no setting; did you mean 'hops'?"),
        (["--set", "data.train=nowhere.txt"], "nowhere.txt: there is no such file or folder; check the path"),
        (["--storage", "nonsense"], "--storage is no database address"),
        (["--table", "--storage", "sqlite://"], "nowhere: no trial was begun yet, so there is no table"),
    ],
)
def test_mistakes(space, tmp_path, words, message):
    code, out, err = gareader(*arguments(space, tmp_path / "nowhere", *words))
    assert (code, out) == (1, "")
    assert message in err
    assert {path.name for path in tmp_path.rglob("*")} <= {"nowhere", "lock"}


def test_without_optuna_it_says_what_to_install(space, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("optuna", "gareader.studies.tuning"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "optuna", None)
    code, _, err = gareader(*arguments(space, tmp_path / "sweep"))
    assert code == 1
    assert f"this needs optuna, which is not installed; type: {line_to_install('tune')}" in err
