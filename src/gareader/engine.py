"""The gradient of a batch: on a device, in a precision, in slices, by one process or by several together."""

import os
import shutil
import warnings
from contextlib import ExitStack
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.distributed import GradBucket  # type: ignore[attr-defined]
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.futures import Future
from torch.nn.parallel import DistributedDataParallel

from gareader.batching import Batch
from gareader.distributed import ALONE, Group
from gareader.errors import TrainingError
from gareader.nn.dropout import Dropout
from gareader.nn.gated_attention import GatedAttention
from gareader.nn.gru import BiGRU
from gareader.nn.lstm import BiLSTM
from gareader.nn.lstm_loop import LSTMLoop
from gareader.readers.reader import Kind
from gareader.recipe import TrainConfig

UNCOMPILED = (BiGRU, BiLSTM, LSTMLoop, GatedAttention, Dropout)

_SEEDS_APART = 0x9E3779B97F4A7C15
"""Far enough that no process's seed for an update is another's for a later one."""


@dataclass(frozen=True)
class Measured:
    """What was seen of a batch on the way to its gradient, by all processes together."""

    loss: float
    accuracy: float
    padding: float
    """Share of the documents' positions that hold no word."""
    waiting: float
    """Share of the time in which a process had computed its gradients and waited for the others' to arrive."""


@dataclass
class Moment:
    """When this process's own part of the last gradient was ready."""

    time: float = 0.0


def exchanged(computed: Moment, bucket: GradBucket) -> Future[Tensor]:
    """Note when gradients are ready to be exchanged, then exchange them."""
    computed.time = monotonic()
    return allreduce_hook(dist.group.WORLD, bucket)  # type: ignore[arg-type]


class Engine:
    """A reader with everything that computes its gradients."""

    def __init__(self, kind: Kind, reader: nn.Module, config: TrainConfig, group: Group = ALONE) -> None:
        self.kind = kind
        self.config = config
        self.group = group
        self.device = chosen_device(config, group)
        self.computed = Moment()
        reader.to(self.device)
        self.module: Any = compiled(reader) if config.compile else reader
        if group.size > 1:
            self.module = DistributedDataParallel(self.module, forward_sync_buffers=False)
            self.module.register_comm_hook(self.computed, exchanged)

    def slices(self, members: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """This process's part of a batch, in slices; as members are ordered by length, every part has long and short.

        It is never empty: a process for which nothing is left takes one that counts for nothing.
        """
        mine = members[self.group.rank :: self.group.size]
        found = [mine[start :: self.config.micro_batches] for start in range(self.config.micro_batches)]
        return [part for part in found if len(part)] or [members[:1]]

    def gradients(self, batches: list[Batch], questions: int, step: int) -> Measured:
        """Leave the gradient of the whole batch in the weights, given this process's slices of it."""
        began = monotonic()
        mine = questions > self.group.rank  # whether there was anything left for this process
        counts = [self.kind.count(batch) * mine for batch in batches]
        (total,) = self.group.summed(sum(counts))
        loss = correct = real = places = 0.0
        for number, (batch, count) in enumerate(zip(batches, counts, strict=True)):
            moved = batch.to(self.device)
            with ExitStack() as stack:
                if self.group.size > 1 and number + 1 < len(batches):
                    stack.enter_context(self.module.no_sync())  # exchanged with the last slice's
                output = self.output(moved, step, number)
                part = self.kind.loss(output, moved)
                (part * (count * self.group.size / total)).backward()  # type: ignore[no-untyped-call]
            loss += part.item() * count
            correct += mine * int((output.log_probabilities.argmax(dim=1) == moved.answer).sum())
            real += mine * int(batch.document_mask.sum())
            places += mine * batch.document_mask.numel()
        ended = monotonic()
        waited = (ended - self.computed.time) / (ended - began) if self.group.size > 1 else 0.0
        loss, correct, real, places, waited = self.group.summed(loss, correct, real, places, waited)
        return Measured(loss / total, correct / questions, 1 - real / places, waited / self.group.size)

    def output(self, batch: Batch, step: int, number: int) -> Any:
        """What the reader says while it learns; what dropout drops depends on the seed, the update and the slice."""
        place = self.group.rank * self.config.micro_batches + number
        with torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else []):
            torch.manual_seed(((self.config.seed << 32) + step + place * _SEEDS_APART) % 2**64)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.config.precision == "bf16"):
                return self.module(batch)


def chosen_device(config: TrainConfig, group: Group) -> torch.device:
    """Where to compute; complains about a device or a precision that is not there."""
    there = torch.cuda.is_available()
    if config.device == "cuda" and not there:
        raise TrainingError("train.device = 'cuda', but PyTorch finds no GPU here; use auto or cpu")
    if config.device == "cpu" or not there:
        able = torch.cpu.get_capabilities()
        if config.precision == "bf16" and not any(able.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16")):
            raise TrainingError("train.precision = 'bf16', but this processor has no bf16; use float32")
        return torch.device("cpu")
    device = torch.device("cuda", group.local_rank)
    torch.cuda.set_device(device)
    if config.precision == "bf16" and not torch.cuda.is_bf16_supported(including_emulation=False):
        raise TrainingError("train.precision = 'bf16', but this GPU has no bf16; use float32")
    return device


def compiled(reader: nn.Module) -> Any:
    """The reader, its equations compiled but for the recurrent layers, which have kernels of their own on a processor.

    Elsewhere they are loops as long as the text, which would be compiled anew for every length.
    """
    compiler = os.environ.get("CXX", "g++")
    if not shutil.which(compiler):
        raise TrainingError(f"train.compile needs a C++ compiler, and there is no {compiler}; install it, or use false")
    warnings.filterwarnings("ignore", r"The \.grad attribute|`torch\.jit\.script_method`")  # by torch of itself
    for module in reader.modules():
        if isinstance(module, UNCOMPILED):
            module.forward = torch.compiler.disable(module.forward)  # type: ignore[method-assign, no-untyped-call]
    return torch.compile(reader, dynamic=True)
