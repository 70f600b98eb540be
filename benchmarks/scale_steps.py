"""Training steps of one process of benchmarks/scale.py, with given numbers of threads and of questions.

Example: `torchrun --standalone --nproc-per-node 2 -m benchmarks.scale_steps 20 1 1 32`: documents of 20 words, one step
with one thread and 32 questions
"""

import json
import sys
from statistics import median
from time import perf_counter

import torch

from gareader.benchmark.contenders import NATIVE, Size, contender, random_batch
from gareader.core.distributed import joined
from gareader.readers.registry import READERS
from gareader.training.engine import Engine
from gareader.training.optimiser import Optimiser
from gareader.training.settings import TrainConfig


def main(document: int, updates: int, *works: int) -> None:
    """Make the steps; rank 0 prints their durations."""
    with joined() as group:
        reader = contender(NATIVE, Size()).train()
        engine = Engine(READERS["gated-attention"], reader, TrainConfig(), group)
        weights = {name: weight for name, weight in reader.named_parameters() if weight.requires_grad}
        optimiser = Optimiser(engine.config, weights)
        for threads, questions in zip(works[::2], works[1::2], strict=True):
            torch.set_num_threads(threads)
            batch = random_batch(Size(batch=max(1, questions // group.size), document=document))
            seconds, waiting = [], []
            for step in range(updates + 1):
                start = perf_counter()
                optimiser.zero_grad()
                measured = engine.gradients([batch], questions, step)
                optimiser.clip()
                optimiser.step(engine.config.learning_rate)
                seconds.append(perf_counter() - start)
                waiting.append(measured.waiting)
            if group.first:  # the first step warms up
                print(json.dumps({"seconds": seconds[1:], "waiting": median(waiting[1:])}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
