"""Fixtures for all tests."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import real_data  # neither it nor this file imports torch: the process that distributes the tests needs none
from real_data import RealFile

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch is imported: who waits leaves its core to others
settings.register_profile("gareader", deadline=None)  # a busy machine is no failure
settings.load_profile("gareader")

LONGEST = ("test_distributed.py", "test_cli.py", "test_contract.py", "test_benchmark_scripts.py", "test_training.py")
"""The files that take longest; they begin first, so that no core waits for the last of them at the end."""


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """The tensors of tests are small: threads would only wait for each other."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests leave nothing in the user's cache, and find nothing there."""
    os.environ["GAREADER_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of whole real corpora, which are no part of the project."""
    if not real_data.folder().is_dir():
        pytest.skip(real_data.missing(""))
    return real_data.folder()


def piece_and_whole(piece: str, whole: str):
    """A fixture of a real file: the piece that lies beside the tests, and all of it where it is at hand."""

    @pytest.fixture(scope="session", params=["piece", pytest.param("whole", marks=pytest.mark.slow)])
    def file(request: pytest.FixtureRequest) -> RealFile:
        if request.param == "piece":
            return RealFile(real_data.PIECES / piece, whole=False)
        path = real_data.folder() / whole
        if not path.exists():
            pytest.skip(real_data.missing(whole))
        return RealFile(path, whole=True)

    return file


cbt_questions = piece_and_whole("cbt/cbtest_NE_valid_40ex.txt", "cbt/cbtest_NE_valid_2000ex.txt.xz")
cbt_books = piece_and_whole("cbt/cbt_valid_one_book.txt", "cbt/cbt_valid.txt.xz")
glove = piece_and_whole("glove/glove.6B.100d.few.txt.xz", "glove/glove.6B.100d.subset.txt.xz")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of whole corpora as slow; let the longest files begin."""
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))
    for item in items:
        if "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def gareader(capsys, monkeypatch):
    """Runs the command in this process: exit code, stdout, stderr."""
    from gareader.cli import main

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["gareader", *map(str, arguments)])
        code: str | int | None = 0
        try:
            main()
        except SystemExit as exit_:
            code = exit_.code
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def missing_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    """A machine without the native library."""
    from gareader.kernels import library
    from kernels.loading import library_or_none

    monkeypatch.setattr(library, "LIBRARY", tmp_path / "libgru.so")
    monkeypatch.delenv("GAREADER_GRU", raising=False)
    library.library.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    library_or_none()
