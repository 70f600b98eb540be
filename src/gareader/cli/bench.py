"""Commands that measure speed: bench."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter
from cyclopts.validators import Number

from gareader.cli.app import AtLeastOne, Json
from gareader.core.files import opened
from gareader.data.sources import STORIES, read_examples
from gareader.kernels.library import chosen_set, instruction_sets

if TYPE_CHECKING:
    from gareader.benchmark.contenders import Size
    from gareader.benchmark.measure import Times, Work
    from gareader.benchmark.reading import Measurement

bench = App(name="bench", help="Measure speed, always side by side in one run.")

Repeats = Annotated[AtLeastOne, Parameter(help="How often each is run; they alternate.")]
Batch = Annotated[AtLeastOne, Parameter(help="Questions in a batch.")]
Document = Annotated[AtLeastOne, Parameter(help="Words of a document.")]
Hidden = Annotated[AtLeastOne, Parameter(help="GRU units per direction.")]
Busy = Annotated[bool, Parameter(help="Measure again while another process keeps one core busy.", negative="--no-busy")]

Instructions = Annotated[
    str | None, Parameter(help="Use no better instructions than these, such as avx2, in the kernels and in torch.")
]


@Parameter(name="*")
@dataclass(frozen=True)
class Setup:
    """The sizes of reader and batch, and how they are measured."""

    batch: Batch = 32
    document: Document = 430
    hidden: Hidden = 128
    repeats: Repeats = 5
    busy: Busy = True
    instructions: Instructions = None


DEFAULT = Setup()

TORCH_LIMITS = {
    name: {"ATEN_CPU_CAPABILITY": aten, "ONEDNN_MAX_CPU_ISA": onednn, "MKL_ENABLE_INSTRUCTIONS": mkl}
    for name, aten, onednn, mkl in (
        ("avx512", "avx512", "AVX512_CORE", "AVX512"),
        ("avx2", "avx2", "AVX2", "AVX2"),
        ("plain", "default", "SSE41", "SSE4_2"),
    )
}
"""What restricts torch and its libraries to each instruction set of the kernels."""


@bench.command
def train(*, setup: Setup = DEFAULT, as_json: Json = False) -> None:
    """A training step of gareader, of the same reader on torch.nn.GRU, and the machine's peak.

    Example: `gareader bench train --batch 2 --document 20 --repeats 1 --no-busy`
    """
    bench_reader("train", setup, as_json)


@bench.command
def infer(*, setup: Setup = DEFAULT, as_json: Json = False) -> None:
    """Time to answer a batch of questions, as in `gareader evaluate`.

    Example: `gareader bench infer --batch 2 --document 20 --repeats 1 --no-busy`
    """
    bench_reader("infer", setup, as_json)


@bench.command
def answer(
    *,
    document: Document = 430,
    hidden: Hidden = 128,
    repeats: Repeats = 15,
    busy: Busy = True,
    instructions: Instructions = None,
    as_json: Json = False,
) -> None:
    """Time to answer one question: how long a person waits.

    Example: `gareader bench answer --document 20 --repeats 1 --no-busy`
    """
    bench_reader("answer", Setup(1, document, hidden, repeats, busy, instructions), as_json)


@bench.command
def serve(
    *,
    corpus: Path | None = None,
    clients: AtLeastOne = 64,
    time: Annotated[float, Parameter(validator=Number(gt=0))] = 60.0,
    questions: AtLeastOne = 256,
    workers: AtLeastOne = 1,
    as_json: Json = False,
) -> None:
    """The HTTP service under load, beside bare batches of the same questions in one process.

    Example: `gareader bench serve --clients 2 --time 0.5`

    Parameters
    ----------
    corpus
        Where the questions come from; the bundled stories if not given.
    clients
        How many ask at the same time, each one question after the other.
    time
        Seconds of the load; bare batches are read for a quarter of it before and after.
    questions
        How many different ones.
    workers
        Processes of the service.
    """
    source = STORIES if corpus is None else corpus
    examples = list(islice(read_examples(source), questions))
    from gareader.benchmark.serving import bench_serve

    load = bench_serve(examples, clients, time, workers)
    if as_json:
        print(json.dumps({**asdict(load), "share_of_bare_speed": load.share_of_bare_speed}))
        return
    latency = "   ".join(f"{name} {value:.0f} ms" for name, value in load.milliseconds.items())
    early, late = load.memory_mb
    before, after = load.bare_per_second
    print(
        f"{'bare batches of 32':<24} {(before + after) / 2:8.1f} answers/s   (before {before:.1f}, after {after:.1f})"
    )
    print(f"{'the service':<24} {load.answers_per_second:8.1f} answers/s   {latency}")
    print(f"{'':<24} {clients} clients, {time:g} s, statuses {load.statuses}, memory {early:.0f} → {late:.0f} MB")
    print(f"{'speed':<24} {load.share_of_bare_speed:8.2f}     of the bare batches'")


@bench.command
def prepare(corpus: Path, *, repeats: Repeats = 5, as_json: Json = False) -> None:
    """Time to prepare a corpus, beside a bare loop that reads and splits the same file.

    Example: `gareader bench prepare configs/tiny/train.txt`

    Parameters
    ----------
    corpus
        A corpus that is one file.
    """
    with opened(corpus):  # raises an error for a file that cannot be read
        pass
    from gareader.benchmark.preparing import bench_prepare  # it imports torch

    result = bench_prepare(corpus, repeats)
    if as_json:
        print(json.dumps(asdict(result)))
        return
    print_times("bare loop", result.bare_seconds)
    print_times(f"prepare, {result.processes} processes", result.prepare_seconds)
    print_times("prepare, one process", result.alone_seconds)
    print(f"{'speed':<24} {result.share_of_bare_speed:8.2f}     of the bare loop's, for {result.examples:,} examples")
    print(f"{'open':<24} {result.open_seconds:8.3f} s")
    print(f"{'peak memory':<24} {result.peak_memory_mb:8.0f} MB a process")


def bench_reader(work: str, setup: Setup, as_json: bool) -> None:
    """Measure training, inference or answering at some size, and print."""
    if setup.instructions:
        restrict(setup.instructions)
    from gareader.benchmark.contenders import Size  # it imports torch
    from gareader.benchmark.reading import infer, train

    size = Size(batch=setup.batch, document=setup.document, hidden=setup.hidden)
    works = train(size) if work == "train" else infer(size)
    show_measurements(work, size, *works, repeats=setup.repeats, busy=setup.busy, as_json=as_json)


def restrict(instructions: str) -> None:
    """Let the kernels and torch, which is not imported yet, use no better instructions than these."""
    os.environ["GAREADER_INSTRUCTIONS"] = instructions
    chosen_set.cache_clear()
    chosen_set()  # raises an error for unknown ones
    os.environ.update(TORCH_LIMITS.get(instructions, {}))


def show_measurements(
    work: str, size: "Size", works: Mapping[str, "Work"], operations: float, *, repeats: int, busy: bool, as_json: bool
) -> None:
    """Measure on a quiet machine, then beside a busy core, and print."""
    from gareader.benchmark.reading import measure

    for beside in (False, True) if busy else (False,):
        result = measure(work, works, operations, repeats, busy=beside)
        if as_json:
            names = "speedup_over_nn_gru", "share_of_peak", "bf16_speedup", "bf16_share_of_peak"
            ratios = {name: getattr(result, name) for name in names}
            sets = {"instruction_sets": instruction_sets()}
            print(json.dumps({**asdict(size), **sets, **asdict(result), **ratios}), flush=True)
        else:
            show(result)


def show(result: "Measurement") -> None:
    sets = ", ".join(instruction_sets()) or "no native kernel"
    print(f"{result.work}, {'one core kept busy by another process' if result.busy else 'quiet'}, {sets}")
    for name, times in result.times.items():
        print_times(name, times.seconds, f"{threads(times)}   {result.operations / times.median / 1e9:6.0f} GFLOP/s")
    for name, speed in result.speeds.items():
        print(f"{name:<24} {'':10}   {speed / 1e9:6.0f} GFLOP/s")
    print(f"{'over torch.nn.GRU':<24} {result.speedup_over_nn_gru:8.2f} times as fast")
    print(f"{'share of the peak':<24} {result.share_of_peak:8.2f}", flush=True)
    if result.bf16_speedup is not None:
        emulated = ", emulated: no instructions for bf16 here" if result.bf16_peak is None else ""
        print(f"{'bf16 over float32':<24} {result.bf16_speedup:8.2f} times as fast{emulated}", flush=True)
    if result.bf16_share_of_peak is not None:
        print(f"{'share of the bf16 peak':<24} {result.bf16_share_of_peak:8.2f}", flush=True)


def print_times(label: str, seconds: list[float], more: str = "") -> None:
    """Print one line: the median and the spread."""
    spread = f"(of {len(seconds)}: {min(seconds):.4f} to {max(seconds):.4f})"
    print(f"{label:<24} {median(seconds):8.4f} s   {spread:<30} {more}".rstrip())


def threads(times: "Times") -> str:
    return f"{times.threads} thread" + ("s" if times.threads > 1 else " ")
