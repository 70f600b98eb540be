"""The native library: when it is loaded, and in which precision it answers."""

from pathlib import Path

import pytest

from gareader.core.errors import ConfigError
from gareader.kernels import library
from kernels.loading import needs_kernel
from places import PROJECT


@pytest.fixture
def precision_of(monkeypatch):
    """The precision of answers with a value of GAREADER_PRECISION."""

    def chosen(value):
        monkeypatch.setenv("GAREADER_PRECISION", value)
        library.chosen_precision.cache_clear()
        return library.chosen_precision()

    yield chosen
    library.chosen_precision.cache_clear()


def test_environment_chooses_the_precision_of_answers(precision_of, monkeypatch):
    assert precision_of("float32") == precision_of("") == "float32"
    with pytest.raises(ConfigError, match="GAREADER_PRECISION = 'fp8' is not known; use float32 or bf16"):
        precision_of("fp8")
    monkeypatch.setattr(library, "has_bf16", lambda: True)
    assert precision_of("bf16") == "bf16"


def test_answers_in_emulated_bf16_are_warned_of(precision_of, monkeypatch):
    monkeypatch.setattr(library, "has_bf16", lambda: False)
    with pytest.warns(UserWarning, match="GAREADER_PRECISION = 'bf16', but this processor has no instructions for it"):
        assert precision_of("bf16") == "bf16"


@needs_kernel
def test_a_library_of_another_version_is_not_used(missing_library):
    missing_library.setattr(library, "LIBRARY", Path(library.__file__).with_name("libgru.so"))
    missing_library.setattr(library, "INTERFACE", 0)
    with pytest.warns(
        UserWarning, match=r"the native kernel cannot be loaded \(.* is of another version of gareader\)"
    ):
        assert library.library() is None


def test_a_library_that_cannot_be_loaded_says_why(missing_library):
    library.LIBRARY.write_text("no library")
    with pytest.warns(
        UserWarning, match=r"the native kernel cannot be loaded \(.*libgru\.so.*\); install gareader again"
    ):
        assert library.library() is None


def test_the_interface_is_that_of_the_header():
    header = (PROJECT / "native" / "gru.h").read_text(encoding="utf-8")
    assert f"GRU_INTERFACE = {library.INTERFACE} " in header


def test_it_cannot_be_demanded_where_it_is_missing(missing_library):
    missing_library.setenv("GAREADER_GRU", "native")
    with pytest.raises(ConfigError, match=r"cannot be loaded .*libgru\.so.*; install gareader again .* C compiler"):
        library.library()
