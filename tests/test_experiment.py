"""A training run from its settings: what cannot be is told, and leaves nothing behind."""

import pytest

import synthetic
from gareader.errors import ConfigError
from gareader.experiment import Experiment
from gareader.store import prepare


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
        patch.setattr(Experiment, "untrained", fail)
        with pytest.raises(failure):
            experiment.run(folder)
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    assert experiment.run(folder).position.step == 0
