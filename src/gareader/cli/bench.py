"""Commands that measure speed: bench."""

import json
from dataclasses import asdict
from pathlib import Path
from statistics import median

from cyclopts import App

from gareader.cli.app import Json, app

bench = App(name="bench", help="Measure speed, always side by side in one run.")
app.command(bench)


@bench.command
def prepare(corpus: Path, *, repeats: int = 5, as_json: Json = False) -> None:
    """Preparing a corpus, beside a bare loop that reads and splits the same file.

    Example: `gareader bench prepare tests/data/cbt.txt`

    Parameters
    ----------
    corpus
        A corpus that is one file.
    repeats
        How often each is run; they alternate.
    """
    from gareader.benchmark import bench_prepare

    result = bench_prepare(corpus, repeats)
    if as_json:
        print(json.dumps(asdict(result)))
        return
    for label, times in (("bare loop", result.bare_seconds), ("prepare", result.prepare_seconds)):
        print(f"{label:<12} {median(times):8.3f} s   (of {len(times)}: {min(times):.3f} to {max(times):.3f})")
    print(f"{'speed':<12} {result.share_of_bare_speed:8.2f}     of the bare loop's, for {result.examples:,} examples")
    print(f"{'open':<12} {result.open_seconds:8.3f} s")
    print(f"{'peak memory':<12} {result.peak_memory_mb:8.0f} MB")
