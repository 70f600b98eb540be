"""Several processes that train, evaluate and build together, started by torchrun, killed, and on two hosts."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import forked
from gareader.training.run import BEST, METRICS, STATE
from places import PROJECT
from waiting import wait_until

pytestmark = pytest.mark.slow

TINY = PROJECT / "configs" / "tiny.toml"
SHORT = ["train.max_epochs=1", "train.patience=9", "train.validate_every=20", "reader.dropout=0.0"]


def torchrun(processes, *arguments, restarts=0):
    """The command that starts so many processes of gareader."""
    options = ["--standalone", "--nproc-per-node", str(processes), "--max-restarts", str(restarts), "-m", "gareader"]
    return [sys.executable, "-m", "torch.distributed.run", *options, *map(str, arguments)]


def succeeded(done):
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def finished(processes, *arguments):
    """gareader by one process or several that torchrun might have started: torchrun itself is slow to start."""
    return succeeded(forked.together(processes, *arguments) if processes > 1 else forked.run(*arguments))


def settings(*assignments):
    return [word for each in assignments for word in ("--set", each)]


def train(folder, processes, *assignments, more=()):
    return finished(processes, "train", TINY, "--out", folder, *settings(*SHORT, *assignments), *more)


def metrics(folder):
    timed = ("examples_per_second", "waiting")
    lines = [json.loads(line) for line in (folder / METRICS).read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in timed} for line in lines]


def assert_close(one, other, tolerance):
    """Two runs that made the same updates, up to the order of sums."""
    first, second = load_file(one / STATE), load_file(other / STATE)
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        if name.startswith("weights/"):
            torch.testing.assert_close(tensor, second[name], rtol=tolerance, atol=tolerance)
    for here, there in zip(metrics(one), metrics(other), strict=True):
        assert here.keys() == there.keys()
        numbers = [name for name, value in here.items() if isinstance(value, int | float)]
        assert [here[name] for name in numbers] == pytest.approx([there[name] for name in numbers], rel=1e-3, abs=1e-4)


def same_state(one, other):
    assert (one / BEST / "weights.safetensors").read_bytes() == (other / BEST / "weights.safetensors").read_bytes()
    first, second = load_file(one / STATE), load_file(other / STATE)
    assert first.keys() == second.keys()
    assert all(tensor.equal(second[name]) for name, tensor in first.items())
    assert metrics(one) == metrics(other)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same training by one process and by two."""
    folder = tmp_path_factory.mktemp("runs")
    train(folder / "one", 1)
    command = torchrun(2, "train", TINY, "--out", folder / "two", *settings(*SHORT))
    said = succeeded(subprocess.run(command, cwd=PROJECT, capture_output=True, text=True))
    assert said.stderr.count("training questions") == 1  # one speaks for all
    assert "; 2 processes" in said.stderr
    assert said.stdout.count("best validation accuracy") == 1
    return folder


def test_two_processes_learn_what_one_learns(runs):
    assert_close(runs / "one", runs / "two", 1e-4)
    waiting = [
        json.loads(line)["waiting"] for line in (runs / "two" / METRICS).read_text().splitlines() if '"loss"' in line
    ]
    assert all(0 < share < 1 for share in waiting)


@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2)])
def test_resumed_with_another_number_of_processes(runs, tmp_path, before, after):
    command = ["train", TINY, "--out", tmp_path / "run", *settings(*SHORT)]
    with background(torchrun(before, *command)) if before > 1 else forked.Command(*command) as process:
        wait_for_updates(tmp_path / "run", 10, process)
        process.send_signal(signal.SIGINT if before == 1 else signal.SIGTERM)
        process.wait(60)
    assert not (tmp_path / "run" / "curves.png").exists()  # it was not at its end
    train(tmp_path / "run", after, more=["--resume"])
    assert_close(runs / "one", tmp_path / "run", 1e-4)


ENDED = """
from pathlib import Path
from gareader.core.distributed import joined
with joined():
    from torch import nn
    nn.parallel.DistributedDataParallel(nn.Linear(2, 2))
print(*[name.read_text().strip() for name in Path("/proc/self/task").glob("*/comm")])
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to see a process's threads")
def test_a_group_that_has_ended_leaves_no_threads_behind():
    alone = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost", "MASTER_PORT": "0"}
    command = [sys.executable, "-c", ENDED]
    done = subprocess.run(command, env={**os.environ, **alone}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "python" in done.stdout
    assert "gloo" not in done.stdout


@contextlib.contextmanager
def background(command, **options):
    process = subprocess.Popen(
        command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_updates(folder, count, process):
    def done():
        with contextlib.suppress(OSError, ValueError, IndexError):
            return json.loads((folder / METRICS).read_text().splitlines()[-1])["step"] >= count
        return False

    wait_until(done, process)


def children(process):
    return [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


SLOW = ["train.log_every=1", "reader.dropout=0.1", "train.max_epochs=2"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The run of two processes of which none was killed."""
    folder = tmp_path_factory.mktemp("whole")
    train(folder / "run", 2, *SLOW)
    return folder / "run"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to find a worker to kill")
