"""One bidirectional GRU layer, forward and backward.

Example: `python -m benchmarks.gru --batch 2 --document 20 --repeats 1 --no-busy`
"""

import torch
from torch import nn

from benchmarks.script import Batch, Busy, Document, Hidden, Json, Repeats, start
from gareader.benchmark.contenders import GRUS, NATIVE, Size, in_bf16
from gareader.benchmark.measure import Work
from gareader.benchmark.reading import with_bf16
from gareader.cli.bench import show_measurements


def main(
    *,
    batch: Batch = 32,
    document: Document = 430,
    hidden: Hidden = 128,
    repeats: Repeats = 5,
    busy: Busy = True,
    as_json: Json = False,
) -> None:
    """One bidirectional GRU layer, forward and backward: gareader's, torch.nn.GRU, and the machine's peak."""
    size = Size(batch=batch, document=document, hidden=hidden)
    show_measurements("gru", size, *layer(size), repeats=repeats, busy=busy, as_json=as_json)


def layer(size: Size) -> tuple[dict[str, Work], float]:
    """The Bi-GRU of the second hop of each contender, and its number of operations."""
    H = size.hidden
    sequence = torch.randn(size.batch, size.document, 2 * H, requires_grad=True)
    mask = torch.ones(size.batch, size.document, dtype=torch.bool)
    gradient = torch.randn(size.batch, size.document, 2 * H)

    def step(layer: nn.Module) -> Work:
        return lambda: layer(sequence, mask).backward(gradient)

    works = {name: step(kind(2 * H, H)) for name, kind in GRUS.items()}
    return with_bf16(works, in_bf16(works[NATIVE])), 36 * size.batch * size.document * H * 3 * H


if __name__ == "__main__":
    start(main)
