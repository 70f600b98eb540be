"""The command that trains."""

import json
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeRemainingColumn
from rich.table import Column

from gareader.cli.app import Json, Modules, check_corpus, complain, import_modules, percent, watch
from gareader.core.config import Table, from_table, load_table
from gareader.core.distributed import Group, joined
from gareader.core.errors import GareaderError
from gareader.core.presets import settings_file
from gareader.plots.figures import save
from gareader.readers.settings import GATED_ATTENTION, SETTINGS
from gareader.training.settings import DataConfig, TrainConfig, check_sections

if TYPE_CHECKING:
    from gareader.training.checkpoint import Position
    from gareader.training.run import Run


def train(
    config: str,
    *,
    out: Path | None = None,
    assignments: Annotated[tuple[str, ...], Parameter(name="--set")] = (),
    resume: bool = False,
    tensorboard: bool = False,
    modules: Modules = (),
    as_json: Json = False,
) -> None:
    """Train a reader as a settings file says; the run can be stopped or killed at any time, and resumed exactly.

    Example: `gareader train tiny --out runs/tiny`

    Parameters
    ----------
    config
        A preset by its name (see `gareader presets`), or a TOML file with the sections data, reader and train.
    out
        The run's folder; runs/ and the name of the settings file if not given.
    assignments
        section.key=value, to change one setting, or section.key= for its default; may be given several times.
    resume
        Resume the run in the folder from its checkpoint.
    tensorboard
        Also write the metrics for TensorBoard, to the folder tensorboard in the run's folder.
    """
    file = settings_file(config)
    table = load_table(file, assignments)
    folder = out or Path("runs") / file.stem
    data = checked_data(table)
    if not (folder.exists() or resume):  # a run keeps its corpora
        for key, path in (("train", data.train), ("validation", data.validation), ("vectors", data.vectors)):
            if path is not None:
                check_corpus(path, f"put it there, or name yours with --set data.{key}=PATH")
    import_modules(modules)
    from gareader.training.experiment import Experiment  # it imports torch

    if tensorboard:
        import torch.utils.tensorboard  # noqa: F401  raises an error if a package is missing
    with joined() as group:
        watched = {"watch": watch} if group.first else {}
        with Experiment.from_table(table).opened(folder, resume=resume, group=group, **watched) as run:
            position, signalled = trained(run, group, tensorboard)
        if not group.first:
            end_as_signalled(0 if position.finished else signalled)
            return
        if not position.finished:
            sets = [word for assignment in assignments for word in ("--set", assignment)]
            others = ["--tensorboard"] * tensorboard + [f"--import={each}" for each in modules] + ["--json"] * as_json
            command = shlex.join(["gareader", "train", config, "--out", str(folder), *sets, *others, "--resume"])
            complain(f"stopped after update {position.step:,}; everything is saved. Go on with:\n{command}")
        print_end(run, position, as_json)
        if position.finished:
            draw(folder, quiet=as_json)
        else:
            end_as_signalled(signalled)


def checked_data(table: Table) -> DataConfig:
    """The settings of [data]; raise ConfigError for wrong ones in any section, but for a reader from outside."""
    check_sections(table)
    reader = {"name": GATED_ATTENTION, **table.get("reader", {})}
    if kind := SETTINGS.get(reader.pop("name")):
        from_table(kind, reader, "reader")
    from_table(TrainConfig, table.get("train", {}), "train")
    return from_table(DataConfig, table.get("data", {}), "data")


def print_end(run: "Run", position: "Position", as_json: bool) -> None:
    """Print what was reached and where it is; raise GareaderError if the best model is gone."""
    from gareader.training.run import BEST, LAST, METRICS

    folder = run.folder
    paths = {"best": folder / BEST, "last": folder / LAST, "metrics": folder / METRICS}
    if run.best_is_gone:
        end = f"; that of the last update is {folder / LAST}" if (folder / LAST).exists() else ""
        raise GareaderError(f"{folder / BEST}: the best model of this run is gone{end}; to have it again, train again")
    if position.best_step == position.step or not (folder / LAST).exists():
        del paths["last"]  # the last model is the best one, or the run has not ended
    if as_json:
        print(json.dumps({**asdict(position), **{name: str(path) for name, path in paths.items()}}))
    elif position.best_step:
        print(f"best validation accuracy {percent(position.best_accuracy)} at update {position.best_step:,}")
        print("\n".join(f"{name + ':':8} {path}" for name, path in paths.items()))


