"""A group of processes, as `torchrun` starts them: their ranks, and collective communication between them.

The backend is torch.distributed: gloo between CPUs, NCCL between GPUs. The processes trust each other and their
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

if TYPE_CHECKING:  # a single process need not import PyTorch
    from torch import Tensor

T = TypeVar("T")

PATIENCE = timedelta(hours=12)
"""How long one process may keep the others waiting, for example while it prepares a large corpus."""


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Group:
    """The group of processes, from the point of view of one of them."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    """Its rank among the processes of its machine."""
    local_size: int = 1
    """The number of processes on its machine."""

    @property
    def workers(self) -> int:
        """The number of workers this process may start so that each core has one."""
        return max(1, cores() // self.local_size)

    @property
    def first(self) -> bool:
        """Whether this is rank 0, which writes files and prints."""
        return self.rank == 0

    def sum(self, *numbers: float) -> list[float]:
        """Sum each number over all ranks."""
        if self.size == 1:
            return [*numbers]
        import torch
        import torch.distributed as dist

        total = torch.tensor(numbers, dtype=torch.float64)
        dist.all_reduce(total)
        sums: list[float] = total.tolist()
        return sums

    def broadcast(self, value: T) -> T:
        """Return the object that rank 0 passes."""
        if self.size == 1:
            return value
        import torch.distributed as dist

        box = [value]
        dist.broadcast_object_list(box)
        return box[0]

    def broadcast_tensors(self, tensors: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
        """Return the tensors that rank 0 passes."""
        if self.size == 1:
            return {**tensors}
        import torch
        import torch.distributed as dist

        shapes = self.broadcast({name: (tensor.shape, tensor.dtype) for name, tensor in tensors.items()})
        shared = {}
        for name, (shape, dtype) in shapes.items():
            shared[name] = tensors[name].contiguous() if self.first else torch.empty(shape, dtype=dtype)
            dist.broadcast(shared[name], 0)
        return shared

    def all_gather(self, value: T) -> list[T]:
        """Return the objects of all ranks, in order of rank."""
        if self.size == 1:
            return [value]
        import torch.distributed as dist

        box: list[Any] = [None] * self.size
        dist.all_gather_object(box, value)
        return box

    def gather(self, value: T) -> list[T]:
        """Gather to rank 0; other ranks get an empty list."""
        if self.size == 1:
            return [value]
        import torch.distributed as dist

        box: list[Any] = [None] * self.size if self.first else []
        dist.gather_object(value, box if self.first else None)
        return box

    @contextmanager
    def in_turn(self) -> Iterator[None]:
        """Run the block on rank 0 first, then on one rank of every other machine, then on the rest.

        What the first one caches on disk, the later ones find there.
        """
        turn = 0 if self.first else 1 if self.local_rank == 0 else 2
        for now in range(3):
            if now == turn:
                yield
            self.sum(0)  # a barrier


ALONE = Group()


@contextmanager
def joined() -> Iterator[Group]:
    """Join the group of processes that torchrun started; without torchrun, yield a group of one."""
    if "WORLD_SIZE" not in os.environ:
        yield ALONE
        return
    import torch
    import torch.distributed as dist
    import torch.distributed.nn  # before there is a group: its functions keep the group of the time of import

    store, rank, size = next(dist.rendezvous("env://", timeout=PATIENCE))  # type: ignore[attr-defined]
    fresh = dist.PrefixStore(agreed_name(store, rank, size), store)  # type: ignore[attr-defined]
    # Objects and counts stay in main memory and go by gloo; gradients on GPUs go by NCCL.
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend, store=fresh, rank=rank, world_size=size, timeout=PATIENCE)
    try:
        here = os.environ
        yield Group(rank, size, int(here.get("LOCAL_RANK", "0")), int(here.get("LOCAL_WORLD_SIZE", "1")))
    finally:
        gc.collect()  # drop all references to the group: threads that outlive it can abort Python at exit
        dist.destroy_process_group()


def agreed_name(store: Any, rank: int, size: int) -> str:
    """Agree on a random name among all live processes, as a prefix for their keys in the store.

    When torchrun restarts a group it keeps the store, with the addresses of dead processes; a new prefix hides them.
    Rank 0 draws the name and sends it to each rank under the token that this rank has drawn. The tokens of dead
    processes get a reply that nobody reads.
    """
    token = uuid4().hex
    if rank:
        store.set(f"here/{rank}", token)
        name: str = store.get(f"welcome/{token}").decode()
        store.set(f"ready/{name}/{rank}", "")
    else:
        name = token
        missing = set(range(1, size))
        while missing:
            for other in [each for each in missing if store.check([f"here/{each}"])]:
                store.set(f"welcome/{store.get(f'here/{other}').decode()}", name)
            missing -= {each for each in missing if store.check([f"ready/{name}/{each}"])}
            sleep(0.02)
    return name


def restarted() -> bool:
    """Whether torchrun has restarted this group after the loss of a process."""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0
