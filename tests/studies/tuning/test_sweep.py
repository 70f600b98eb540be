"""Sweeps: trials that are claimed once, given up when poor, taken up again after a stop, and never stolen."""

import json
import sqlite3
from contextlib import closing
from itertools import count

import pytest
from optuna.storages import RDBStorage
from optuna.trial import Trial
from sqlalchemy.exc import OperationalError

from gareader.core.errors import ConfigError, CorpusError, TrainingError
from gareader.studies.tuning.ledger import stands
from gareader.studies.tuning.search import proposal
from gareader.training.run import BEST, METRICS, STATE
from studies.tuning.sweeps import found, pretend_all, run_all, silent_for_long, sweep_of, write_sweep

pytestmark = pytest.mark.slow

CONTINUOUS = """
[train.learning_rate]
low = 1e-3
high = 1e-1
log = true
[reader.dropout]
low = 0.0
high = 0.3
[sweep]
startup = 2
"""


@pytest.fixture
def folder(tmp_path):
    return write_sweep(tmp_path)


def settings(trials):
    return [tuple(each.settings.values()) for each in trials.values()]


def test_a_grid_is_done_once_and_ends_by_itself(folder):
    with sweep_of(folder) as sweep:
        assert run_all(sweep, wanted=30) == dict.fromkeys(range(4), "complete")
        done = found(sweep)
    assert sorted(settings(done)) == [(4, 0.01), (4, 0.03), (6, 0.01), (6, 0.03)]
    for number, each in done.items():
        run = folder / "out" / "trials" / f"{number:04d}"
        assert sorted(path.name for path in run.iterdir()) == [BEST, METRICS, "settings.json"]
        validations = [line for line in read(run) if "validation_accuracy" in line]
        best = max(validations, key=lambda line: line["validation_accuracy"])
        assert each.accuracy == best["validation_accuracy"]
        assert list(each.interval) == best["validation_interval"]
        assert (each.update, each.updates) == (best["step"], validations[-1]["step"])
        assert each.place.endswith(f":{folder / 'out'}")
    assert json.loads((run / "settings.json").read_text())["data"]["train"] == f"{folder}/out/corpora/train.arrow"


def read(run):
    return [json.loads(line) for line in (run / METRICS).read_text().splitlines()]


def test_only_as_many_as_wanted_and_more_later(folder):
    with sweep_of(folder) as sweep:
        assert list(pretend_all(sweep, wanted=1)) == [0]
        assert pretend_all(sweep, wanted=1) == {}
        assert list(pretend_all(sweep, wanted=3)) == [1, 2]


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_no_setting_is_drawn_twice(folder, sampler):
    (folder / "space.toml").write_text((folder / "space.toml").read_text().replace('"grid"', f'"{sampler}"'))
    with sweep_of(folder) as sweep:
        assert len(pretend_all(sweep, wanted=30)) == 4
        assert len(set(settings(found(sweep)))) == len(sweep.ledger.trials()) == 4


def test_what_is_drawn_depends_on_the_seed_and_the_trials_alone(folder):
    (folder / "space.toml").write_text(CONTINUOUS)
    with sweep_of(folder, "one") as one, sweep_of(folder, "other") as other:
        pretend_all(one, wanted=4)
        for number in range(1, 5):  # as if it were interrupted after every trial
            pretend_all(other, wanted=number)
        assert settings(found(one)) == settings(found(other))
        assert len(set(settings(found(one)))) == 4
    (folder / "space.toml").write_text(CONTINUOUS + "seed = 2")
    with sweep_of(folder, "third") as third:
        pretend_all(third, wanted=1)
        assert settings(found(third))[0] != settings(found(one))[0]


