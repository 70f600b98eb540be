"""What each process of benchmarks/scale.py does: training steps with given numbers of threads and of questions.

Example: `torchrun --standalone --nproc-per-node 2 -m benchmarks.scale_steps 20 1 1 32`: documents of 20 words, one step
with one thread and 32 questions
"""

import json
import sys
from statistics import median
from time import perf_counter

import torch

from gareader.benchmark.contenders import NATIVE, Size, batch, reader
from gareader.distributed import joined
from gareader.engine import Engine
from gareader.readers import READERS
from gareader.recipe import TrainConfig


def main(document: int, updates: int, *works: int) -> None:
    """Take the steps; the first of the processes tells how long they took."""
    with joined() as group:
        model = reader(NATIVE, Size()).train()
        engine = Engine(READERS["gated-attention"], model, TrainConfig(), group)
        weights = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
        optimiser = engine.config.optimiser_of(weights)
        for threads, questions in zip(works[::2], works[1::2], strict=True):
            torch.set_num_threads(threads)
            mine = batch(Size(batch=max(1, questions // group.size), document=document))
            seconds, waiting = [], []
            for step in range(updates + 1):
                began = perf_counter()
                optimiser.zero_grad()
                seen = engine.gradients([mine], questions, step)
                engine.config.clipped(weights)
                optimiser.step()
                seconds.append(perf_counter() - began)
                waiting.append(seen.waiting)
            if group.first:  # the first step warms up
                print(json.dumps({"seconds": seconds[1:], "waiting": median(waiting[1:])}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
