"""A training run from its settings: what cannot be is told, and leaves nothing behind."""

import pytest
import torch

import synthetic
from gareader.core.errors import ConfigError, TrainingError
from gareader.data.store import prepare
from gareader.trained.model import load
from gareader.training.experiment import Experiment


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
    table["reader"]["hidden"] = 5
    table["train"]["start"] = str(tmp_path / "first" / "best")
    with pytest.raises(TrainingError, match=r"its document_grus\.0\.bias has the shape .*, this reader's .*; take the"):
        Experiment.from_table(table).run(tmp_path / "second")
