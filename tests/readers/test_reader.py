"""What is made into a reader, and what is not."""

import pytest
import torch

from gareader.core.config import Settings
from gareader.readers.reader import Basis, Kind
from gareader.readers.registry import READERS
from gareader.readers.settings import AoAConfig, NSEConfig

BASIS = Basis(torch.zeros(1, 4))


def test_settings_of_another_reader():
    with pytest.raises(TypeError, match="settings of type NSEConfig where AoAConfig is due"):
        READERS["aoa"].reader(NSEConfig(), BASIS)


def test_settings_without_what_every_reader_has():
    with pytest.raises(TypeError, match="Settings has no setting update_words"):
        Kind.of(lambda config, basis: config, Settings)  # type: ignore[arg-type, return-value]


def test_a_reader_is_a_module():
    kind = Kind.of(lambda config, basis: config, AoAConfig)  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match=r"AoAConfig is no torch\.nn\.Module"):
        kind.reader(AoAConfig(), BASIS)
