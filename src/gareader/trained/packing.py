"""Small weights: half precision, and the word table in 8 bits with one scale a row; the table may stay packed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from gareader.core.errors import ConfigError
from gareader.core.parsing import json_object
from gareader.data.arrays import TABLE

SCALE = f"{TABLE}.scale"
_ROWS = 1 << 12  # checked at a time: a word table may be larger than the memory

Array = NDArray[Any]


class PackedTable:
    """A word table in 8 bits, whose rows are unpacked when they are asked for."""

    def __init__(self, numbers: NDArray[np.int8], scales: NDArray[np.float16]) -> None:
        """`numbers` (words, width) times `scales` (words, 1) is the table."""
        self.numbers, self.scales = numbers, scales
        self.shape = numbers.shape

    def __getitem__(self, rows: Any) -> NDArray[np.float32]:
        """Rows in single precision, by numbers or by a slice."""
        vectors: NDArray[np.float32] = self.numbers[rows].astype(np.float32)
        vectors *= self.scales[rows]
        return vectors


def pack(weights: Mapping[str, Array]) -> dict[str, Array]:
    """Compress weights to a quarter to a half of their size; `unpack` gives them back, rounded."""
    packed = {name: weight.astype(np.float16) for name, weight in weights.items()}
    table = weights[TABLE]
    scale = (np.abs(table).max(axis=1, keepdims=True, initial=0) / 127).astype(np.float16)
    packed[TABLE] = np.clip(np.round(table / np.maximum(scale.astype(np.float32), 1e-30)), -127, 127).astype(np.int8)
    return packed | {SCALE: scale}


def unpack(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the weights of `pack` in single precision; other weights are returned unchanged."""
    weights = {name: array.astype(np.float32) if array.dtype == np.float16 else array for name, array in arrays.items()}
    if SCALE in weights:
        del weights[SCALE]
        weights[TABLE] = table_of(arrays)[:]
    return weights


def table_of(arrays: Mapping[str, Array]) -> "PackedTable | Array":
    """The word table among these arrays, packed if it was."""
    if SCALE not in arrays:
        return arrays[TABLE]
    numbers, scales = arrays[TABLE], arrays[SCALE]
    if numbers.ndim != 2 or scales.shape != (len(numbers), 1):
        raise ConfigError(f"a word table of {numbers.shape} with scales of {scales.shape}")
    return PackedTable(numbers, scales)


def check_finite(arrays: Mapping[str, Array]) -> None:
    """Raise ConfigError for a number that is not finite in single precision."""
    for name, array in arrays.items():
        blocks = (array[start : start + _ROWS] for start in range(0, len(array), _ROWS)) if array.ndim else (array,)
        with np.errstate(over="ignore"):
            if array.dtype != np.int8 and not all(np.isfinite(np.asarray(b, np.float32)).all() for b in blocks):
                raise ConfigError(f"{name} has a number that is not finite")


def mapped(path: Path) -> dict[str, Array]:
    """The arrays of a safetensors file, memory-mapped and not to be written to."""
    with safe_open(path, framework="numpy"):  # raises SafetensorError for a header that is damaged
        data = np.memmap(path, np.uint8, mode="r")
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    header = json_object(data[8:start].tobytes())
    arrays = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            values = data[start + begin : start + end].view(_DTYPES[entry["dtype"]])
            arrays[name] = values.reshape(entry["shape"])
    return arrays


_DTYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I8": np.int8}
