"""Answering by the ONNX file of a model in onnxruntime, beside gareader's own kernel on the same batches.

Example: `python -m benchmarks.onnx --model stories-one-hop --batch 2 --repeats 1`
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from itertools import cycle, islice
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from benchmarks.script import Batch, Json, Repeats, start
from gareader.benchmark.measure import Times, Work, side_by_side
from gareader.cli.bench import print_times
from gareader.core.errors import GareaderError, extras_told
from gareader.data import corpora
from gareader.data.sources import STORIES
from gareader.kernels.library import instruction_sets
from gareader.trained.models import DEFAULT, folder
from gareader.trained.predictor import Predictor, load

OURS, THEIRS = "gareader", "onnxruntime"


@dataclass(frozen=True)
class OnnxBenchmark:
    """Times of a forward pass for each number of threads, and how far the probabilities are apart."""

    model: str
    questions: int
    document_words: int
    instructions: list[str]
    """The instruction sets that gareader's kernel can use here."""
    times: dict[str, Times]
    """By the name of the program and its threads."""
    largest_difference: float
    """Of two probabilities of a candidate."""


def main(
    *,
    model: str = DEFAULT,
    batch: Batch = 1,
    threads: Annotated[tuple[int, ...], Parameter(help="Numbers of threads.")] = (1, 2),
    repeats: Repeats = 15,
    as_json: Json = False,
) -> None:
    """Answering by the ONNX file of a model in onnxruntime, beside gareader's own kernel on the same batches."""
    result = bench_onnx(model, batch, threads, repeats)
    if as_json:
        print(json.dumps(asdict(result)))
        return
    questions = f"{batch} question{'s' * (batch > 1)} about documents of up to {result.document_words} words"
    print(f"{model}, {questions}; vector instructions: {', '.join(result.instructions) or 'no kernel'}")
    for name, times in result.times.items():
        print_times(name, times.seconds, f"   {batch / times.median:8.1f} questions/s")
    print(f"probabilities differ by at most {result.largest_difference:.1e}")


def bench_onnx(name: str, size: int, threads: tuple[int, ...], repeats: int) -> OnnxBenchmark:
    """Measure both programs in turn on the bundled stories."""
    with extras_told():
        import onnxruntime

        from gareader.trained.export_onnx import OUTPUT, feeds, onnx_file
    model = load(name)
    if not isinstance(model, Predictor):
        raise GareaderError(f"{name}: an ensemble is several models; name one of them")
    stories = corpora.read(STORIES)
    examples = list(islice(cycle(list(stories)), size))
    content = onnx_file(folder(name))
    questions = model.collator(examples)

    def session(number: int) -> Any:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = number
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

    works: dict[str, Work] = {}
    counts: dict[str, int] = {}
    for number in threads:
        network = session(number)
        run: Callable[..., Any] = network.run
        names = [each.name for each in network.get_inputs()]
        inputs = feeds(questions, list(map(model.temperatures.of_example, examples)), names)
        works[f"{OURS}, threads: {number}"] = partial(model.reader, questions)
        works[f"{THEIRS}, threads: {number}"] = partial(run, [OUTPUT], inputs)
        counts |= dict.fromkeys((f"{OURS}, threads: {number}", f"{THEIRS}, threads: {number}"), number)
    theirs = np.exp(run([OUTPUT], inputs)[0])
    ours = [np.exp(each.log_probabilities) for each in model.predict(examples)]
    apart = max(float(np.abs(row - theirs[b, : len(row)]).max()) for b, row in enumerate(ours))
    for work in works.values():  # once before it is timed
        work()
    times = side_by_side(works, repeats, counts)
    return OnnxBenchmark(name, size, questions.document.shape[1], instruction_sets(), times, apart)


if __name__ == "__main__":
    start(main)
