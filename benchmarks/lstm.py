"""A bidirectional layer of torch's LSTM beside one of our GRU, each as a share of the machine's peak.

Example: `python -m benchmarks.lstm 16 --batch 2 --document 20 --repeats 1`
"""

import json
from dataclasses import asdict, dataclass

import torch
from torch import nn

from benchmarks.script import AtLeastOne, Batch, Document, Json, Repeats, start
from gareader.benchmark.contenders import Size
from gareader.benchmark.measure import Times, Work, matrix_product, side_by_side
from gareader.nn.gru import BiGRU
from gareader.nn.lstm import BiLSTM

GRU, LSTM, PEAK = "our GRU", "torch's LSTM", "matrix product"


@dataclass(frozen=True)
class Layers:
    """Times of a bidirectional layer of our GRU and of one of torch's LSTM, forward and backward."""

    hidden: int
    times: dict[str, Times]
    share_of_peak: dict[str, float]
    """Operations per second of the dense products, as a share of those of a large matrix product."""


def main(
    *hidden: AtLeastOne, batch: Batch = 32, document: Document = 430, repeats: Repeats = 5, as_json: Json = False
) -> None:
    """A bidirectional layer of torch's LSTM beside one of our GRU, each as a share of the machine's peak.

    Parameters
    ----------
    hidden
        Units per direction; those of the readers with LSTMs if none are given.
    """
    for units in hidden or (100, 218, 256, 300):
        result = bench_lstm(units, Size(batch=batch, document=document), repeats)
        if as_json:
            print(json.dumps(asdict(result)), flush=True)
            continue
        layers = (
            f"{name} {1e3 * result.times[name].median:7.1f} ms, {share:.2f} of the peak"
            for name, share in result.share_of_peak.items()
        )
        print(f"{units:4} units   {'   '.join(layers)}", flush=True)


def bench_lstm(hidden: int, size: Size, repeats: int, inputs: int = 100, product: int = 2048) -> Layers:
    """Measure both layers on the same documents of word vectors."""
    sequence = torch.randn(size.batch, size.document, inputs, requires_grad=True)
    mask = torch.ones(size.batch, size.document, dtype=torch.bool)
    gradient = torch.randn(size.batch, size.document, 2 * hidden)

    def step(layer: nn.Module) -> Work:
        return lambda: layer(sequence, mask).backward(gradient)

    works = {GRU: step(BiGRU(inputs, hidden)), LSTM: step(BiLSTM(inputs, hidden)), PEAK: matrix_product(product)}
    times = side_by_side(works, repeats)
    peak = 2 * product**3 / min(times.pop(PEAK).seconds)
    # a gate is W x + U h in both directions; an addition and a product count one each; backward has twice as many
    gate = 12 * size.batch * size.document * hidden * (inputs + hidden)
    operations = {GRU: 3 * gate, LSTM: 4 * gate}
    return Layers(hidden, times, {name: operations[name] / times[name].median / peak for name in operations})


if __name__ == "__main__":
    start(main)
