"""Every reader at its paper's sizes: training, answering, and where the time of a training step goes.

Example: `python -m benchmarks.readers memory stanford --batch 2 --document 20 --repeats 1`
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import torch

from benchmarks.lstm import GRU, LSTM
from benchmarks.profiling import Part, profiled
from benchmarks.script import Batch, Document, Json, Repeats, start
from gareader.benchmark.contenders import Size, answering, batch, training
from gareader.benchmark.measure import Times, side_by_side
from gareader.errors import GareaderError, did_you_mean
from gareader.readers import READERS
from gareader.readers.reader import Basis

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


def main(*names: str, batch: Batch = 32, document: Document = 430, repeats: Repeats = 3, as_json: Json = False) -> None:
    """Every reader at its paper's sizes: training, answering, and where the time of a training step goes.

    Parameters
    ----------
    names
        Only these, as reader.name has them; all if none is given.
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
        parts = "".join(f"{share:>{len(name) + 2}.0%}" for name, share in pace.shares.items())
        speeds = [batch / times.median for times in (pace.training, pace.answering)]
        print(f"{pace.reader:<18}{speeds[0]:>10.1f}{speeds[1]:>11.1f}{'':21}{parts}", flush=True)


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


if __name__ == "__main__":
    start(main)
