"""The shared library of the native kernels: loading it and calling its functions."""

import ctypes
import os
import warnings
from collections.abc import Mapping
from functools import cache
from itertools import count, takewhile
from pathlib import Path

import torch
from torch import Tensor

from gareader.core.errors import ConfigError

LIBRARY = Path(__file__).with_name("libgru.so")
"""The path of the library; the installation builds it if there is a C compiler."""

INTERFACE = 1
"""The value of GRU_INTERFACE in the header that this module is written for."""

_ERRORS = {1: "there is not enough memory", 2: "this machine lacks the instruction set", 3: "a word is out of range"}


@cache
def library() -> ctypes.CDLL | None:
    """The library; None, with a warning, if it was not built. `GAREADER_GRU` is "native" or "torch" to choose one."""
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
    os.register_at_fork(after_in_child=_use_one_thread)
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
    """The version of the library's interface; 0 if the library has no version."""
    try:
        return int(loaded.gru_interface())
    except AttributeError:
        return 0


def _use_one_thread() -> None:
    """Use one thread in a forked process: OpenMP would wait for ever for threads that were not forked."""
    torch.set_num_threads(1)


def instruction_sets() -> list[str]:
    """The instruction sets of this machine for which the library has code, the best first."""
    loaded = library()
    if loaded is None:
        return []
    return [name.decode() for name in takewhile(bool, map(loaded.gru_instruction_set, count()))]


def usable(values: Tensor, mask: Tensor) -> bool:
    """Whether the kernel can be used: there is one, and the tensors are float32, on the CPU and not empty."""
    return values.dtype == torch.float32 and values.device.type == "cpu" and mask.numel() > 0 and library() is not None


def call(function: str, shape: ctypes.Structure, *tensors: Tensor | None) -> None:
    """Call a function of the library with the addresses of contiguous tensors."""
    pointers = [None if tensor is None else ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors]
    code = getattr(loaded_library(), function)(ctypes.byref(shape), *pointers)
    if code:
        raise RuntimeError(f"{function}: {_ERRORS[code]}")


def loaded_library() -> ctypes.CDLL:
    """The library; raises RuntimeError if there is none."""
    loaded = library()
    if loaded is None:  # the caller has not checked `usable`
        raise RuntimeError("there is no native kernel")
    return loaded


def check(expected: Mapping[str, tuple[Tensor | None, torch.dtype, tuple[int, ...]]]) -> None:
    """Raise ValueError for a tensor of another type or shape than the kernel reads."""
    for name, (tensor, dtype, shape) in expected.items():
        if tensor is not None and (tensor.dtype != dtype or tensor.shape != shape):
            raise ValueError(f"{name}: {tensor.dtype} of {tuple(tensor.shape)} where {dtype} of {shape} is due")
