"""The command that runs studies."""

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gareader.cli.app import AtLeastOne, Json, Modules, complain, import_modules, watch
from gareader.cli.train import end_as_signalled, progress_bar, stopping
from gareader.core.claims import is_locked, locked
from gareader.core.config import Table, load_table
from gareader.core.errors import GareaderError
from gareader.core.presets import STUDIES, located, settings_file
from gareader.core.whole import written_whole
from gareader.plots.figures import save

if TYPE_CHECKING:
    from gareader.studies.study import Studio, Trial
    from gareader.training.run import Run


def study(
    file: str,
    *,
    out: Path | None = None,
    workers: AtLeastOne = 1,
    table: bool = False,
    modules: Modules = (),
    as_json: Json = False,
) -> None:
    """Readers × corpora × settings × shares × seeds into one table; stopped or killed, it goes on where it was.

    Example: `gareader study tiny --out tiny_study`

    Parameters
    ----------
    file
        The study: its rows (readers and baselines), corpora, seeds and shares of the training questions; a TOML file,
        or one that comes with gareader, by its name (see `gareader presets`).
    out
        The folder of its results, table.md and study.png; studies/ and the name of the file if not given.
    workers
        Trials at once, each in a process with its share of the cores.
    table
        Only write the table and the picture of what is done so far, and say what is going on and how long the rest
        takes; also while the study runs.
    """
    path = settings_file(file, STUDIES)
    folder = out or Path("studies") / path.stem
    plan = load_table(path)
    if not folder.exists():
        check_files(plan)
    import_modules(modules)
    from gareader.studies.study import Studio, Study  # it imports torch

    studio = Studio(Study.load(path), folder, watch)
    if table:
        show(studio, as_json=as_json)
        return
    with locked(folder / "lock", "a study is running here already; wait for it, or choose another --out"):
        waiting = studio.waiting()
        check_present(studio.files(waiting))
        if workers == 1:
            signalled, failed = run_trials(studio, waiting)
        else:
            signalled, failed = run_workers(studio, waiting, workers, path, modules)
        if signalled:
            options = [*(f"--import={each}" for each in modules), *["--json"] * as_json]
            several = ["--workers", str(workers)] if workers > 1 else []
            command = ["gareader", "study", file, "--out", str(folder), *several, *options]
            complain(f"stopped; everything is saved. Go on with:\n{shlex.join(command)}")
        text = write(studio) if studio.results() else ""
    if as_json:
        for result in studio.results().values():
            print(json.dumps(result.record()))
    elif text:
        print(text)
    if failed:
        raise GareaderError(
            f"{failed} of {len(waiting)} trials failed, see above; the study goes on with them next time"
        )
    end_as_signalled(signalled)


def check_files(plan: Table) -> None:
    """Raise GareaderError for a missing settings file or corpus; `Study.load` checks everything else."""
    tables = [table for table in (plan.get("rows"), plan.get("corpora")) if isinstance(table, dict)]
    inner = [settings for table in tables for settings in table.values() if isinstance(settings, dict)]
    for config in (settings["config"] for settings in inner if isinstance(settings.get("config"), str)):
        load_table(config)
    corpora = [settings[split] for settings in inner for split in ("train", "validation", "test") if split in settings]
    check_present(str(path) for path in corpora)


def check_present(files: Iterable[str]) -> None:
    """Raise GareaderError for missing files; addresses such as s3://… are not looked up."""
    if absent := sorted({path for path in files if "://" not in path and not located(path).exists()}):
        raise GareaderError(f"the study names files that are not there, so nothing was done: {', '.join(absent)}")


def run_trials(studio: "Studio", trials: Sequence["Trial"]) -> tuple[int, int]:
    """Run one trial after the other; return the number of the signal that stopped them, or 0, and how many failed."""
    failed = 0
    with stopping() as stop:

        def train(run: "Run") -> bool:
            with progress_bar() as bar:
                note = run.on_metrics

                def on_metrics(line: dict[str, Any]) -> None:
                    note(line)
                    bar(line, run.progress)

                run.on_metrics = on_metrics
                return run.train(stop).finished

        for number, trial in enumerate(trials, 1):
            place = f"{number} of {len(trials)}"
            complain(f"{place}: {trial.row} on {trial.corpus}, share {trial.fraction:g}, seed {trial.seed}")
            try:
                done = studio.do(trial, train)
            except GareaderError as error:
                complain(f"{trial.key} failed: {error}")
                failed += 1
                continue
            if not done or (stop() and number < len(trials)):
                return stop.signal, failed
            write(studio)
    return 0, failed


def run_workers(
    studio: "Studio", trials: Sequence["Trial"], workers: int, file: Path, modules: Sequence[str]
) -> tuple[int, int]:
    """Run several trials at once; return the number of the signal that stopped them, or 0, and how many failed."""
    import torch

    from gareader.studies.study.workers import FINISHED, STOPPED, TrialPool

    ended = Counter[bool]()
    for source in sorted(studio.corpora(trials)):  # once, before several workers need it
        studio.prepared(source)

    def begin(trial: "Trial") -> None:
        complain(f"{trial.key} begins")

    def end(trial: "Trial", message: str) -> None:
        if message != STOPPED:
            complain(f"{trial.key} {f'failed: {message}' if message else 'is done'}")
            ended[message == FINISHED] += 1
            left = len(trials) - ended.total()
            complain(f"{ended[True]} of {len(trials)} trials done, {ended[False]} failed, {left} left")
        if message == FINISHED:
            write(studio)

    with stopping() as stop:
        TrialPool(file, studio.folder, modules, workers, max(1, torch.get_num_threads() // workers)).run(
            trials, stop, begin, end
        )
        return stop.signal if ended.total() < len(trials) else 0, ended[False]


def show(studio: "Studio", *, as_json: bool) -> None:
    """Write and print the table so far, and say what is going on."""
    from gareader.studies.study.progress import summary

    begun = studio.progress()
    done = studio.results()
    if not done and not begun:
        raise GareaderError(f"{studio.folder}: no trial is done yet, so there is no table; run the study first")
    studio.waiting()  # raises an error if the settings of a result have changed
    if as_json:
        for result in done.values():
            print(json.dumps(result.record()))
    elif done:
        print(write(studio))
    for line in summary(studio.study.trials, done, begun, running=is_locked(studio.folder / "lock")):
        complain(line)


def write(studio: "Studio") -> str:
    """Write the table, and the picture if matplotlib is installed; return the table."""
    from gareader.plots.study import study_picture
    from gareader.studies.study import markdown

    results = studio.results()
    text = markdown(studio.study, results, studio.predictions)
    with written_whole(studio.folder / "table.md") as out:
        out.write(text)
    try:
        save(study_picture(studio.study, list(results.values())), studio.folder / "study.png")
    except GareaderError as error:
        complain(error)
    return text