def trained(run: "Run", group: Group, tensorboard: bool) -> tuple["Position", int]:
    """Train until the end or a signal, whose number is returned, or 0; rank 0 shows the progress."""
    with stopping(quiet=not group.first) as stop, progress_bar(quiet=not group.first) as bar:
        if group.first:
            left_out = run.model.notes["left_out"]
            questions = f"{len(run.training):,} training questions ({left_out:,} left out)"
            others = f"; {group.size} processes" if group.size > 1 else ""
            complain(f"{questions}, {len(run.validation):,} to validate{others}")
            record = tensorboard_writer(run.folder, run.position.step) if tensorboard else lambda line: None

            def on_metrics(line: dict[str, Any]) -> None:
                bar(line, run.progress)
                record(line)

            run.on_metrics = on_metrics
        return run.train(stop), max(group.all_gather(stop.signal))


def draw(folder: Path, *, quiet: bool) -> None:
    """Draw the learning curves into the run's folder, if matplotlib is installed."""
    from gareader.plots.curves import learning_curves

    try:
        save(learning_curves([folder]), folder / "curves.png")
    except GareaderError as error:
        complain(error)
        return
    if not quiet:
        print(f"curves:  {folder / 'curves.png'}")


class Stop:
    """Whether a signal has asked to stop."""

    signal = 0
    """The number of the signal; 0 for none."""

    def __call__(self) -> bool:
        return self.signal != 0


@contextmanager
def stopping(*, quiet: bool = False) -> Iterator[Stop]:
    """Stop after the present update at Ctrl-C or SIGTERM; a second signal stops at once."""
    stopped = Stop()

    def stop(number: int, *_: object) -> None:
        if stopped():
            raise KeyboardInterrupt
        stopped.signal = number
        if not quiet:
            complain("finishing this update, then saving; once more to stop at once")

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_as_signalled(number: int) -> None:
    """Exit with the code that shells expect of a command that a signal has stopped, unless there was none."""
    if number:
        sys.stdout.flush()
        sys.exit(128 + number)


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[Callable[[dict[str, Any], float], None]]:
    """Show a line with the latest metrics and the time left, if stderr is a terminal."""
    console = Console(stderr=True)
    time_left = TimeRemainingColumn(compact=True, table_column=Column(min_width=5, no_wrap=True))
    news = TextColumn("left · {task.description}", table_column=Column(no_wrap=True, overflow="ellipsis"))
    latest: dict[str, Any] = {}
    disable = quiet or not console.is_terminal
    with Progress(time_left, news, console=console, transient=True, disable=disable) as progress:
        task = progress.add_task("training", total=1.0)

        def show(line: dict[str, Any], share: float) -> None:
            latest.update(line)
            parts = [f"epoch {latest['epoch']}", f"update {latest['step']:,}", f"{latest['examples_per_second']:.0f}/s"]
            if "accuracy" in latest:
                parts.append(f"accuracy {percent(latest['accuracy'])}")
            if "validation_accuracy" in latest:
                parts.append(f"validation {percent(latest['validation_accuracy'])}")
            if "loss" in latest:
                parts.append(f"loss {latest['loss']:.3f}")
            progress.update(task, description=" · ".join(parts), completed=share)

        yield show


def tensorboard_writer(folder: Path, step: int) -> Callable[[dict[str, Any]], None]:
    """A function that writes metrics for TensorBoard; those that a killed run wrote after `step` are dropped."""
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(folder / "tensorboard", purge_step=step + 1)

    def listen(line: dict[str, Any]) -> None:
        for name, value in line.items():
            if isinstance(value, float):
                writer.add_scalar(name, value, line["step"])
        writer.flush()

    return listen