@pytest.mark.parametrize(
    ("pruner", "warm_up", "state", "updates"),
    [
        ("median", 0, "pruned", 3),
        ("median", 4, "pruned", 6),
        ("median", 12, "complete", 12),  # what is finished cannot be given up
        ("none", 0, "complete", 12),
        ("hyperband", 100, "complete", 12),
    ],
)
def test_poor_trials_are_given_up_at_once(folder, pruner, warm_up, state, updates):
    (folder / "space.toml").write_text(f"{CONTINUOUS}pruner = '{pruner}'\nwarm_up = {warm_up}".replace("= 2", "= 1"))
    with sweep_of(folder) as sweep:
        perfect = Trial(sweep.ledger.study, sweep.ledger.id(sweep.next(2).number))
        for step in (3, 6, 9, 12):
            perfect.report(1.0, step)
        sweep.ledger.study.tell(perfect, 1.0)
        assert run_all(sweep, wanted=2) == {1: state}
        poor = found(sweep)[1]
    assert (poor.state, poor.updates) == (state, updates)
    run = folder / "out" / "trials" / "0001"
    assert sorted(path.name for path in run.iterdir()) == [BEST, METRICS, "settings.json"][state == "pruned" :]
    assert read(run)[-1]["step"] == updates


def test_hyperband_gives_up_too(folder):
    rates = "[train.learning_rate]\nlow = 1e-9\nhigh = 0.1\nlog = true\n[sweep]\npruner = 'hyperband'\nstartup = 1"
    (folder / "space.toml").write_text(rates)
    with sweep_of(folder, name="stages") as sweep:  # the name decides which trial is judged at which stages
        assert "pruned" in run_all(sweep, wanted=8).values()


def test_a_run_that_diverges_is_given_up_and_the_sweep_goes_on(folder):
    (folder / "space.toml").write_text("[train.learning_rate]\nvalues = [0.01, 1e38]\n[sweep]\npruner = 'none'")
    with sweep_of(folder) as sweep:
        assert sorted(run_all(sweep, wanted=2).values()) == ["complete", "pruned"]
        (diverged,) = [each for each in found(sweep).values() if each.state == "pruned"]
    assert diverged.settings == {"train.learning_rate": 1e38}
    assert "the loss is" in diverged.problem


def test_a_stopped_trial_goes_on_where_it_was(folder):
    with sweep_of(folder, "whole") as whole:
        run_all(whole, wanted=2)
    with sweep_of(folder, "broken") as broken:
        updates = count()
        assert broken.do(broken.next(2), stop=lambda: next(updates) == 4) == "running"
        assert (broken.run_folder(0) / STATE).exists()
    with sweep_of(folder, "broken") as broken:
        assert broken.next(2).number == 0
        assert run_all(broken, wanted=2) == {0: "complete", 1: "complete"}
        same = [
            {**vars(each), "minutes": 0, "place": ""} for sweep in (whole, broken) for each in found(sweep).values()
        ]
    assert same[:2] == same[2:]


def test_killed_after_a_validation_was_told_it_is_told_once(folder):
    class KilledError(Exception):
        pass

    def kill():
        raise KilledError

    with sweep_of(folder) as sweep:
        updates = count(1)
        with pytest.raises(KilledError):
            sweep.do(sweep.next(1), stop=lambda: next(updates) == 6 and kill())
        assert found(sweep)[0].updates == 6
    with sweep_of(folder) as sweep:
        assert run_all(sweep, wanted=1) == {0: "complete"}
        assert list(sweep.ledger.trials()[0].intermediate_values) == [3, 6, 9, 12]


def test_one_process_in_a_folder(folder):
    with sweep_of(folder), pytest.raises(TrainingError, match="out: a sweep is running here already"), sweep_of(folder):
        pass


def test_a_folder_is_for_one_sweep(folder):
    with sweep_of(folder):
        pass
    with (
        pytest.raises(TrainingError, match=r"out: the sweep there has other settings \(train.seed\); use its own"),
        sweep_of(folder, assignments=["train.seed=2"]),
    ):
        pass
    (folder / "out" / "sweep.json").write_text("[]")
    with pytest.raises(TrainingError, match=r"sweep.json: this says nothing about a sweep"), sweep_of(folder):
        pass


