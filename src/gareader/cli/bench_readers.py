"""Commands that measure all readers and the layers they are made of: bench readers, bench lstm."""

import json
from dataclasses import asdict

from gareader.cli.app import Json
from gareader.cli.bench import AtLeastOne, Batch, Document, Repeats, bench
from gareader.errors import GareaderError, did_you_mean


@bench.command
def readers(
    *names: str, batch: Batch = 32, document: Document = 430, repeats: Repeats = 3, as_json: Json = False
) -> None:
    """Every reader at its paper's sizes: training, answering, and where the time of a training step goes.

    Example: `gareader bench readers memory stanford --batch 2 --document 20 --repeats 1`

    Parameters
    ----------
    names
        Only these, as reader.name has them; all if none is given.
    """
    from gareader.benchmark.all_readers import bench_readers
    from gareader.benchmark.contenders import Size
    from gareader.readers import READERS

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


@bench.command
def lstm(
    *hidden: AtLeastOne, batch: Batch = 32, document: Document = 430, repeats: Repeats = 5, as_json: Json = False
) -> None:
    """A bidirectional layer of torch's LSTM beside one of our GRU, each as a share of the machine's peak.

    Example: `gareader bench lstm 16 --batch 2 --document 20 --repeats 1`

    Parameters
    ----------
    hidden
        Units per direction; those of the readers with LSTMs if none are given.
    """
    from gareader.benchmark.all_readers import bench_lstm
    from gareader.benchmark.contenders import Size

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
