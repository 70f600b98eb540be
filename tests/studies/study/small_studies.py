"""A study for tests: its files, and how it is run."""

from gareader.studies.study import Studio, Study

READER = """
[data]
train = "elsewhere"
validation = "elsewhere"
vector_width = 8
[reader]
hidden = 6
hops = 2
dropout = 0.1
[train]
learning_rate = 0.01
max_epochs = 1
log_every = 5
threads = 1
"""

STUDY = """
title = "Who has what"
against = "two hops"
seeds = [1, 2]
fractions = [0.5, 1.0]
[set]
"train.batch_size" = 16
[corpora.things]
train = "{folder}/train.jsonl"
validation = "{folder}/validation.jsonl"
test = "{folder}/test.jsonl"
[rows."two hops"]
config = "{folder}/reader.toml"
published = {{ things = [77.5, 0] }}
[rows."one hop"]
config = "{folder}/reader.toml"
set = {{ "reader.hops" = 1 }}
[rows.frequency]
baseline = "most-frequent"
"""

SMALL = """
[set]
"train.log_every" = 1
[corpora.things]
train = "{folder}/train.jsonl"
validation = "{folder}/validation.jsonl"
[rows.reader]
config = "{folder}/reader.toml"
[rows.frequency]
baseline = "most-frequent"
"""


def edit(path, old, new):
    """Change a file in one place."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def to_the_end(run):
    return run.train().finished


def finished(folder, out="out"):
    studio = Studio(Study.load(folder / "study.toml"), folder / out)
    for trial in studio.waiting():
        assert studio.do(trial, to_the_end)
    return studio
