"""A model between two has the weighted mean of their weights."""

import pytest
import torch

from benchmarks.mixed_weights import main
from gareader.core.errors import ModelError
from gareader.data.arrays import TABLE
from gareader.trained.model import load, save
from gareader.trained.models import folder

MODEL = "stories-one-hop"


def test_weights_are_the_weighted_mean_and_the_words_those_of_the_second(tmp_path):
    model = load(folder(MODEL))
    before = {name: weight.clone() for name, weight in model.reader.state_dict().items()}
    model.reader.load_state_dict({name: w if name == TABLE else w + 1 for name, w in before.items()})
    save(model, tmp_path / "after")
    main(MODEL, str(tmp_path / "after"), out=tmp_path / "mixed", share=0.75)
    mixed = load(tmp_path / "mixed")
    for name, weight in mixed.reader.state_dict().items():
        torch.testing.assert_close(weight, before[name] + (0 if name == TABLE else 0.75))
    assert mixed.notes["mixed"] == {"before": MODEL, "after": "after", "share": 0.75}


def test_models_of_two_sizes_are_refused(tmp_path):
    with pytest.raises(ModelError, match="one architecture and size"):
        main(MODEL, "stories", out=tmp_path / "mixed")
