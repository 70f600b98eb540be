"""The command that searches for the best settings."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from gareader.cli.app import AtLeastOne, Json, Modules, complain, import_modules, watch
from gareader.cli.train import end_as_signalled, progress_bar, stopping
from gareader.core.config import load_table
from gareader.core.errors import GareaderError
from gareader.core.presets import SWEEPS, settings_file
from gareader.core.whole import written_whole
from gareader.plots.figures import save

if TYPE_CHECKING:
    from gareader.studies.tuning.ledger import Ledger
    from gareader.studies.tuning.plan import Plan
    from gareader.studies.tuning.report import TrialSummary
    from gareader.studies.tuning.sweep import Sweep

TABLE_FILE, BEST_FILE = "table.md", "best.toml"
ENDS = {
    "complete": "complete",
    "pruned": "given up",
    "lost": "another machine took it over after a long silence",
    "running": "interrupted",
}


def tune(
    config: str,
    *,
    space: str,
    trials: AtLeastOne = 30,
    out: Path | None = None,
    storage: str | None = None,
    name: str | None = None,
    assignments: Annotated[tuple[str, ...], Parameter(name="--set")] = (),
    table: bool = False,
    modules: Modules = (),
    as_json: Json = False,
) -> None:
    """Search for the best settings with Optuna; stopped or killed, the same command goes on; needs the extra `tune`.

    Example: `gareader tune tiny --space tiny --trials 6 --set train.max_epochs=1`

    Parameters
    ----------
    config
        The settings file of the reader or the name of a preset, as `train` takes it.
    space
        The search space: a TOML file with the values or the range of each tuned setting (see docs/tuning.md), or one
        that comes with gareader, by its name (see `gareader presets`).
    trials
        Trials to finish in all, by all machines; poor ones that were given up count.
    out
        The folder of the runs, table.md, best.toml and the pictures; sweeps/ and the name of the space if not given.
    storage
        The address of a database that several machines share; a file in the folder if not given.
    name
        The sweep's name in that database; a fingerprint of the settings if not given.
    assignments
        section.key=value, to change one setting of the config; may be given several times.
    table
        Only write the table, the best settings and the pictures of what is done so far.
    """
    file, space_file = settings_file(config), settings_file(space, SWEEPS)
    load_table(file, assignments)  # a wrong file or assignment is an error before the slow imports
    load_table(space_file)
    import_modules(modules)
    import optuna

    from gareader.studies.tuning.folder import DATABASE, local_storage, owned, prepared_corpora, recorded_owner
    from gareader.studies.tuning.ledger import open_ledger
    from gareader.studies.tuning.plan import Plan
    from gareader.studies.tuning.sweep import Sweep

    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    plan = Plan.load(file, space_file, assignments)
    folder = out or Path("sweeps") / space_file.stem
    if table and storage is None and not (folder / DATABASE).exists():
        raise GareaderError(f"{folder}: there is no sweep yet, so there is no table; run it first")
    address = storage or local_storage(folder)
    signalled = 0
    if table:
        recorded_owner(folder, plan)  # a sweep with other settings is an error
        folder.mkdir(parents=True, exist_ok=True)
    else:
        with owned(folder, plan) as owner, open_ledger(address, plan, name) as ledger:
            signalled = run_trials(Sweep(plan, folder, prepared_corpora(folder, plan, watch), ledger, owner), trials)
    with open_ledger(address, plan, name) as ledger:
        rows = write(plan, ledger, folder)
        draw(plan, ledger, rows, folder)
    if as_json:
        for row in rows:
            print(json.dumps(asdict(row)))
    else:
        print((folder / TABLE_FILE).read_text(encoding="utf-8"))
    end_as_signalled(signalled)


def run_trials(sweep: "Sweep", wanted: int) -> int:
    """Run one trial after the other, until enough are finished or a signal asks to stop; return its number, or 0."""
    from gareader.studies.tuning.ledger import claimed, finished

    with stopping() as stop:
        while not stop() and (trial := sweep.next(wanted)):
            settings = ", ".join(f"{key} = {value}" for key, value in sweep.plan.space.tidy(trial.params).items())
            complain(f"trial {trial.number} ({finished(sweep.ledger.trials()) + 1} of {wanted}): {settings}")
            with progress_bar() as bar:
                state = sweep.do(trial, stop, bar)
            complain(f"trial {trial.number}: {ENDS[state]}")
            write(sweep.plan, sweep.ledger, sweep.folder)
        trials = sweep.ledger.trials()
        done, underway = finished(trials), len(claimed(trials)) - finished(trials)
        if stop():
            complain("stopped; everything is saved, and the same command goes on")
        elif done < wanted and underway:
            complain(f"{done} trials are finished and {underway} running elsewhere; if one is lost, run this again")
        elif done < wanted:
            complain(f"all {done} combinations of the space have been tried")
        return stop.signal


def write(plan: "Plan", ledger: "Ledger", folder: Path) -> list["TrialSummary"]:
    """Write the table and the best settings so far; return the summary of each trial."""
    from gareader.studies.tuning.ledger import finished
    from gareader.studies.tuning.report import best, best_settings, markdown, summaries

    trials = ledger.trials()
    rows = summaries(plan.space, trials)
    if not rows:
        raise GareaderError(f"{folder}: no trial was begun yet, so there is no table; run the sweep first")
    with written_whole(folder / TABLE_FILE) as out:
        out.write(markdown(plan.space, rows))
    if winner := best(rows):
        with written_whole(folder / BEST_FILE) as out:
            name, path = ledger.study.study_name, folder / BEST_FILE
            out.write(best_settings(plan, winner, name, finished(trials), path))
    return rows


def draw(plan: "Plan", ledger: "Ledger", trials: list["TrialSummary"], folder: Path) -> None:
    """Draw the pictures, if matplotlib is installed and there is enough to draw."""
    from gareader.plots.tuning import importance_picture, parallel_picture
    from gareader.studies.tuning.search import importance

    try:
        save(parallel_picture(plan.space, trials), folder / "parallel.png")
        save(importance_picture(importance(ledger.study)), folder / "importance.png")
    except GareaderError as error:
        complain(error)
