"""Every reader with its settings file: training, answering, and the shares of layers in a training step.

Example: `python -m benchmarks.readers memory stanford --batch 2 --document 20 --repeats 1`
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import cycle

import torch
from torch import nn

from benchmarks.lstm import GRU, LSTM
from benchmarks.profiling import Operation, profiled
from benchmarks.script import AtLeastOne, Batch, Document, Json, Repeats, start
from gareader.benchmark.contenders import Size, forward_pass, random_batch
from gareader.benchmark.measure import Times, Work, side_by_side
from gareader.core.config import load_table
from gareader.core.distributed import ALONE
from gareader.core.errors import GareaderError, did_you_mean
from gareader.core.presets import settings_file
from gareader.nn import tensors
from gareader.readers.reader import Basis, Kind
from gareader.readers.registry import READERS
from gareader.readers.settings import GATED_ATTENTION
from gareader.training.experiment import Experiment
from gareader.training.optimiser import PERIOD, Optimiser, row_tables
from gareader.training.settings import TrainConfig

PREFIXES = {
    GRU: ("_BiGRU",),
    LSTM: ("aten::mkldnn_rnn_layer", "aten::lstm", "aten::_thnn_fused_lstm_cell"),
    "products": ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm"),
}
"""Prefixes of the operations of each group; all other operations are the rest."""


@dataclass(frozen=True)
class Pace:
    """Times of one reader, on batches of the same sizes as every other."""

    reader: str
    questions: int
    """Questions of a batch."""
    training: Times
    """Times of training steps."""
    every_row: Times
    """Times of training steps that update every row of the tables."""
    answering: Times
    """Times of forward passes."""
    shares: dict[str, float]
    """Shares of a training step's time: our GRU, torch's LSTM, other products, the rest."""


def main(
    *names: str,
    batch: Batch = 32,
    document: Document = 430,
    vocabulary: AtLeastOne = 60_000,
    repeats: Repeats = 3,
    as_json: Json = False,
) -> None:
    """Every reader with its settings file: training, answering, and the shares of layers in a training step.

    Parameters
    ----------
    names
        Names of readers, as in reader.name; all if none is given.
    vocabulary
        Words of the word table.
    """
    for name in names:
        if name not in READERS:
            raise GareaderError(f"there is no reader {name!r}; {did_you_mean(name, READERS)}")
    size = Size(batch=batch, document=document, vocabulary=vocabulary)
    for number, pace in enumerate(bench_readers(names or list(READERS), size, repeats)):
        if as_json:
            print(json.dumps(asdict(pace)), flush=True)
            continue
        if number == 0:
            print("questions a second  training  every row  answering  of a training step:", *pace.shares, sep="  ")
        shares = "".join(f"{share:>{len(name) + 2}.0%}" for name, share in pace.shares.items())
        speeds = [batch / times.median for times in (pace.training, pace.every_row, pace.answering)]
        print(f"{pace.reader:<18}{speeds[0]:>10.1f}{speeds[1]:>11.1f}{speeds[2]:>11.1f}{'':21}{shares}", flush=True)


def bench_readers(names: Sequence[str], size: Size, repeats: int) -> Iterator[Pace]:
    """Measure the readers of those names one after the other."""
    for name in names:
        experiment = Experiment.from_table(load_table(preset(name)))
        batches = random_batches(size, experiment.data.vector_width)
        kind = READERS[name]
        trained, slow, evaluated = (new_reader(kind, experiment, size) for _ in range(3))
        weights = {key: weight for key, weight in trained.named_parameters() if weight.requires_grad}
        tables = row_tables(experiment.train, weights, ALONE)
        step = partial(training_step(trained, kind, experiment.train, tables), batches)
        answer = forward_pass(evaluated)
        works: dict[str, Work] = {
            "train": step,
            "every row": partial(training_step(slow, kind, experiment.train, ()), batches),
            "answer": partial(lambda answer, batches: answer(next(batches)), answer, batches),
        }
        times = side_by_side(works, repeats)
        shares = time_shares(profiled(step, 1))
        yield Pace(name, size.batch, times["train"], times["every row"], times["answer"], shares)


def preset(name: str) -> str:
    """The settings file of a reader."""
    return str(settings_file("cbt_ne" if name == GATED_ATTENTION else name.replace("-", "_")))


def new_reader(kind: Kind, experiment: Experiment, size: Size) -> nn.Module:
    """The reader of these settings, with random weights; it has as many answers as there would be marks."""
    generator = torch.Generator().manual_seed(1)
    words = torch.empty(size.vocabulary, experiment.data.vector_width).normal_(generator=generator)
    return kind.reader(experiment.reader_config, Basis(words, 60, range(size.candidates), generator))


def random_batches(size: Size, width: int) -> Iterator[tensors.Batch]:
    """Random questions without end, whose words are as frequent as in a text: the n-th has a share like 1/n."""
    batch = random_batch(size)
    generator = torch.Generator().manual_seed(3)
    shares = 1 / torch.arange(1, size.vocabulary + 1)
    count = min(size.types, size.vocabulary)
    draws = [torch.multinomial(shares, count, generator=generator) for _ in range(16)]
    known = [torch.cat([words, words[: size.types - count]]) for words in draws]
    unknown = torch.empty(0, width)
    return cycle([replace(batch, types=replace(batch.types, known=words, unknown=unknown)) for words in known])


def training_step(
    reader: nn.Module, kind: Kind, config: TrainConfig, tables: Sequence[str]
) -> Callable[[Iterator[tensors.Batch]], None]:
    """A function that makes one update, of these tables by rows, as training does after its first updates."""
    weights = {name: weight for name, weight in reader.named_parameters() if weight.requires_grad}
    optimiser = Optimiser(config, weights, tables)
    reader.train()

    def step(batches: Iterator[tensors.Batch]) -> None:
        batch = next(batches)
        optimiser.zero_grad()
        kind.loss(reader(batch), batch).backward()  # type: ignore[no-untyped-call]
        optimiser.clip()
        optimiser.step(config.learning_rate)
        for table in optimiser.tables.values():
            if table.step < PERIOD:
                table.step += PERIOD
                table.row_step += PERIOD

    return step


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
