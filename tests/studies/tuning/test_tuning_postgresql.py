"""Several machines on one PostgreSQL, which the test starts by itself: they share the trials and do none twice."""

import json
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

import forked
from gareader.cli.tune import write
from studies.tuning.sweeps import found, silent_for_long, sweep_of, write_sweep

pytestmark = pytest.mark.slow

GRID = """
[reader.hidden]
values = [4, 6]
[train.learning_rate]
values = [0.01, 0.02, 0.03]
[sweep]
sampler = "grid"
"""


def program(name):
    """One of PostgreSQL's programs, which Debian keeps out of the path."""
    places = [Path(path)] if (path := shutil.which(name)) else Path("/usr/lib/postgresql").glob(f"*/bin/{name}")
    return next((place for place in sorted(places, reverse=True)), None)


@pytest.fixture(scope="module")
def address():
    """The address of a PostgreSQL of our own, in a folder of its own, reached by a socket in that folder."""
    initdb, control = program("initdb"), program("pg_ctl")
    if initdb is None or control is None:
        pytest.skip("needs PostgreSQL (initdb and pg_ctl); on Debian: apt-get install postgresql")
    with tempfile.TemporaryDirectory(prefix="sweep-") as name:
        folder = Path(name)
        someone: dict[str, Any] = {}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            users = [user for user in pwd.getpwall() if user.pw_name in ("postgres", "nobody")]
            if not users:
                pytest.skip("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")
            user = max(users, key=lambda user: user.pw_name)
            os.chown(folder, user.pw_uid, user.pw_gid)
            someone = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

        def run(*words):
            with (folder / "log").open("a") as log:
                subprocess.run([str(word) for word in words], cwd=folder, check=True, stdout=log, stderr=log, **someone)

        data, options = folder / "data", f"-c listen_addresses='' -c fsync=off -k {folder}"
        try:
            run(initdb, "--no-sync", "-A", "trust", "-U", "tuner", "-D", data)
            run(control, "-D", data, "-w", "-o", options, "start")
        except subprocess.CalledProcessError as error:
            pytest.fail(f"{error}: {(folder / 'log').read_text()}")
        try:
            yield f"postgresql+psycopg://tuner@/postgres?host={folder}"
        finally:
            run(control, "-D", data, "-m", "immediate", "stop")


def test_two_machines_share_the_trials(address, tmp_path):
    write_sweep(tmp_path, GRID)

    def started(out):
        words = ["tune", "config.toml", "--space", "space.toml", "--trials", "6", "--storage", address, "--json"]
        return forked.Command(*words, "--out", out, cwd=tmp_path)

    machines = {name: started(name) for name in ("one", "two")}
    printed = {name: machine.communicate(timeout=600) for name, machine in machines.items()}
    for name, machine in machines.items():
        assert machine.returncode == 0, printed[name][1]
        assert "Traceback" not in printed[name][1]
    trials = max((out.splitlines() for out, _ in printed.values()), key=len)
    last = [json.loads(line) for line in trials]
    assert sorted(tuple(each["settings"].values()) for each in last) == [
        (hidden, rate) for hidden in (4, 6) for rate in (0.01, 0.02, 0.03)
    ]
    for name in machines:
        runs = {int(path.name) for path in (tmp_path / name / "trials").iterdir()}
        assert runs == {each["trial"] for each in last if each["place"].endswith(f"{tmp_path}/{name}")}
        assert runs  # each did some
    with sweep_of(tmp_path, "three", address) as third:  # which finds everything done, and can show it
        assert third.next(6) is None
        assert {each.state for each in found(third).values()} <= {"complete", "pruned"}
        assert len(write(third.plan, third.ledger, third.folder)) == 6
    assert (tmp_path / "three" / "best.toml").exists()


def test_a_machine_that_is_silent_for_long_loses_its_trial(address, tmp_path):
    silent_for_long(write_sweep(tmp_path), address)
