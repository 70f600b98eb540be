"""Processes that work together, as `torchrun` starts them: who is who, and what they tell each other.

The engine is torch.distributed: gloo between processors, NCCL between GPUs. The processes trust each other and their
network, as torch.distributed does.
"""

import gc
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from time import sleep
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

if TYPE_CHECKING:  # a process alone need not wait for PyTorch
    from torch import Tensor

T = TypeVar("T")

_RESTARTS = "TORCHELASTIC_RESTART_COUNT"

PATIENCE = timedelta(hours=12)
"""How long one process may keep the others waiting, for example while it prepares a large corpus."""


@dataclass(frozen=True)
class Group:
    """The processes, as one of them sees them."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    """Its number among those of its machine."""
    local_size: int = 1
    """How many those are."""

    @property
    def workers(self) -> int:
        """How many processes this one may start, if all cores are to be used once."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return max(1, cores // self.local_size)

    @property
    def first(self) -> bool:
        """Whether this is the one that writes and speaks."""
        return self.rank == 0

    def summed(self, *numbers: float) -> list[float]:
        """The sums of everyone's numbers."""
        if self.size == 1:
            return [*numbers]
        import torch
        import torch.distributed as dist

        total = torch.tensor(numbers, dtype=torch.float64)
        dist.all_reduce(total)
        sums: list[float] = total.tolist()
        return sums

    def from_first(self, thing: T) -> T:
        """What the first process has."""
        if self.size == 1:
            return thing
        import torch.distributed as dist

        box = [thing]
        dist.broadcast_object_list(box)
        return box[0]

    def tensors_from_first(self, tensors: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
        """The tensors that the first process has."""
        if self.size == 1:
            return {**tensors}
        import torch
        import torch.distributed as dist

        kinds = self.from_first({name: (tensor.shape, tensor.dtype) for name, tensor in tensors.items()})
        shared = {}
        for name, (shape, dtype) in kinds.items():
            shared[name] = tensors[name].contiguous() if self.first else torch.empty(shape, dtype=dtype)
            dist.broadcast(shared[name], 0)
        return shared

    def everyones(self, thing: T) -> list[T]:
        """What each process has, in their order."""
        if self.size == 1:
            return [thing]
        import torch.distributed as dist

        box: list[Any] = [None] * self.size
        dist.all_gather_object(box, thing)
        return box

    def gathered(self, thing: T) -> list[T]:
        """The same, but only the first process is told; for the others there is nothing."""
        if self.size == 1:
            return [thing]
        import torch.distributed as dist

        box: list[Any] = [None] * self.size if self.first else []
        dist.gather_object(thing, box if self.first else None)
        return box

    @contextmanager
    def in_turn(self) -> Iterator[None]:
        """First the first process, then the first of every other machine, then the rest: each finds what was made."""
        turn = 0 if self.first else 1 if self.local_rank == 0 else 2
        for now in range(3):
            if now == turn:
                yield
            self.summed(0)  # wait for everyone


ALONE = Group()


@contextmanager
def joined() -> Iterator[Group]:
    """The group that this process was started in, or this process alone."""
    if "WORLD_SIZE" not in os.environ:
        yield ALONE
        return
    import torch
    import torch.distributed as dist
    import torch.distributed.nn  # its functions keep the group that is there when it is imported: none yet

    store, rank, size = next(dist.rendezvous("env://", timeout=PATIENCE))  # type: ignore[attr-defined]
    fresh = dist.PrefixStore(met(store, rank, size), store)  # type: ignore[attr-defined]
    # What processes tell each other stays in main memory; gradients go by NCCL where they are on GPUs.
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend, store=fresh, rank=rank, world_size=size, timeout=PATIENCE)
    try:
        here = os.environ
        yield Group(rank, size, int(here.get("LOCAL_RANK", "0")), int(here.get("LOCAL_WORLD_SIZE", "1")))
    finally:
        gc.collect()  # nothing may hold the group, or its threads run on while Python ends, which can abort it
        dist.destroy_process_group()


def met(store: Any, rank: int, size: int) -> str:
    """A name on which all processes that are alive agree.

    When torchrun starts a group again it keeps its store, with the addresses of processes that are gone: under a new
    name nobody finds them. The first process draws the name and hands it to everyone who is there, by the number that
    each has drawn; what those who are gone have left behind gets no reply.
    """
    mine = uuid4().hex
    if rank:
        store.set(f"here/{rank}", mine)
        name: str = store.get(f"welcome/{mine}").decode()
        store.set(f"ready/{name}/{rank}", "")
    else:
        name = mine
        missing = set(range(1, size))
        while missing:
            for other in [each for each in missing if store.check([f"here/{each}"])]:
                store.set(f"welcome/{store.get(f'here/{other}').decode()}", name)
            missing -= {each for each in missing if store.check([f"ready/{name}/{each}"])}
            sleep(0.02)
    return name


def restarted() -> bool:
    """Whether torchrun has started this group before, and lost one of its processes."""
    return int(os.environ.get(_RESTARTS, "0")) > 0
