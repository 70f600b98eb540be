"""The native library in tests, which skip where it was not built."""

import warnings

import pytest

from gareader.kernels import library


def library_or_none():
    """The library or None; the warning that there is none has its own tests."""
    library.library.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return library.library()


needs_kernel = pytest.mark.skipif(
    library_or_none() is None, reason=f"needs the native kernel: {library.LIBRARY} was not built, or GAREADER_GRU=none"
)
