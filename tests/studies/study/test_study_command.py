"""`gareader study` as its users meet it: interrupted, and started twice."""

import json
import shlex
import signal

import pytest

from gareader.core.locks import locked
from gareader.studies.study import Studio, Study
from gareader.training.run import Run
from studies.study.small_studies import edit

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
