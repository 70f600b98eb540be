"""Small sweeps for the tests: a corpus, a config and a space in a folder, and what runs them."""

from contextlib import contextmanager
from dataclasses import replace

import synthetic
from data.corpora.writers import write_jsonl
from gareader.studies.tuning.folder import local_storage, owned, prepared_corpora
from gareader.studies.tuning.ledger import open_ledger
from gareader.studies.tuning.plan import Plan
from gareader.studies.tuning.report import summaries
from gareader.studies.tuning.sweep import Sweep
from waiting import wait_until

CONFIG = """
[data]
train = "{folder}/train.jsonl"
validation = "{folder}/validation.jsonl"
vector_width = 8
[reader]
hidden = 6
hops = 1
dropout = 0.1
[train]
batch_size = 16
learning_rate = 0.01
max_epochs = 2
validate_every = 3
log_every = 3
threads = 1
"""

GRID = """
[reader.hidden]
values = [4, 6]
[train.learning_rate]
values = [0.01, 0.03]
[sweep]
sampler = "grid"
pruner = "none"
"""


def write_sweep(folder, space=GRID):
    """The files of a sweep."""
    for part, count, seed in (("train", 96, 1), ("validation", 30, 2)):
        examples = [replace(each, id=f"{part}-{i}") for i, each in enumerate(synthetic.corpus(count, seed=seed))]
        write_jsonl(examples, folder / f"{part}.jsonl")
    (folder / "config.toml").write_text(CONFIG.format(folder=folder))
    (folder / "space.toml").write_text(space)
    return folder


@contextmanager
def sweep_of(folder, out="out", storage=None, assignments=(), **options):
    """A sweep ready to run in the folder `out`."""
    plan, out = Plan.load(folder / "config.toml", folder / "space.toml", assignments), folder / out
    with owned(out, plan) as owner, open_ledger(storage or local_storage(out), plan, **options) as ledger:
        yield Sweep(plan, out, prepared_corpora(out, plan), ledger, owner)


def run_all(sweep, wanted):
    """All trials, and how each ended."""
    states = {}
    while trial := sweep.next(wanted):
        states[trial.number] = sweep.do(trial)
    return states


def pretend_all(sweep, wanted):
    """All trials as if they had been run, with accuracies made up from their settings."""
    states = {}
    while trial := sweep.next(wanted):
        states[trial.number] = "complete"
        sweep.ledger.study.tell(trial.number, 1 / (1 + sum(trial.params.values())))
    return states


def found(sweep):
    """What is known of the trials, by number."""
    return {each.trial: each for each in summaries(sweep.plan.space, sweep.ledger.trials())}


def silent_for_long(folder, storage):
    """A machine stops in the middle of a trial: the other one leaves it alone, and takes it over when that lasts."""
    patient = {"storage": storage, "heartbeat": 1, "grace": 3}
    with sweep_of(folder, "one", **patient) as one, sweep_of(folder, "two", **patient) as two:
        first = one.next(4)
        assert one.do(first, stop=lambda: True) == "running"
        second = two.next(4)
        assert second.params != first.params
        assert two.do(second) == "complete"
        wait_until(lambda: two.ledger.storage._get_stale_trial_ids(two.ledger.study_id))
        third = two.next(4)
        assert third.params == first.params  # what was lost comes first
        assert third.number == 2
        assert two.do(third) == "complete"
        assert one.next(4).number == 3  # not the one that it lost
        assert run_all(one, wanted=4) == {3: "complete", 4: "complete"}
        assert two.next(4) is None
        assert sorted(found(two)) == [1, 2, 3, 4]
