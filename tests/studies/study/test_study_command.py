"""`gareader study` as its users meet it: interrupted, and started twice."""

import json
import shlex
import signal
from dataclasses import replace

import pytest

from forked import Command
from gareader.core.claims import is_locked, locked
from gareader.studies.study import Studio, Study, read_results
from gareader.training.run import METRICS, STATE, Run
from studies.study.small_studies import edit
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")]


def test_interrupted_in_the_first_trial_it_says_how_to_go_on(small, gareader, monkeypatch):
    log = Run.log

    def interrupt(run, measured):
        monkeypatch.setattr(Run, "log", log)
        signal.raise_signal(signal.SIGINT)
        run.log(measured)

    monkeypatch.setattr(Run, "log", interrupt)
    out = small / "an out"
    code, printed, told = gareader("study", small / "study.toml", "--out", out, "--json")
    assert (code, printed) == (130, "")
    message, command = told.splitlines()[-2:]
    assert message == "gareader: stopped; everything is saved. Go on with:"
    assert shlex.split(command) == ["gareader", "study", f"{small}/study.toml", "--out", f"{out}", "--json"]
    code, printed, told = gareader(*shlex.split(command)[1:])
    assert code == 0
    assert [json.loads(line)["row"] for line in printed.splitlines()] == ["reader", "frequency"]
    assert "stopped" not in told
    assert (out / "table.md").exists()


def test_a_table_of_nothing_is_an_error(small, gareader):
    code, _, told = gareader("study", small / "study.toml", "--out", small / "out", "--table")
    assert code == 1
    assert "no trial is done yet, so there is no table; run the study first" in told
    assert not (small / "out").exists()


def test_a_trial_that_fails_does_not_keep_the_others(small, gareader):
    (small / "vectors.txt").write_text("the 1 2 3\n")
    edit(small / "reader.toml", "vector_width = 8", 'vector_width = 8\nvectors = "none"')
    edit(small / "study.toml", "[rows.reader]", f'vectors = "{small}/vectors.txt"\n[rows.reader]')
    code, printed, told = gareader("study", small / "study.toml", "--out", small / "out")
    assert code == 1
    assert "| frequency |" in printed
    assert "reader--things--1--1 failed: " in told
    assert told.splitlines()[-1] == ("gareader: 1 of 2 trials failed, see above; the study goes on with them next time")
    (small / "vectors.txt").write_text("the 1 2 3 4 5 6 7 8\n")
    assert gareader("study", small / "study.toml", "--out", small / "out")[0] == 0


def test_files_that_are_not_there_are_told_before_anything_is_done(small, gareader):
    edit(small / "study.toml", "[rows.reader]", f'test = "{small}/tset.jsonl"\n[rows.reader]')
    code, _, told = gareader("study", small / "study.toml", "--out", small / "out")
    assert code == 1
    assert f"the study names files that are not there, so nothing was done: {small}/tset.jsonl" in told
    assert not (small / "out" / "corpora").exists()


def test_two_studies_in_one_folder_are_refused(small, gareader):
    out = small / "out"
    with locked(out / "lock", "held by the test"):
        code, _, told = gareader("study", small / "study.toml", "--out", out)
        assert code == 1
        assert f"{out}: a study is running here already; wait for it, or choose another --out" in told
        assert not (out / "runs").exists()
    assert gareader("study", small / "study.toml", "--out", out)[0] == 0


def test_the_table_is_written_while_the_study_runs(small, gareader):
    studio = Studio(Study.load(small / "study.toml"), small / "out")
    with locked(studio.folder / "lock", "held by the test"):
        assert studio.do(studio.study.trials[1], lambda run: False)
        code, printed, _ = gareader("study", small / "study.toml", "--out", small / "out", "--table")
    assert code == 0
    assert "| frequency |" in printed


def test_workers_that_are_killed_or_stopped_go_on_and_end_as_one_would(small, gareader):
    another = f'[rows.another]\nconfig = "{small}/reader.toml"\nset = {{ "reader.hops" = 1 }}\n[rows.frequency]'
    edit(small / "study.toml", "[rows.frequency]", another)
    edit(small / "reader.toml", "max_epochs = 1", "max_epochs = 3\npatience = 3")
    one, several = small / "one", small / "several"
    assert gareader("study", small / "study.toml", "--out", one)[0] == 0
    command = ["study", small / "study.toml", "--out", several, "--workers", "2"]
    for number in (signal.SIGKILL, signal.SIGTERM):
        wait_until(lambda: not any(map(is_locked, several.glob("runs/*/lock"))))  # workers outlive the killed process
        before = {path: path.stat().st_mtime_ns for path in several.glob(f"runs/*/{STATE}")}

        def has_gone_on(before=before):
            states = {path: path.stat().st_mtime_ns for path in several.glob(f"runs/*/{STATE}")}
            logged = len([*several.glob(f"runs/*/{METRICS}")])
            return logged == 2 and (states.keys() > before.keys() or any(states[k] > before[k] for k in before))

        with Command(*command) as process:
            wait_until(lambda: has_gone_on() or process.poll() is not None)
            process.send_signal(number)
            code = process.wait()
        assert code == (-signal.SIGKILL if number == signal.SIGKILL else 128 + signal.SIGTERM)
    code, printed, told = gareader(*command)
    assert code == 0
    assert "0 failed, 0 left" in told
    assert "| another |" in printed
    ours, theirs = (
        {key: replace(result, minutes=0) for key, result in read_results(folder).items()} for folder in (one, several)
    )
    assert ours == theirs


def test_a_worker_that_fails_does_not_keep_the_others(small, gareader):
    (small / "vectors.txt").write_text("the 1 2 3\n")
    edit(small / "reader.toml", "vector_width = 8", 'vector_width = 8\nvectors = "none"')
    edit(small / "study.toml", "[rows.reader]", f'vectors = "{small}/vectors.txt"\n[rows.reader]')
    code, printed, told = gareader("study", small / "study.toml", "--out", small / "out", "--workers", "2")
    assert code == 1
    assert "| frequency |" in printed
    assert "reader--things--1--1 failed: " in told
    assert "1 of 2 trials done, 1 failed, 0 left" in told


def test_a_running_study_says_how_far_it_is(small, gareader):
    studio = Studio(Study.load(small / "study.toml"), small / "out")
    assert not studio.do(studio.study.trials[0], lambda run: run.train(lambda: True).finished)
    command = ["study", small / "study.toml", "--out", small / "out", "--table"]
    code, printed, told = gareader(*command)
    assert (code, printed) == (0, "")
    first, begun, left = told.splitlines()
    assert first == "gareader: 0 of 2 trials done"
    assert begun == "gareader: stopped: reader on things, share 1, seed 1: 20% after 0 min, at most 0 min more"
    assert left == "gareader: left: about 0 min of one worker"
    with locked(studio.folder / "lock", "held by the test"):
        assert "gareader: running: reader on things" in gareader(*command)[2]
