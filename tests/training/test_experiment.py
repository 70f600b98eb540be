"""A training run from its settings: what cannot be is told, and leaves nothing behind."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import gareader
import synthetic
from gareader.core.errors import ConfigError, GareaderError, TrainingError
from gareader.data.corpora import cbt, question_files
from gareader.data.store import prepare
from gareader.trained.model import load
from gareader.training.experiment import Experiment, train


def settings(folder, **data):
    """Of a small run on a corpus in the folder."""
    data = {"train": f"{folder}/corpus.arrow", "validation": f"{folder}/corpus.arrow", "vector_width": 8, **data}
    return {"data": data, "reader": {"hidden": 4, "hops": 1}, "train": {"max_epochs": 1}}


@pytest.mark.parametrize("width", [0, -1])
def test_a_vector_has_at_least_one_number(tmp_path, width):
    with pytest.raises(ConfigError, match=rf"^data\.vector_width = {width} is too small; use 1 or more$"):
        Experiment.from_table(settings(tmp_path, vector_width=width))


@pytest.mark.parametrize("failure", [MemoryError, KeyboardInterrupt, SystemExit, RuntimeError])
def test_whatever_stops_a_run_before_it_begins_the_next_try_can_start(tmp_path, monkeypatch, failure):
    prepare(synthetic.corpus(20, seed=1), tmp_path / "corpus.arrow")
    experiment, folder = Experiment.from_table(settings(tmp_path)), tmp_path / "run"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")

    def fail(*args):
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(Experiment, "new_model", fail)
        with pytest.raises(failure):
            experiment.run(folder)
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    assert experiment.run(folder).position.step == 0


@pytest.mark.parametrize("folder", [False, True])
def test_a_corpus_that_has_changed_since_its_copy_was_made_is_told(tmp_path, folder):
    source = tmp_path / "questions"
    questions = [*synthetic.corpus(20, seed=1)]
    if folder:
        source.mkdir()
        for each in questions:
            (source / f"{each.id}.question").write_text(question_files.written(each))
    else:
        source.write_text("".join(map(cbt.written, questions)))
    experiment = Experiment.from_table(settings(tmp_path, train=str(source), validation=str(source)))
    experiment.run(tmp_path / "run").train(lambda: True)
    assert experiment.run(tmp_path / "run", resume=True).position.finished
    changed = replace(questions[3], answer=((questions[3].answer or 0) + 1) % 4)
    if folder:
        (source / f"{changed.id}.question").write_text(question_files.written(changed) + "\n")
    else:
        source.write_text("".join(map(cbt.written, [*questions[:3], changed, *questions[4:]])))
    with pytest.raises(
        TrainingError, match=r"questions: it has changed since the run in .* began, which reads its copy"
    ):
        experiment.run(tmp_path / "run", resume=True)
    source.rename(tmp_path / "elsewhere")  # the run needs its copy alone
    assert experiment.run(tmp_path / "run", resume=True).position.finished
    (tmp_path / "run" / "sources.json").write_text("[")
    with pytest.raises(TrainingError, match=r"sources\.json: cannot be read; remove it to resume the run"):
        experiment.run(tmp_path / "run", resume=True)


def test_training_starts_from_the_weights_of_a_trained_reader(tmp_path):
    prepare(synthetic.corpus(40, seed=1), tmp_path / "corpus.arrow")
    table = settings(tmp_path)
    first = Experiment.from_table(table).run(tmp_path / "first")
    first.train()
    trained = load(tmp_path / "first" / "best").reader.state_dict()
    table["train"] = {"max_epochs": 1, "seed": 2, "start": str(tmp_path / "first" / "best")}
    second = Experiment.from_table(table).run(tmp_path / "second")
    assert second.model.collator.seed == first.model.collator.seed  # of the vectors of unknown words
    for name, weight in second.reader.state_dict().items():
        assert torch.equal(weight, trained[name]), name


def test_a_reader_of_another_shape_is_no_start(tmp_path):
    prepare(synthetic.corpus(20, seed=1), tmp_path / "corpus.arrow")
    table = settings(tmp_path)
    Experiment.from_table(table).run(tmp_path / "first").train()
    table["reader"]["hidden"] = 3  # a larger one would be widened
    table["train"]["start"] = str(tmp_path / "first" / "best")
    with pytest.raises(TrainingError, match=r"its document_grus\.0\.bias has the shape .*, this reader's .*; take the"):
        Experiment.from_table(table).run(tmp_path / "second")


@pytest.mark.parametrize("form", ["dict", "file", "experiment"])
def test_training_from_python(tmp_path, monkeypatch, form):
    monkeypatch.chdir(tmp_path)
    prepare(synthetic.corpus(40, seed=1), tmp_path / "corpus.arrow")
    table = settings(tmp_path)
    (tmp_path / "small.toml").write_text(
        "\n".join(
            f"[{section}]\n" + "\n".join(f"{key} = {json.dumps(value)}" for key, value in keys.items())
            for section, keys in table.items()
        )
    )
    paths = {**table, "data": {**table["data"], "train": tmp_path / "corpus.arrow"}}
    given: Any = {"dict": paths, "file": "small.toml", "experiment": Experiment.from_table(table)}[form]
    seen: list[tuple[dict[str, Any], float]] = []
    run = train(given, progress=lambda *news: seen.append(news))
    assert run.folder == Path("runs/small" if form == "file" else "runs/gated-attention")
    assert run.position.finished
    assert run.metrics == json.loads(json.dumps([metrics for metrics, _ in seen]))
    assert seen[-1][1] == 1
    assert [row["step"] for row in run.metrics if "validation_accuracy" in row] == [2]
    assert repr(run.best).startswith(f"<Predictor '{tmp_path / run.folder / 'best'}', ")
    assert repr(run).startswith(f"<Run '{run.folder}': 2 updates, best validation accuracy ")
    (answer,) = run.best.answer_many(synthetic.corpus(1, seed=2))
    assert answer.answerable
    with pytest.raises(TrainingError, match="there is a run already"):
        train(given)
    assert train(given, resume=True).position == run.position


def test_an_interrupted_run_goes_on_from_python(tmp_path):
    prepare(synthetic.corpus(100, seed=1), tmp_path / "corpus.arrow")
    table = settings(tmp_path)
    table["train"] |= {"log_every": 1}

    def interrupt(line, share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(table, out=tmp_path / "run", progress=interrupt)
    run = train(table, out=str(tmp_path / "run"), resume=True)
    whole = train(table, out=tmp_path / "whole")
    without = [{key: value for key, value in row.items() if key != "examples_per_second"} for row in run.metrics]
    assert without == [
        {key: value for key, value in row.items() if key != "examples_per_second"} for row in whole.metrics
    ]


def test_a_folder_takes_one_run_at_a_time(tmp_path):
    prepare(synthetic.corpus(20, seed=1), tmp_path / "corpus.arrow")
    with (
        Experiment.from_table(settings(tmp_path)).opened(tmp_path / "run"),
        pytest.raises(GareaderError, match="a run is going on here already"),
    ):
        train(settings(tmp_path), out=tmp_path / "run", resume=True)


def test_training_from_python_without_torch(monkeypatch):
    monkeypatch.delitem(sys.modules, "gareader.training.experiment")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(GareaderError, match=r"this needs torch, .*\[train\]'"):
        gareader.train  # noqa: B018
