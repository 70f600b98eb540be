"""`gareader train` as its users meet it: stopped, out of room and resumed, it ends with the same bits."""

import json
import re
import resource
import shlex
import shutil
import signal
from contextlib import contextmanager

import pytest
from safetensors import safe_open

import forked
import waiting
from gareader.core.claims import locked
from gareader.training.run import BEST, LAST, METRICS, STATE
from places import PROJECT
from training.test_training import same_run

SETTINGS = {
    "data.validation": '"configs/tiny/validation.txt"',  # quotation marks must survive in the printed command
    "train.max_epochs": 1,
    "train.validate_every": 3,
    "train.validation_examples": 60,
    "train.log_every": 2,
}
ARGUMENTS = ["train", "configs/tiny.toml", *(w for k, v in SETTINGS.items() for w in ("--set", f"{k}={v}"))]
ROOM = 600_000  # bytes: enough for all files but the state

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")]


@pytest.fixture
def gareader(gareader, monkeypatch):
    """The same, where the settings' paths begin."""
    monkeypatch.chdir(PROJECT)
    return gareader


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    forked.run(*ARGUMENTS, "--out", folder).check_returncode()
    return folder


def started(folder, lines=5):
    """A child process that has written so many lines of metrics, and has many more to go."""
    process = forked.Command(*ARGUMENTS, "--out", folder)
    waiting.wait_until(lambda: waiting.lines(folder / METRICS) >= lines, process)
    return process


def saved_step(folder):
    """How many updates the saved state has seen."""
    with safe_open(folder / STATE, framework="pt") as state:
        return json.loads(state.metadata()["position"])["step"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_and_the_printed_command_goes_on(number, whole, tmp_path, gareader):
    folder = tmp_path / "a run"
    process = started(folder)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    told = re.fullmatch(
        r"gareader: 1,600 training questions \(0 left out\), 60 to validate\n"
        r"gareader: finishing this update, then saving; once more to stop at once\n"
        r"gareader: stopped after update (\d+); everything is saved\. Go on with:\n"
        r"(gareader train .* --resume)\n",
        err,
    )
    assert told, err
    step, command = int(told[1]), told[2]
    assert 1 < step < 50
    assert saved_step(folder) == step
    assert f"best:    {folder / BEST}" in out
    code, out, _ = gareader(*shlex.split(command)[1:])
    assert code == 0
    assert "best validation accuracy" in out
    same_run(whole, folder)


def test_a_second_signal_stops_at_once(whole, tmp_path, gareader):
    process = started(tmp_path / "run")
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "gareader: interrupted; nothing was left half-written"
    assert gareader(*ARGUMENTS, "--out", tmp_path / "run", "--resume")[0] == 0
    same_run(whole, tmp_path / "run")


@contextmanager
def little_room(size):
    """No file may become larger, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk(whole, tmp_path, gareader):
    folder = tmp_path / "run"
    process = started(folder)
    assert (folder / STATE).stat().st_size > ROOM
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (ROOM, ROOM))
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert re.fullmatch(
        rf"gareader: {re.escape(str(folder / STATE))}: the state cannot be written \(.*File too large.*\); "
        r"the one before is still there: free some room and resume",
        err.splitlines()[-1],
    )
    assert {path.name for path in folder.iterdir()} == {
        *("settings.json", "sources.json", "train.arrow", "validation.arrow"),
        *(STATE, METRICS, BEST),
    }
    before = (folder / STATE).read_bytes()
    assert 2 <= saved_step(folder) < 50
    with little_room(1000):
        code, out, err = gareader(*ARGUMENTS, "--out", folder, "--resume")
    assert (code, out) == (1, "")
    told = f"{folder / METRICS}: the metrics cannot be written (File too large); free some room and resume"
    assert err.splitlines()[-1] == f"gareader: {told}"
    assert (folder / STATE).read_bytes() == before
    code, out, _ = gareader(*ARGUMENTS, "--out", folder, "--resume")
    assert code == 0
    assert "best validation accuracy" in out
    same_run(whole, folder)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("train.sed=3", "train.sed is no setting; did you mean 'seed'? known: "),
        ("trian.seed=3", "[trian] is no section; did you mean 'train'? known: data, reader, train"),
        ("reader.name=gated-atention", "reader.name = 'gated-atention' is not known; did you mean 'gated-attention'?"),
        ("reader.gate=multipli", "reader.gate = 'multipli' is not known; did you mean 'multiply'?"),
        ("train.seed=yes", "train.seed = 'yes' is not a whole number"),
        ("train.seed=-1", "train.seed = -1 is too small; use 0 or more and less than 4294967296"),
        ("train.seed=4294967296", "train.seed = 4294967296 is too large"),
        ("seed=3", "--set seed=3: write it as section.key=value, for example train.seed=3"),
    ],
)
def test_a_setting_that_cannot_be(gareader, tmp_path, setting, message):
    code, out, err = gareader(*ARGUMENTS, "--out", tmp_path / "run", "--set", setting)
    assert (code, out) == (1, "")
    assert err.startswith(f"gareader: {message}")
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('reader = "gated-attention"\n', "reader = 'gated-attention' is no section; write its settings under [reader]"),
        ("[data]\n", "data.train is missing; add it to [data]"),
        ("[data\n", "this is not TOML"),
    ],
)
def test_a_settings_file_that_cannot_be(gareader, tmp_path, text, message):
    (tmp_path / "mine.toml").write_text(text)
    code, out, err = gareader("train", tmp_path / "mine.toml", "--out", tmp_path / "run")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert message in err


def test_a_run_is_not_begun_twice_and_none_is_not_resumed(gareader, whole, tmp_path):
    code, out, err = gareader(*ARGUMENTS, "--out", whole)
    assert (code, out) == (1, "")
    way_out = "go on with --resume (in Python resume=True), or choose another --out"
    assert err == f"gareader: {whole}: there is a run already; {way_out}\n"
    code, out, err = gareader(*ARGUMENTS, "--out", tmp_path / "no", "--resume")
    assert (code, out) == (1, "")
    assert err == f"gareader: {tmp_path / 'no'}: there is no run to resume here; begin it without --resume\n"


def test_a_run_that_could_not_begin_does_not_stand_in_the_way(gareader, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    for setting in ("data.validation=nowhere.txt", "data.vectors=nowhere.txt"):
        code, out, err = gareader(*ARGUMENTS, "--out", tmp_path, "--set", setting)
        assert (code, out) == (1, "")
        assert err == "gareader: nowhere.txt: there is no such file or folder; check the path\n"
        assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_run_that_is_going_on_is_left_alone(gareader, whole):
    with locked(whole / "lock", "busy"):
        code, out, err = gareader(*ARGUMENTS, "--out", whole, "--resume")
    assert (code, out) == (1, "")
    assert err == f"gareader: {whole}: a run is going on here already; wait for it, or choose another --out\n"


def test_a_finished_run_is_told_again_as_json(gareader, whole):
    code, out, _ = gareader(*ARGUMENTS, "--out", whole, "--resume", "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["finished"], found["step"], found["best"]) == (True, 50, str(whole / BEST))
    assert found.get("last") == (None if found["best_step"] == 50 else str(whole / LAST))


def test_a_finished_run_whose_best_model_is_gone_is_told(gareader, whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / BEST)
    code, out, err = gareader(*ARGUMENTS, "--out", tmp_path / "run", "--resume")
    assert (code, out) == (1, "")
    assert f"{tmp_path / 'run' / BEST}: the best model of this run is gone" in err.splitlines()[-1]
