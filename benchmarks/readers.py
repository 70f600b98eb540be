"""Every reader at its paper's sizes: training, answering, and the shares of layers in a training step.

Example: `python -m benchmarks.readers memory stanford --batch 2 --document 20 --repeats 1`
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import torch

from benchmarks.lstm import GRU, LSTM
from benchmarks.profiling import Operation, profiled
from benchmarks.script import Batch, Document, Json, Repeats, start
from gareader.benchmark.contenders import Size, forward_pass, random_batch, training_step
from gareader.benchmark.measure import Times, side_by_side
from gareader.core.errors import GareaderError, did_you_mean
from gareader.readers.reader import Basis
from gareader.readers.registry import READERS

PREFIXES = {
    GRU: ("_BiGRU",),
    LSTM: ("aten::mkldnn_rnn_layer", "aten::lstm", "aten::_thnn_fused_lstm_cell"),
    "products": ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm"),
}
"""Prefixes of the operations of each group; all other operations are the rest."""


@dataclass(frozen=True)
class Pace:
    """Times of one reader, on the same batch as every other."""

    reader: str
    questions: int
    """Questions of the batch."""
    training: Times
    """Times of training steps."""
    answering: Times
    """Times of forward passes."""
    shares: dict[str, float]
    """Shares of a training step's time: our GRU, torch's LSTM, other products, the rest."""


def main(*names: str, batch: Batch = 32, document: Document = 430, repeats: Repeats = 3, as_json: Json = False) -> None:
    """Every reader at its paper's sizes: training, answering, and the shares of layers in a training step.

    Parameters
    ----------
    names
        Names of readers, as in reader.name; all if none is given.
    """
    for name in names:
        if name not in READERS:
            raise GareaderError(f"there is no reader {name!r}; {did_you_mean(name, READERS)}")
    for number, pace in enumerate(bench_readers(names or list(READERS), Size(batch=batch, document=document), repeats)):
        if as_json:
            print(json.dumps(asdict(pace)), flush=True)
            continue
        if number == 0:
            print("questions a second  training  answering  of a training step:", *pace.shares, sep="  ")
        shares = "".join(f"{share:>{len(name) + 2}.0%}" for name, share in pace.shares.items())
        speeds = [batch / times.median for times in (pace.training, pace.answering)]
        print(f"{pace.reader:<18}{speeds[0]:>10.1f}{speeds[1]:>11.1f}{'':21}{shares}", flush=True)


def bench_readers(names: Sequence[str], size: Size, repeats: int) -> Iterator[Pace]:
    """Measure the readers of those names one after the other."""
    batch = random_batch(size)
    for name in names:
        generator = torch.Generator().manual_seed(1)
        words = torch.empty(size.vocabulary, 100).normal_(generator=generator)
        kind = READERS[name]
        basis = Basis(words, 60, range(size.candidates), generator)  # as many answers as there would be marks
        trained, evaluated = (kind.reader(kind.config(), basis) for _ in range(2))
        step = partial(training_step(trained, kind.loss), batch)
        times = side_by_side({"train": step, "answer": partial(forward_pass(evaluated), batch)}, repeats)
        yield Pace(name, size.batch, times["train"], times["answer"], time_shares(profiled(step, 1)))


def time_shares(operations: Sequence[Operation]) -> dict[str, float]:
    """The share of each group of PREFIXES in the time of all operations."""
    seconds = dict.fromkeys([*PREFIXES, "rest"], 0.0)
    for each in operations:
        group = next((name for name, prefixes in PREFIXES.items() if each.operation.startswith(prefixes)), "rest")
        seconds[group] += each.seconds
    total = sum(seconds.values())
    return {name: value / total for name, value in seconds.items()}


if __name__ == "__main__":
    start(main)
