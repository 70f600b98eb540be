"""The library that `native/` is built to: whether it is there, and calls of its functions."""

import ctypes
import os
import warnings
from collections.abc import Mapping
from functools import cache
from itertools import count, takewhile
from pathlib import Path

import torch
from torch import Tensor

from gareader.errors import ConfigError

LIBRARY = Path(__file__).with_name("libgru.so")
"""Where the installation puts the library, if there was a compiler."""

INTERFACE = 1
"""GRU_INTERFACE of the header that this module is written for."""

_ERRORS = {1: "there is not enough memory", 2: "this machine lacks the instruction set", 3: "a word is out of range"}


@cache
def library() -> ctypes.CDLL | None:
    """The library, or None with a warning where it was not built. `GAREADER_GRU` decides between native and torch."""
    choice = os.environ.get("GAREADER_GRU", "")
    if choice not in ("", "native", "torch"):
        raise ConfigError(f"GAREADER_GRU = {choice!r} is not known; use native or torch")
    if choice == "torch":
        return None
    try:
        loaded = ctypes.CDLL(str(LIBRARY))
        if _interface(loaded) != INTERFACE:
            raise OSError(f"{LIBRARY} is of another version of gareader")
    except OSError as error:
        way_out = "install gareader again on a machine with a C compiler such as gcc"
        if choice == "native":
            raise ConfigError(
                f"GAREADER_GRU = 'native', but the kernel cannot be loaded ({error}); {way_out}"
            ) from None
        why = f"the native kernel cannot be loaded ({error})" if LIBRARY.exists() else "no native kernel"
        warnings.warn(f"reading with PyTorch alone, several times slower: {why}; {way_out}", stacklevel=2)
        return None
    os.register_at_fork(after_in_child=_on_one_thread)
    loaded.gru_instruction_set.restype = ctypes.c_char_p
    loaded.gru_instruction_set.argtypes = [ctypes.c_int64]
    for size in (loaded.gru_gates_size, loaded.gate_columns):
        size.restype = ctypes.c_int64
    loaded.gate_columns.argtypes = [ctypes.c_int64]
    loaded.gru_keep_memory.argtypes = []
    loaded.gru_keep_memory.restype = None
    loaded.gru_keep_memory()
    return loaded


def _interface(loaded: ctypes.CDLL) -> int:
    """The number of the library's interface; 0 of one that does not tell."""
    try:
        return int(loaded.gru_interface())
    except AttributeError:
        return 0


def _on_one_thread() -> None:
    """A forked process lacks the threads that OpenMP thinks it has: it would wait for them for ever."""
    torch.set_num_threads(1)


def instruction_sets() -> list[str]:
    """The instruction sets of this machine that the library has code for, the best first."""
    loaded = library()
    if loaded is None:
        return []
    return [name.decode() for name in takewhile(bool, map(loaded.gru_instruction_set, count()))]


def usable(values: Tensor, mask: Tensor) -> bool:
    """Whether the kernel takes these: single precision, in the main memory, not empty, and there is a kernel."""
    return values.dtype == torch.float32 and values.device.type == "cpu" and mask.numel() > 0 and library() is not None


def call(function: str, shape: ctypes.Structure, *tensors: Tensor | None) -> None:
    """Run a function of the library on the memory of dense tensors."""
    pointers = [None if tensor is None else ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors]
    code = getattr(loaded_library(), function)(ctypes.byref(shape), *pointers)
    if code:
        raise RuntimeError(f"{function}: {_ERRORS[code]}")


def loaded_library() -> ctypes.CDLL:
    """The library, where there must be one."""
    loaded = library()
    if loaded is None:  # `usable` was not asked
        raise RuntimeError("there is no native kernel")
    return loaded


def check(expected: Mapping[str, tuple[Tensor | None, torch.dtype, tuple[int, ...]]]) -> None:
    """Make sure of every tensor's kind and shape: C would read whatever it is given."""
    for name, (tensor, dtype, shape) in expected.items():
        if tensor is not None and (tensor.dtype != dtype or tensor.shape != shape):
            raise ValueError(f"{name}: {tensor.dtype} of {tuple(tensor.shape)} where {dtype} of {shape} is due")