def shared(folder):
    return f"sqlite:///{folder}/shared.sqlite3"


def test_a_name_is_for_one_sweep(folder):
    with sweep_of(folder, storage=shared(folder), name="ours") as sweep:
        sweep.next(1)
    with (
        pytest.raises(TrainingError, match=r"ours: the sweep of that name has other settings \(train.seed\)"),
        sweep_of(folder, "other", shared(folder), ["train.seed=2"], name="ours"),
    ):
        pass


@pytest.mark.parametrize(
    ("mistake", "database"), [("data.train", "shared"), ("data.validation", "out/tune"), ("data.vectors", "out/tune")]
)
def test_a_sweep_that_could_not_begin_does_not_block_the_next_try(folder, mistake, database):
    same = {"storage": f"sqlite:///{folder}/{database}.sqlite3", "name": "ours"}
    with (
        pytest.raises(CorpusError, match="nowhere: there is no such file"),
        sweep_of(folder, assignments=[f"{mistake}=nowhere"], **same) as sweep,
    ):
        run_all(sweep, wanted=1)
    assert {path.name for path in (folder / "out").iterdir()} <= {"lock"}
    with sweep_of(folder, **same) as sweep:
        assert sweep.next(1).number == 0


def test_a_sweep_is_found_by_its_settings_whatever_name_was_made_of_them(folder):
    made = "gareader-0123456789ab"
    for name in ("ours", made):
        with sweep_of(folder, name=name) as sweep:
            sweep.next(1)
    with sweep_of(folder) as sweep:
        assert sweep.ledger.study.study_name == made


def test_settings_are_agreed_on_at_the_first_claim(folder):
    same = {"storage": shared(folder), "name": "ours"}
    with sweep_of(folder, "one", **same) as one, sweep_of(folder, "two", assignments=["train.seed=2"], **same) as two:
        one.next(1)
        with pytest.raises(TrainingError, match=r"ours: the sweep of that name has other settings \(train.seed\)"):
            two.next(2)


def test_what_others_run_is_left_alone_until_they_are_silent_for_long(folder):
    silent_for_long(folder, shared(folder))


def test_a_claim_that_was_never_begun_is_given_free_too(folder):
    with sweep_of(folder, "one", shared(folder)) as one, sweep_of(folder, "two", shared(folder)) as two:
        claimed = one.next(4)
        with closing(sqlite3.connect(folder / "shared.sqlite3")) as database, database:
            database.execute("UPDATE trial_heartbeats SET heartbeat = datetime('now', '-1 hour')")
        assert two.next(4).params == claimed.params


def test_what_a_machine_had_done_of_a_lost_trial_is_dropped_when_it_is_back(folder):
    with sweep_of(folder) as sweep:
        updates = count()
        assert sweep.do(sweep.next(4), stop=lambda: next(updates) == 4) == "running"
        run = sweep.run_folder(0)
        assert (run / STATE).exists()
        assert (run / BEST).exists()
        sweep.ledger.withdraw(0)  # as others do after a long silence
        assert sweep.next(4).number == 1
    assert sorted(path.name for path in run.iterdir()) == [METRICS, "settings.json"]


def test_a_trial_that_was_taken_over_is_dropped(folder):
    with sweep_of(folder, "one", shared(folder)) as one, sweep_of(folder, "two", shared(folder)) as two:
        trial = one.next(4)
        assert one.do(trial, show=lambda line, share: two.ledger.withdraw(trial.number)) == "lost"
        assert not (one.run_folder(0) / STATE).exists()
        at_the_end = one.next(4)
        run = one.ledger.study.tell

        def late(*arguments, **options):
            two.ledger.withdraw(at_the_end.number)
            return run(*arguments, **options)

        one.ledger.study.tell = late
        assert one.do(at_the_end) == "lost"
        assert found(one) == {}