def test_a_killed_worker_is_replaced_and_nothing_is_lost(whole, tmp_path):
    command = ["train", TINY, "--out", tmp_path / "killed", *settings(*SHORT, *SLOW)]
    with background(torchrun(2, *command, restarts=2)) as process:
        wait_for_updates(tmp_path / "killed", 12, process)
        os.kill(children(process.pid)[-1], signal.SIGKILL)
        _, said = process.communicate(timeout=600)
    assert process.returncode == 0, said[-3000:]
    assert "exitcode: -9" in said
    same_state(tmp_path / "killed", whole)
    steps = [line["step"] for line in metrics(tmp_path / "killed") if "loss" in line]
    assert steps == list(range(1, 101))  # each batch of both epochs once


def test_evaluated_by_two_processes(runs, tmp_path):
    reports = []
    for processes in (1, 2):
        arguments = ["evaluate", runs / "one" / BEST, "configs/tiny/validation.txt", "--json"]
        arguments += ["--predictions", tmp_path / f"{processes}.jsonl"]
        reports.append(json.loads(finished(processes, *arguments).stdout))
    for each in reports:
        assert each.pop("examples_per_second") > 0
        each["loss"] = pytest.approx(each["loss"])
    assert reports[0] == reports[1]
    rankings = [
        [
            [each["answer"] for each in json.loads(line)["ranking"]]
            for line in (tmp_path / f"{n}.jsonl").read_text().splitlines()
        ]
        for n in (1, 2)
    ]
    assert rankings[0] == rankings[1]


@pytest.mark.parametrize(
    "what",
    [
        ["news", "configs/tiny/news.jsonl"],
        ["pairs", "configs/tiny/dated.jsonl"],
        ["books", "configs/tiny/book.txt", "configs/tiny/book.txt"],
    ],
    ids=lambda what: what[0],
)
def test_built_by_two_processes(tmp_path, what):
    contents = []
    for processes in (1, 2):
        out = tmp_path / str(processes)
        finished(processes, "build", *what, "--out", out, "--workers", 1)
        contents.append({path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()})
    assert contents[0] == contents[1]
    assert len(contents[0]) > 1


@pytest.fixture
def hosts():
    """Two hosts with a cable between them, as far as the network is concerned: namespaces of this test's own."""
    names = [f"gareader-{os.getpid()}-{side}" for side in "ab"]
    cable = [f"ga{os.getpid()}{side}" for side in "ab"]

    def ip(*words):
        return subprocess.run(["ip", *words], capture_output=True, text=True)

    try:
        if not shutil.which("ip") or ip("netns", "add", names[0]).returncode or ip("netns", "add", names[1]).returncode:
            pytest.skip("needs the right to make network namespaces, and the program ip")
        ip("link", "add", cable[0], "netns", names[0], "type", "veth", "peer", "name", cable[1], "netns", names[1])
        for number, (name, end) in enumerate(zip(names, cable, strict=True), 1):
            ip("-n", name, "address", "add", f"10.213.7.{number}/24", "dev", end)
            ip("-n", name, "link", "set", end, "up")
            ip("-n", name, "link", "set", "lo", "up")
        if ip("netns", "exec", names[0], "true").returncode:
            pytest.skip("needs the right to run programs in a network namespace")
        yield list(zip(names, cable, strict=True))
    finally:
        for name in names:
            ip("netns", "delete", name)


def on_hosts(hosts, options, arguments):
    """gareader on each host, one process each; `options` are torchrun's, and `arguments` gareader's, for each."""
    processes = []
    for number, (name, cable) in enumerate(hosts):
        run = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1"]
        command = ["ip", "netns", "exec", name, *run, *options(number), "-m", "gareader", *arguments(number)]
        environment = {**os.environ, "GLOO_SOCKET_IFNAME": cable}
        processes.append(
            subprocess.Popen(list(map(str, command)), cwd=PROJECT, env=environment, stderr=subprocess.PIPE, text=True)
        )
    return processes


def ended(processes):
    try:
        said = [process.communicate(timeout=600)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0, 0], [text[-2000:] for text in said]


def test_two_hosts(runs, hosts, tmp_path):
    """Each has its own disk: the second prepares the corpora for itself, and only the first writes the run."""
    processes = on_hosts(
        hosts,
        lambda number: ["--node-rank", number, "--master-addr", "10.213.7.1", "--master-port", 29511],
        lambda number: ["train", TINY, "--out", tmp_path / str(number), *settings(*SHORT)],
    )
    ended(processes)
    assert_close(runs / "one", tmp_path / "0", 1e-4)
    assert sorted(path.name for path in (tmp_path / "1").iterdir()) == ["train.arrow", "validation.arrow"]


def test_two_hosts_of_which_one_loses_its_worker(whole, hosts, tmp_path):
    """They share a disk, and both begin again from the last state."""
    elastic = ["--max-restarts", 2, "--rdzv-id", 7, "--rdzv-backend", "c10d", "--rdzv-endpoint", "10.213.7.1:29512"]
    processes = on_hosts(
        hosts,
        lambda number: [*elastic, "--rdzv-conf", f"is_host={1 - number}", "--local-addr", f"10.213.7.{number + 1}"],
        lambda number: ["train", TINY, "--out", tmp_path / "killed", *settings(*SHORT, *SLOW)],
    )
    wait_for_updates(tmp_path / "killed", 12, processes[0])
    os.kill(children(processes[1].pid)[-1], signal.SIGKILL)
    ended(processes)
    same_state(tmp_path / "killed", whole)
