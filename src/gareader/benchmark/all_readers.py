"""Every reader at its paper's sizes: how fast it trains and answers, and where the time of a training step goes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from gareader.benchmark.contenders import Size, answering, batch, training
from gareader.benchmark.measure import Times, Work, matrix_product, side_by_side
from gareader.benchmark.profiling import Part, profiled
from gareader.nn.gru import BiGRU
from gareader.nn.lstm import BiLSTM
from gareader.readers import READERS
from gareader.readers.reader import Basis

GRU, LSTM, PEAK = "our GRU", "torch's LSTM", "matrix product"
PARTS = {
    GRU: ("_BiGRU",),
    LSTM: ("aten::mkldnn_rnn_layer", "aten::lstm", "aten::_thnn_fused_lstm_cell"),
    "products": ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm"),
}
"""How the names of operations begin that belong together; what is in none is the rest."""


@dataclass(frozen=True)
class Pace:
    """Of one reader, on batches of the same questions as every other."""

    reader: str
    questions: int
    """In a batch."""
    training: Times
    """Steps, each on a batch."""
    answering: Times
    shares: dict[str, float]
    """Of a training step: our GRU, torch's LSTM, other products, the rest."""


def bench_readers(names: Sequence[str], size: Size, repeats: int) -> Iterator[Pace]:
    """Readers of those names, one after the other."""
    questions = batch(size)
    for name in names:
        generator = torch.Generator().manual_seed(1)
        words = torch.empty(size.vocabulary, 100).normal_(generator=generator)
        kind = READERS[name]
        basis = Basis(words, 60, range(size.candidates), generator)  # as many answers as there would be marks
        trained, asked = (kind.reader(kind.config(), basis) for _ in range(2))
        step = partial(training(trained, kind.loss), questions)
        times = side_by_side({"train": step, "answer": partial(answering(asked), questions)}, repeats)
        yield Pace(name, size.batch, times["train"], times["answer"], shares(profiled(step, 1)))


def shares(parts: Sequence[Part]) -> dict[str, float]:
    """Of the time, by PARTS."""
    found = dict.fromkeys([*PARTS, "rest"], 0.0)
    for part in parts:
        found[next((name for name, starts in PARTS.items() if part.operation.startswith(starts)), "rest")] += (
            part.seconds
        )
    whole = sum(found.values())
    return {name: seconds / whole for name, seconds in found.items()}


@dataclass(frozen=True)
class Layers:
    """A bidirectional layer of our GRU and one of torch's LSTM, forward and backward."""

    hidden: int
    times: dict[str, Times]
    share_of_peak: dict[str, float]
    """Operations a second of the dense products, as a share of a large matrix product's."""


def bench_lstm(hidden: int, size: Size, repeats: int, inputs: int = 100, product: int = 2048) -> Layers:
    """Both layers on the same documents of word vectors."""
    sequence = torch.randn(size.batch, size.document, inputs, requires_grad=True)
    mask = torch.ones(size.batch, size.document, dtype=torch.bool)
    gradient = torch.randn(size.batch, size.document, 2 * hidden)

    def step(layer: nn.Module) -> Work:
        return lambda: layer(sequence, mask).backward(gradient)

    works = {GRU: step(BiGRU(inputs, hidden)), LSTM: step(BiLSTM(inputs, hidden)), PEAK: matrix_product(product)}
    times = side_by_side(works, repeats)
    peak = 2 * product**3 / min(times.pop(PEAK).seconds)
    # of a gate: W x + U h, in both directions, an addition and a product each one, and twice as many backward
    gate = 12 * size.batch * size.document * hidden * (inputs + hidden)
    operations = {GRU: 3 * gate, LSTM: 4 * gate}
    return Layers(hidden, times, {name: operations[name] / times[name].median / peak for name in operations})