def test_of_two_claims_at_the_same_time_the_lower_number_counts(folder):
    with sweep_of(folder, "one", shared(folder)) as one, sweep_of(folder, "two", shared(folder)) as two:
        same = proposal(one.plan.space, [])
        for sweep in (one, two):
            sweep.ledger.claim(sweep.plan, same, sweep.owner, "here")
        first, second = one.ledger.trials()
        assert stands(first, [first, second], 2)
        assert not stands(second, [first, second], 2)
        assert one.next(4).number == 0
        assert two.next(4).number == 2  # its claim of trial 1 is withdrawn
        assert sorted(found(one)) == [0, 2]
        assert two.ledger.trials()[2].params != same
        third = sweep_of(folder, "three", shared(folder))
        with third as more:
            assert more.next(2) is None  # two are on their way
            more.ledger.claim(more.plan, proposal(more.plan.space, more.ledger.trials()), more.owner, "here")
            assert more.next(2) is None  # one too many, claimed at the same moment
            assert [trial.state.name for trial in more.ledger.trials()] == ["RUNNING", "FAIL", "RUNNING", "FAIL"]


def test_a_claim_that_is_not_needed_any_more_is_withdrawn(folder):
    with sweep_of(folder, "one", shared(folder)) as one, sweep_of(folder, "two", shared(folder)) as two:
        first = one.next(2)
        two.ledger.claim(two.plan, proposal(two.plan.space, two.ledger.trials()), two.owner, "here")
        one.ledger.study.tell(first.number, 0.5)
        assert two.next(1) is None
        assert [trial.state.name for trial in two.ledger.trials()] == ["COMPLETE", "FAIL"]


@pytest.mark.parametrize(
    ("storage", "error", "message"),
    [
        ("nonsense:secret", ConfigError, "--storage is no database address; write it as postgresql"),
        (
            "oracle://host/base",
            ConfigError,
            "--storage oracle://host/base: this needs oracledb, which is not installed",
        ),
        ("sqlite:////no/such/folder/x", TrainingError, "the database cannot be used .*unable to open.*same command"),
        (
            "postgresql+psycopg://me:secret@127.0.0.1:1/base",
            TrainingError,
            r"postgresql\+psycopg://me:\*\*\*@127.0.0.1:1/base: the database cannot be used \(connection failed",
        ),
    ],
)
def test_databases_that_cannot_be_used(folder, storage, error, message):
    with pytest.raises(error, match=message) as raised, sweep_of(folder, storage=storage):
        pass
    assert "secret" not in str(raised.value)


def test_another_process_may_make_the_tables_at_the_same_moment(folder, monkeypatch):
    disturbed = [OperationalError("CREATE TABLE", {}, Exception("table studies already exists"))]

    def storage(*arguments, **options):
        if disturbed:
            raise disturbed.pop()
        return RDBStorage(*arguments, **options)

    monkeypatch.setattr("gareader.studies.tuning.ledger.RDBStorage", storage)
    with sweep_of(folder) as sweep:
        assert sweep.next(1).number == 0


def test_a_database_that_fails_on_the_way_leaves_a_run_that_goes_on(folder):
    def rename(old, new):
        with closing(sqlite3.connect(folder / "shared.sqlite3")) as database:
            database.execute(f"ALTER TABLE {old} RENAME TO {new}")

    def run(show=lambda line, share: None):
        with sweep_of(folder, storage=shared(folder)) as sweep:
            trial = sweep.next(4)
            return trial.number, sweep.do(trial, show=show)

    def fail(line, share):
        if line["step"] == 6 and "validation_accuracy" in line:
            rename("trial_user_attributes", "away")

    with pytest.raises(TrainingError, match=r"the database cannot be used \(no such table.*\); what was done is kept"):
        run(fail)
    rename("away", "trial_user_attributes")
    assert run() == (0, "complete")
