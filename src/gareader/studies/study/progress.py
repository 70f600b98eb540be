"""What of a study is done, what is going on, and how long the rest may take."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated

from gareader.core.config import Bounds, NonNegative, Settings, from_table
from gareader.core.errors import GareaderError
from gareader.core.files import open_regular
from gareader.core.parsing import json_object
from gareader.core.whole import whole_file
from gareader.studies.study.plan import Trial
from gareader.studies.study.results import Result

PROGRESS = "progress.json"
"""In the folder of a run of a study: how far it is."""


@dataclass(frozen=True)
class Progress(Settings):
    share: Annotated[float, Bounds(least=0, most=1)]
    """The share of the longest possible run that is done."""
    minutes: NonNegative
    """The minutes that it has taken."""

    @property
    def left(self) -> float | None:
        """The minutes that it takes at most; None if nothing is done yet."""
        return self.minutes * (1 - self.share) / self.share if self.share else None


def write_progress(folder: Path, progress: Progress) -> None:
    """Write how far the run in the folder is."""
    with whole_file(folder / PROGRESS, sole=True, sync=False) as new:
        new.write_text(json.dumps(asdict(progress)), encoding="utf-8")


def read_progress(folder: Path) -> Progress | None:
    """How far the run in the folder is; None if it has not begun, or one cannot tell."""
    try:
        with open_regular(folder / PROGRESS) as file:
            return from_table(Progress, json_object(file.read()), "progress")
    except (OSError, ValueError, GareaderError):
        return None


def summary(
    trials: list[Trial], results: Mapping[str, Result], begun: Mapping[str, Progress], *, running: bool
) -> list[str]:
    """Lines that say what is done, what is going on, and how long the rest takes at most."""
    waiting = [trial for trial in trials if trial.key not in results]
    lines = [f"{len(trials) - len(waiting)} of {len(trials)} trials done"]
    for trial in (trial for trial in waiting if trial.key in begun):
        name = f"{trial.row} on {trial.corpus}, share {trial.fraction:g}, seed {trial.seed}"
        progress = begun[trial.key]
        done = f"{progress.share:.0%} after {duration(progress.minutes)}{at_most(progress)}"
        lines.append(f"{'running' if running else 'stopped'}: {name}: {done}")
    left = [begun[trial.key].left for trial in waiting if trial.key in begun]
    whole = [progress.minutes / progress.share for progress in begun.values() if progress.share]
    whole += [result.minutes for result in results.values() if result.settings]
    later = [trial for trial in waiting if trial.key not in begun and trial.experiment]
    if whole and waiting:
        minutes = sum(each or 0 for each in left) + fmean(whole) * len(later)
        mean = f"; {len(later)} not begun, taken to need the others’ mean" if later else ""
        lines.append(f"left: about {duration(minutes)} of one worker{mean}")
    return lines


def at_most(progress: Progress) -> str:
    """How long a run goes on at most, for its patience may end it earlier."""
    return "" if progress.left is None else f", at most {duration(progress.left)} more"


def duration(minutes: float) -> str:
    """Minutes as people say them."""
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"
