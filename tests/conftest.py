"""Fixtures for all tests."""

import sys
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from gareader.cli import main

torch.set_num_threads(1)  # the tensors of tests are small: threads would only wait for each other
settings.register_profile("gareader", deadline=None)  # a busy machine is no failure
settings.load_profile("gareader")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real corpora, which stands beside the project and is no part of it."""
    folder = Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"needs the shared data folder ({folder})")
    return folder


@pytest.fixture
def gareader(capsys, monkeypatch):
    """Runs the command in this process: exit code, stdout, stderr."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["gareader", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as exit_:
            code = exit_.code
        return code, *capsys.readouterr()

    return run
