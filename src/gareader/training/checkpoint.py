"""The checkpoint of a run: one file with its position, weights and optimiser, and the metrics not yet logged."""

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from gareader.core.cache import Verified
from gareader.core.config import Bounds, Settings, from_table
from gareader.core.parsing import json_object, json_value
from gareader.core.whole import whole_file

FINGERPRINT = "made_of"
"""The key of the fingerprint in a checkpoint's metadata."""

CHECKSUM = "crc32"
"""The key of the checksum in a checkpoint's metadata, of all else in it."""

Natural = Annotated[int, Bounds(least=0)]


@dataclass(frozen=True)
class Position(Settings):
    """The position of a run; with the weights and the optimiser's state it is the whole checkpoint."""

    epoch: Natural = 0
    batch: Natural = 0
    """Batches of this epoch that are done."""
    step: Natural = 0
    """Updates since the beginning."""
    examples: Natural = 0
    best_accuracy: float = -1.0
    best_step: Natural = 0
    best_epoch: Natural = 0
    metrics_bytes: Natural = 0
    """Length of the metrics file; lines that a killed run wrote after the checkpoint are cut off."""
    seconds: Annotated[float, Bounds(least=0)] = 0.0
    finished: bool = False


@dataclass(frozen=True)
class Checkpoint:
    """The state of a run; as it is made here, that of a run before its first update."""

    position: Position = field(default_factory=Position)
    window: list[dict[str, float]] = field(default_factory=list)
    """The metrics of the updates since the last line in the metrics file."""
    tensors: Mapping[str, Tensor] = field(default_factory=dict)
    """Weights, the optimiser's state and the moving average, by name."""


def write(checkpoint: Checkpoint, path: Path, fingerprint: str) -> None:
    """Write a new file, then rename it: a torn write leaves the old checkpoint in place."""
    metadata = {
        "position": json.dumps(asdict(checkpoint.position)),
        "window": json.dumps(checkpoint.window),
        FINGERPRINT: fingerprint,
    }
    tensors = dict(checkpoint.tensors)
    with whole_file(path, sole=True) as new:
        save_file(tensors, new, metadata | {CHECKSUM: checksum(tensors, metadata)})


def read(path: Path, fingerprint: str) -> Checkpoint:
    """Read a checkpoint of these questions and word vectors; raise ValueError or the like for any other file."""
    verified = Verified(path)
    with safe_open(path, framework="pt") as file:
        metadata = dict(file.metadata() or {})
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    stored = metadata.pop(CHECKSUM, "")
    if not verified:
        if stored != checksum(tensors, metadata):
            raise ValueError("it is damaged: its checksum does not match")
        verified.remember()
    if metadata[FINGERPRINT] != fingerprint:
        raise ValueError("the questions or the word vectors are others than before")
    position = from_table(Position, json_object(metadata["position"]), "position")
    window = checked_window(json_value(metadata["window"]))
    if not all(tensor.isfinite().all() for tensor in tensors.values()):
        raise ValueError("it has numbers that are not finite")
    return Checkpoint(position, window, tensors)


def checksum(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    """The CRC-32 of a checkpoint: it finds every changed byte, at some gigabytes a second."""
    total = zlib.crc32(json.dumps(sorted(metadata.items())).encode())
    for name, tensor in sorted(tensors.items()):
        total = zlib.crc32(f"{name} {tensor.dtype} {[*tensor.shape]}".encode(), total)
        total = zlib.crc32(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data, total)
    return f"{total:08x}"


def checked_window(window: Any) -> list[dict[str, float]]:
    """Return the metrics of a window; raise ValueError if they are none."""
    if not isinstance(window, list) or not all(
        isinstance(row, dict) and row.keys() == window[0].keys() for row in window
    ):
        raise ValueError("its window of metrics is none")
    if not all(isinstance(value, int | float) for row in window for value in row.values()):
        raise ValueError("its window of metrics has other values than numbers")
    return [*window]
