"""The command that runs studies."""

import json
import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from gareader.cli.app import Json, Modules, app, complain, import_modules, watch
from gareader.errors import GareaderError


@app.command
def study(
    file: Path,
    *,
    out: Path | None = None,
    table: Annotated[bool, Parameter(negative=())] = False,
    modules: Modules = (),
    as_json: Json = False,
) -> None:
    """Readers × corpora × settings × shares × seeds into one table; stopped or killed, it goes on where it was.

    Example: `gareader study configs/studies/tiny.toml --out tiny_study`

    Parameters
    ----------
    file
        The study: its rows (readers and baselines), corpora, seeds and shares of the training questions.
    out
        The folder of its results, table.md and study.png; studies/ and the name of the file if not given.
    table
        Only write the table and the picture of what is done so far.
    """
    import_modules(modules)
    from gareader.files import held
    from gareader.study import Studio, Study

    folder = out or Path("studies") / file.stem
    studio = Studio(Study.load(file), folder, watch)
    busy = "a study is running here already; wait for it, or choose another --out"
    with nullcontext() if table else held(folder / "lock", busy):
        waiting = studio.waiting()
        finished, failed = (True, 0) if table else run_trials(studio, waiting)
        if not finished:
            options = [*(f"--import={each}" for each in modules), *["--json"] * as_json]
            command = ["gareader", "study", str(file), "--out", str(folder), *options]
            complain(f"stopped; everything is saved. Go on with:\n{shlex.join(command)}")
        text = write(studio) if studio.results() else ""
        if table and not text:
            raise GareaderError(f"{folder}: no trial is done yet, so there is no table; run the study first")
    if as_json:
        for result in studio.results().values():
            print(json.dumps(asdict(result)))
    elif text:
        print(text)
    if failed:
        raise GareaderError(
            f"{failed} of {len(waiting)} trials failed, see above; the study goes on with them next time"
        )


def run_trials(studio: Any, trials: Sequence[Any]) -> tuple[bool, int]:
    """One trial after the other: whether none is left, unless a signal asked to stop, and how many failed."""
    from gareader.cli.train import progress_bar, stopping

    if absent := studio.absent(trials):
        raise GareaderError(f"the study names files that are not there, so nothing was done: {', '.join(absent)}")
    failed = 0
    with stopping() as stop:

        def train(run: Any) -> bool:
            with progress_bar() as bar:
                run.on_metrics = lambda line: bar(line, run.share_done)
                return bool(run.train(stop).finished)

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
                return False, failed
            write(studio)
    return True, failed


def write(studio: Any) -> str:
    """The table, and the picture where matplotlib is installed."""
    from gareader.plots import save, study_picture
    from gareader.study import markdown
    from gareader.whole import written_whole

    results = studio.results()
    text: str = markdown(studio.study, results, studio.predictions)
    with written_whole(studio.folder / "table.md") as out:
        out.write(text)
    try:
        save(study_picture(studio.study, list(results.values())), studio.folder / "study.png")
    except GareaderError as error:
        complain(error)
    return text
