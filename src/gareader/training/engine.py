"""Gradients of a batch: device, precision, micro-batches, data parallelism."""

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

from gareader.core.distributed import ALONE, Group
from gareader.core.errors import TrainingError
from gareader.kernels.library import EMULATED, Precision, has_bf16, library
from gareader.nn import native
from gareader.nn.dropout import Dropout
from gareader.nn.gated_attention import GatedAttention
from gareader.nn.gru import BiGRU
from gareader.nn.lstm import BiLSTM
from gareader.nn.lstm_loop import LSTMLoop
from gareader.nn.tensors import Batch
from gareader.readers.reader import Kind
from gareader.training.settings import TrainConfig

UNCOMPILED = (BiGRU, BiLSTM, LSTMLoop, GatedAttention, Dropout)
"""Layers that torch.compile leaves out."""

_SEED_STRIDE = 0x9E3779B97F4A7C15
"""Distance between the seeds of two slices; so large that a seed never recurs at a later update."""


@dataclass(frozen=True)
class BatchMetrics:
    """Metrics of a batch, summed over all processes."""

    loss: float
    accuracy: float
    padding: float
    """Share of the document positions that are padding."""
    waiting: float
    """Share of the time that a process waits for the gradients of the others."""


def exchange_gradients(engine: "Engine", bucket: GradBucket) -> Future[Tensor]:
    """Note the time, then average a bucket of gradients over all processes."""
    engine.computed = monotonic()
    return allreduce_hook(dist.group.WORLD, bucket)  # type: ignore[arg-type]


class Engine:
    def __init__(self, kind: Kind, reader: nn.Module, config: TrainConfig, group: Group = ALONE) -> None:
        self.kind = kind
        self.config = config
        self.group = group
        self.device = training_device(config, group)
        self.computed = 0.0  # the time at which this process had last computed its own gradients
        reader.to(self.device)
        self.native_precision, self.autocast = precisions(config, reader, self.device)
        self.module: Any = compile_reader(reader) if config.compile else reader
        if group.size > 1:
            self.module = DistributedDataParallel(self.module, forward_sync_buffers=False)
            self.module.register_comm_hook(self, exchange_gradients)

    def slices(self, members: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """This process's part of a batch, in micro-batches.

        Members are ordered by length, so taking every n-th gives each process short and long ones. A process without
        a part computes the first member, with weight 0.
        """
        part = members[self.group.rank :: self.group.size]
        slices = [part[start :: self.config.micro_batches] for start in range(self.config.micro_batches)]
        return [each for each in slices if len(each)] or [members[:1]]

    def gradients(self, batches: list[Batch], questions: int, step: int) -> BatchMetrics:
        """Accumulate the gradient of the whole batch in the weights, given this process's slices of it."""
        begun = monotonic()
        has_part = questions > self.group.rank
        counts = [self.kind.count(batch) * has_part for batch in batches]
        (total,) = self.group.sum(sum(counts))
        loss = correct = tokens = positions = 0.0
        for number, (batch, count) in enumerate(zip(batches, counts, strict=True)):
            on_device = batch.map(lambda tensor: tensor.to(self.device))
            with ExitStack() as stack:
                if self.group.size > 1 and number + 1 < len(batches):
                    stack.enter_context(self.module.no_sync())  # gradients are exchanged once, with the last slice
                output = self.output(on_device, step, number)
                slice_loss = self.kind.loss(output, on_device)
                (slice_loss * (count * self.group.size / total)).backward()  # type: ignore[no-untyped-call]
            loss += slice_loss.item() * count
            correct += has_part * int((output.log_probabilities.argmax(dim=1) == on_device.answer).sum())
            tokens += has_part * int(batch.document_mask.sum())
            positions += has_part * batch.document_mask.numel()
        ended = monotonic()
        waiting = (ended - self.computed) / (ended - begun) if self.group.size > 1 else 0.0
        loss, correct, tokens, positions, waiting = self.group.sum(loss, correct, tokens, positions, waiting)
        return BatchMetrics(loss / total, correct / questions, 1 - tokens / positions, waiting / self.group.size)

    def output(self, batch: Batch, step: int, number: int) -> Any:
        """The reader's output in training; seed, update and slice determine what dropout drops."""
        index = self.group.rank * self.config.micro_batches + number
        with torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else []):
            torch.manual_seed(((self.config.seed << 32) + step + index * _SEED_STRIDE) % 2**64)
            with (
                native.products_in(self.native_precision),
                torch.autocast(self.device.type, torch.bfloat16, enabled=self.autocast),
            ):
                return self.module(batch)


def training_device(config: TrainConfig, group: Group) -> torch.device:
    """The device to train on; raises TrainingError for a device that this machine lacks, or a GPU without bf16."""
    has_gpu = torch.cuda.is_available()
    if config.device == "cuda" and not has_gpu:
        raise TrainingError("train.device = 'cuda', but PyTorch finds no GPU here; use auto or cpu")
    if config.device == "cpu" or not has_gpu:
        return torch.device("cpu")
    device = torch.device("cuda", group.local_rank)
    torch.cuda.set_device(device)
    if config.precision == "bf16" and not torch.cuda.is_bf16_supported(including_emulation=False):
        raise TrainingError("train.precision = 'bf16', but this GPU has no bf16; use float32")
    return device


def precisions(config: TrainConfig, reader: nn.Module, device: torch.device) -> tuple[Precision, bool]:
    """The precision of the native library's products, and whether torch's are in bf16.

    With bf16 on a CPU the library multiplies in bf16, and torch in float32. A reader without a Bi-GRU, for which the
    library has no layers, leaves bf16 to torch, where the processor has it.
    """
    if config.precision == "float32" or device.type == "cuda":
        return "float32", config.precision == "bf16"
    if library() is not None and any(isinstance(module, BiGRU) for module in reader.modules()):
        if not has_bf16():
            warnings.warn(f"train.precision = 'bf16', {EMULATED}", stacklevel=2)
        return "bf16", False
    cpu = torch.cpu.get_capabilities()
    in_torch = any(cpu.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))
    if not in_torch:
        why = "this processor has no bf16, and the native kernel no layer of this reader"
        warnings.warn(f"train.precision = 'bf16', but {why}: training in float32", stacklevel=2)
    return "float32", in_torch


def compile_reader(reader: nn.Module) -> Any:
    """Compile the reader, except its recurrent layers.

    On a CPU these have native kernels. Elsewhere they are loops over the text, which torch would compile anew for every
    length.
    """
    compiler = os.environ.get("CXX", "g++")
    if not shutil.which(compiler):
        raise TrainingError(f"train.compile needs a C++ compiler, and there is no {compiler}; install it, or use false")
    warnings.filterwarnings("ignore", r"The \.grad attribute|`torch\.jit\.script_method`")  # torch warns of itself
    for module in reader.modules():
        if isinstance(module, UNCOMPILED):
            module.forward = torch.compiler.disable(module.forward)  # type: ignore[method-assign, no-untyped-call]
    return torch.compile(reader, dynamic=True)
