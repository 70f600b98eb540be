"""Answering a batch of questions, beside an encoder of the size of BERT-base that reads the same documents.

Example: `python -m benchmarks.encoder --batch 1 --document 20 --repeats 1`
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import torch

from benchmarks.script import Batch, Document, Json, Repeats, start
from gareader.benchmark.contenders import NATIVE, Size, contender, forward_pass, random_batch
from gareader.benchmark.measure import Times, Work, peak_memory, side_by_side
from gareader.cli.bench import print_times, threads
from gareader.core.errors import GareaderError

ENCODER = "BERT-base-size encoder"
WINDOW = 512


@dataclass(frozen=True)
class EncoderBenchmark:
    """Time and memory of our reader and of the encoder on the same documents."""

    documents: int
    document_words: int
    times: dict[str, Times]
    peak_memory_mb: dict[str, float]
    """Peak memory of a process that does nothing else."""
    speedup_over_encoder: float


def main(*, batch: Batch = 32, document: Document = 430, repeats: Repeats = 5, as_json: Json = False) -> None:
    """Answering a batch of questions, beside an encoder of the size of BERT-base that reads the same documents."""
    result = bench_encoder(Size(batch=batch, document=document), repeats)
    if as_json:
        print(json.dumps(asdict(result)))
        return
    print(f"{batch} documents of {document} words")
    for name, times in result.times.items():
        speed = f"{batch / times.median:8.1f} documents/s   {result.peak_memory_mb[name]:6.0f} MB"
        print_times(name, times.seconds, f"{threads(times)}   {speed}")
    print(f"{'speed-up':<24} {result.speedup_over_encoder:8.1f}")


def bench_encoder(size: Size, repeats: int) -> EncoderBenchmark:
    """Measure the times side by side in this process, and the memory of each in a process of its own."""
    works = {name: make(size) for name, make in WORKS.items()}
    times = side_by_side(works, repeats)
    imports = "from gareader.benchmark.contenders import Size; from benchmarks.encoder import WORKS"
    memory = {name: peak_memory(f"{imports}; WORKS[{name!r}]({size!r})()") for name in WORKS}
    speedup = times[ENCODER].median / times[NATIVE].median
    return EncoderBenchmark(size.batch, size.document, times, memory, speedup)


def native_reader(size: Size) -> Work:
    """A forward pass of our reader on a batch of questions."""
    return partial(forward_pass(contender(NATIVE, size)), random_batch(size))


def encoder_windows(size: Size) -> Work:
    """Each document and its query in windows of 512 word pieces, one per word: real text has more."""
    model = encoder()
    room = WINDOW - size.query - 3  # [CLS] query [SEP] words [SEP]
    lengths = [min(room, size.document - start) + size.query + 3 for start in range(0, size.document, room)]
    windows = [torch.randint(model.config.vocab_size, (size.batch, length)) for length in lengths]

    def read() -> None:
        with torch.inference_mode():
            for window in windows:
                model(input_ids=window)

    return read


def encoder() -> Any:
    """BERT-base with random weights: twelve layers of 768."""
    try:
        from transformers import BertConfig, BertModel
    except ImportError:
        raise GareaderError("this needs transformers; type: pip install -c constraints.txt transformers") from None
    make: Any = BertModel  # it has no types
    return make(BertConfig(), add_pooling_layer=False).eval()


WORKS: dict[str, Callable[[Size], Work]] = {NATIVE: native_reader, ENCODER: encoder_windows}


if __name__ == "__main__":
    start(main)
