"""The shared library of the native kernels: loading it and calling its functions with addresses of dense arrays."""

import ctypes
import os
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from itertools import count, takewhile
from pathlib import Path
from typing import Literal

from gareader.core.errors import ConfigError

LIBRARY = Path(__file__).with_name("libgru.so")
"""The path of the library; the installation builds it if there is a C compiler."""

INTERFACE = 4
"""The value of GRU_INTERFACE in the header that this module is written for."""

EMULATED = "but this processor has no instructions for it: it is emulated, slower than float32"
"""What is said of bf16 on such a processor."""

_ERRORS = {1: "there is not enough memory", 2: "this machine lacks the instruction set", 3: "a word is out of range"}


class GruShape(ctypes.Structure):
    """The structure `gru_shape` of gru.h."""

    _fields_ = [
        (name, ctypes.c_int64)
        for name in ("cell", "batch", "steps", "inputs", "hidden", "rows", "threads", "instruction_set", "precision")
    ]


class GruReading(ctypes.Structure):
    """The structure `gru_reading` of gru.h."""

    _fields_ = [
        ("shape", GruShape),
        *((name, ctypes.c_void_p) for name in ("sequence", "words", "mask", "packed", "out")),
    ]


class GateShape(ctypes.Structure):
    """The structure `gate_shape` of attention.h."""

    _fields_ = [
        (name, ctypes.c_int64)
        for name in (
            "batch",
            "tokens",
            "query_tokens",
            "width",
            "out_row",
            "dropped",
            "threads",
            "instruction_set",
            "precision",
        )
    ]


CELLS = {"paper": 0, "cudnn": 1}
"""The numbers of the GRU's cells in `gru_shape`."""

Precision = Literal["float32", "bf16"]

PRECISIONS: dict[Precision, int] = {"float32": 0, "bf16": 1}
"""The numbers of the precisions of products in `gru_shape` and `gate_shape`."""


@cache
def library() -> ctypes.CDLL | None:
    """The library; None, with a warning, if it was not built. `GAREADER_GRU` is "native" or "none" to choose."""
    choice = os.environ.get("GAREADER_GRU", "")
    if choice not in ("", "native", "none"):
        raise ConfigError(f"GAREADER_GRU = {choice!r} is not known; use native or none")
    if choice == "none":
        return None
    try:
        loaded = ctypes.CDLL(str(LIBRARY))
        if loaded.gru_interface() != INTERFACE:
            raise OSError(f"{LIBRARY} is of another version of gareader")
    except (AttributeError, OSError) as error:
        way_out = "install gareader again on a machine with a C compiler such as gcc"
        if choice == "native":
            raise ConfigError(
                f"GAREADER_GRU = 'native', but the kernel cannot be loaded ({error}); {way_out}"
            ) from None
        why = f"the native kernel cannot be loaded ({error})" if LIBRARY.exists() else "no native kernel"
        warnings.warn(f"reading without the native kernel, several times slower: {why}; {way_out}", stacklevel=2)
        return None
    os.register_at_fork(after_in_child=_use_one_thread)
    loaded.gru_instruction_set.restype = ctypes.c_char_p
    loaded.gru_instruction_set.argtypes = [ctypes.c_int64]
    for size in (loaded.gru_gates_size, loaded.gru_packed_size, loaded.gate_columns):
        size.restype = ctypes.c_int64
    loaded.gate_columns.argtypes = [ctypes.c_int64]
    loaded.gru_peak.restype = ctypes.c_int64
    loaded.gru_peak.argtypes = [ctypes.c_int64] * 4
    loaded.gru_keep_memory.argtypes = []
    loaded.gru_keep_memory.restype = None
    loaded.gru_keep_memory()
    return loaded


_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads() -> int:
    """The threads of a call from numpy: all cores that this process may use, or one in a forked process."""
    return _threads


def use_threads(number: int) -> None:
    """Set the number of threads of a call from numpy; torch's is set by torch."""
    global _threads
    _threads = number


def _use_one_thread() -> None:
    """Use one thread in a forked process: OpenMP would wait for ever for threads that were not forked."""
    use_threads(1)
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)


@cache
def chosen_set() -> int:
    """The number of the instruction set that is used: of `GAREADER_INSTRUCTIONS`, such as avx2, or 0, the best."""
    choice, sets = os.environ.get("GAREADER_INSTRUCTIONS"), _all_sets()
    if choice and choice not in sets:
        known = ", ".join(sets) or "no native kernel"
        raise ConfigError(f"GAREADER_INSTRUCTIONS = {choice!r} is not of this machine: {known}")
    return sets.index(choice) if choice else 0


def instruction_sets() -> list[str]:
    """The instruction sets of this machine for which the library has code, from the one in use down."""
    return _all_sets()[chosen_set() :]


def _all_sets() -> list[str]:
    loaded = library()
    if loaded is None:
        return []
    return [name.decode() for name in takewhile(bool, map(loaded.gru_instruction_set, count()))]


def has_bf16() -> bool:
    """Whether this machine has instructions for bf16 products that the library uses; without them it emulates them."""
    return any(name.endswith("bf16") for name in instruction_sets())


@cache
def chosen_precision() -> Precision:
    """The precision of products on numpy arrays: `GAREADER_PRECISION`, float32 if it is not set.

    It warns of bf16 without instructions for it.
    """
    choice = os.environ.get("GAREADER_PRECISION") or "float32"
    for precision in PRECISIONS:
        if choice == precision:
            if precision == "bf16" and not has_bf16():
                warnings.warn(f"GAREADER_PRECISION = 'bf16', {EMULATED}", stacklevel=2)
            return precision
    raise ConfigError(f"GAREADER_PRECISION = {choice!r} is not known; use float32 or bf16")


def multiply_and_add(precision: Precision, tasks: int, threads: int) -> int:
    """Multiply and add in registers, at the instruction set's peak speed; returns the number of operations."""
    operations: int = loaded_library().gru_peak(chosen_set(), PRECISIONS[precision], tasks, threads)
    return operations


def call(function: str, shape: ctypes.Structure, *addresses: int | None) -> None:
    """Call a function of the library with the addresses of dense arrays."""
    _check(function, getattr(loaded_library(), function)(ctypes.byref(shape), *map(ctypes.c_void_p, addresses)))


def read(readings: Sequence[GruReading]) -> None:
    """Compute the states of Bi-GRUs side by side; the arrays that the readings point to must stay alive."""
    several = (GruReading * len(readings))(*readings)
    _check("gru_read", loaded_library().gru_read(several, ctypes.c_int64(len(readings))))


def _check(function: str, code: int) -> None:
    if code:
        raise RuntimeError(f"{function}: {_ERRORS[code]}")


def loaded_library() -> ctypes.CDLL:
    """The library; raises RuntimeError if there is none."""
    loaded = library()
    if loaded is None:  # the caller has not checked that there is one
        raise RuntimeError("there is no native kernel")
    return loaded
