"""The command that runs studies."""

import json
import shlex
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from gareader.cli.app import Json, Modules, complain, import_modules, watch
from gareader.cli.train import end_as_signalled, progress_bar, stopping
from gareader.core.config import Table, load_table
from gareader.core.errors import GareaderError
from gareader.core.locks import locked
from gareader.core.presets import STUDIES, located, settings_file
from gareader.core.whole import written_whole

if TYPE_CHECKING:
    from gareader.studies.study import Studio, Trial
    from gareader.training.run import Run


def study(
    file: str,
    *,
    out: Path | None = None,
    table: Annotated[bool, Parameter(negative=())] = False,
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
    table
        Only write the table and the picture of what is done so far.
    """
    path = settings_file(file, STUDIES)
    folder = out or Path("studies") / path.stem
    plan = load_table(path)
    if not folder.exists():
        check_files(plan)
    import_modules(modules)
    from gareader.studies.study import Studio, Study  # it imports torch

    studio = Studio(Study.load(path), folder, watch)
    busy = "a study is running here already; wait for it, or choose another --out"
    with nullcontext() if table else locked(folder / "lock", busy):
        waiting = studio.waiting()
        signalled, failed = (0, 0) if table else run_trials(studio, waiting)
        if signalled:
            options = [*(f"--import={each}" for each in modules), *["--json"] * as_json]
            command = ["gareader", "study", file, "--out", str(folder), *options]
            complain(f"stopped; everything is saved. Go on with:\n{shlex.join(command)}")
        text = write(studio) if studio.results() else ""
        if table and not text:
            raise GareaderError(f"{folder}: no trial is done yet, so there is no table; run the study first")
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
    check_present(studio.files(trials))
    failed = 0
    with stopping() as stop:

        def train(run: "Run") -> bool:
            with progress_bar() as bar:
                run.on_metrics = lambda line: bar(line, run.progress)
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


def write(studio: "Studio") -> str:
    """Write the table, and the picture if matplotlib is installed; return the table."""
    from gareader.plots.figures import save
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
