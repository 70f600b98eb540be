"""The command that trains."""

import json
import shlex
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeRemainingColumn
from rich.table import Column

from gareader.cli.app import Json, Modules, app, complain, import_modules, percent, watch
from gareader.errors import GareaderError

if TYPE_CHECKING:
    from gareader.distributed import Group
    from gareader.training import Position, Run


@app.command
def train(
    config: Path,
    *,
    out: Path | None = None,
    assignments: Annotated[tuple[str, ...], Parameter(name="--set", negative=())] = (),
    resume: Annotated[bool, Parameter(negative=())] = False,
    tensorboard: Annotated[bool, Parameter(negative=())] = False,
    modules: Modules = (),
    as_json: Json = False,
) -> None:
    """Train a reader as a settings file says; the run can be stopped or killed at any time, and resumed exactly.

    Example: `gareader train configs/tiny.toml --out runs/tiny`

    Parameters
    ----------
    config
        A TOML file with the sections data, reader and train; see configs/.
    out
        The run's folder; runs/ and the name of the settings file if not given.
    assignments
        section.key=value, to change one setting, or section.key= for its default; may be given several times.
    resume
        Go on where the run in the folder was left.
    tensorboard
        Also write the metrics for TensorBoard, to the folder tensorboard in the run's.
    """
    import_modules(modules)
    from gareader.distributed import joined

    with joined() as group:
        folder = out or Path("runs") / config.stem
        train_together(group, config, folder, assignments, resume, tensorboard, modules, as_json)


def train_together(
    group: "Group",
    config: Path,
    folder: Path,
    assignments: tuple[str, ...],
    resume: bool,
    tensorboard: bool,
    modules: tuple[str, ...],
    as_json: bool,
) -> None:
    """Train with the other processes, if there are any; the first one speaks for all."""
    from gareader.config import load_table, override
    from gareader.distributed import restarted
    from gareader.experiment import Experiment, is_begun
    from gareader.files import held
    from gareader.training import BEST, METRICS

    if tensorboard:
        summary_writer()  # a missing package is told before anything is made ready
    table = load_table(config)
    for assignment in assignments:
        table = override(table, assignment)
    again = any(group.everyones(restarted()))
    resume = group.from_first(resume or (again and is_begun(folder)))
    experiment = Experiment.from_table(table)
    busy = "a run is going on here already; wait for it, or choose another --out"
    with held(folder / "lock", busy) if group.first else nullcontext():
        run = experiment.run(folder, resume=resume, group=group, **({"watch": watch} if group.first else {}))
        position = trained(run, group, tensorboard)
    if not group.first:
        return
    if not position.finished:
        sets = [word for assignment in assignments for word in ("--set", assignment)]
        others = ["--tensorboard"] * tensorboard + [f"--import={each}" for each in modules] + ["--json"] * as_json
        command = shlex.join(["gareader", "train", str(config), "--out", str(folder), *sets, *others, "--resume"])
        complain(f"stopped after update {position.step:,}; everything is saved. Go on with:\n{command}")
    if as_json:
        print(json.dumps({**asdict(position), "reader": str(folder / BEST), "metrics": str(folder / METRICS)}))
    elif position.best_step:
        print(f"best validation accuracy {percent(position.best_accuracy)} at update {position.best_step:,}")
        print(f"reader:  {folder / BEST}\nmetrics: {folder / METRICS}")
    if position.finished:
        draw(folder, quiet=as_json)


def trained(run: "Run", group: "Group", tensorboard: bool) -> "Position":
    """Train until the end or a signal; the first process shows how it goes."""
    with stopping(quiet=not group.first) as stop, progress_bar(quiet=not group.first) as bar:
        if group.first:
            left_out = run.checkpoint.notes["left_out"]
            questions = f"{len(run.training):,} training questions ({left_out:,} left out)"
            complain(f"{questions}, {len(run.validation):,} to validate{on_how_many(group)}")
            record = tensorboard_writer(run.folder, run.position.step) if tensorboard else lambda line: None

            def on_metrics(line: dict[str, Any]) -> None:
                bar(line, run.share_done)
                record(line)

            run.on_metrics = on_metrics
        return run.train(stop)


def on_how_many(group: "Group") -> str:
    """How many processes there are, if it is not this one alone."""
    return f"; {group.size} processes" if group.size > 1 else ""


def draw(folder: Path, *, quiet: bool) -> None:
    """The learning curve, into the run's folder, where matplotlib is installed."""
    from gareader.plots import learning_curves, save

    try:
        save(learning_curves([folder]), folder / "curves.png")
    except GareaderError as error:
        complain(error)
        return
    if not quiet:
        print(f"curves:  {folder / 'curves.png'}")


@contextmanager
def stopping(*, quiet: bool = False) -> Iterator[Callable[[], bool]]:
    """Ctrl-C or SIGTERM asks to stop after the update that is being computed; a second one stops at once."""
    asked = False

    def ask(*signalled: object) -> None:  # noqa: ARG001
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        if not quiet:
            complain("finishing this update, then saving; once more to stop at once")

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[Callable[[dict[str, Any], float], None]]:
    """A line on a terminal's stderr with the latest metrics and the time left."""
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


def summary_writer() -> Any:
    """PyTorch's class that writes for TensorBoard."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise GareaderError("TensorBoard is not installed; type: pip install 'gareader[tensorboard]'") from None
    return SummaryWriter


def tensorboard_writer(folder: Path, step: int) -> Callable[[dict[str, Any]], None]:
    """Writes every number of the metrics for TensorBoard; what a killed run wrote after `step` is dropped."""
    writer = summary_writer()(folder / "tensorboard", purge_step=step + 1)

    def listen(line: dict[str, Any]) -> None:
        for name, value in line.items():
            if isinstance(value, float):
                writer.add_scalar(name, value, line["step"])
        writer.flush()

    return listen
