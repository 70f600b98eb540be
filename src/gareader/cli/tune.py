"""The command that searches for the best settings."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from gareader.cli.app import Json, Modules, app, complain, import_modules, watch
from gareader.cli.train import progress_bar, stopping
from gareader.errors import GareaderError

TABLE, SETTINGS = "table.md", "best.toml"
ENDS = {
    "complete": "complete",
    "pruned": "given up",
    "lost": "another machine took it over after a long silence",
    "running": "interrupted",
}


@app.command
def tune(
    config: Path,
    *,
    space: Path,
    trials: Annotated[int, Parameter(validator=Number(gte=1))] = 30,
    out: Path | None = None,
    storage: str | None = None,
    name: str | None = None,
    assignments: Annotated[tuple[str, ...], Parameter(name="--set", negative=())] = (),
    table: Annotated[bool, Parameter(negative=())] = False,
    modules: Modules = (),
    as_json: Json = False,
) -> None:
    """Search for the best settings with Optuna; stopped or killed, the same command goes on; needs the extra `tune`.

    Example: `gareader tune configs/tiny.toml --space configs/sweeps/tiny.toml --trials 6 --set train.max_epochs=1`

    Parameters
    ----------
    config
        The settings file of the reader, as `train` takes it.
    space
        What may change: a TOML file with the values or the range of each tuned setting; see docs/tuning.md.
    trials
        How many trials shall be finished in all, by all machines; poor ones that were given up count.
    out
        The folder of the runs, table.md, best.toml and the pictures; sweeps/ and the name of the space if not given.
    storage
        The address of a database that several machines share; a file in the folder if not given.
    name
        The sweep's name in that database; made from the settings if not given.
    assignments
        section.key=value, to change one setting of the config; may be given several times.
    table
        Only write the table, the best settings and the pictures of what is done so far.
    """
    import_modules(modules)
    try:
        import optuna

        from gareader.tuning.folder import DATABASE, local_storage, mark, owned, prepared_corpora
        from gareader.tuning.ledger import opened
        from gareader.tuning.sweep import Sweep
    except ImportError as error:
        raise GareaderError(f"sweeps need {error.name}; type: pip install 'gareader[tune]'") from None
    from gareader.tuning.plan import Plan

    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    plan = Plan.load(config, space, assignments)
    folder = out or Path("sweeps") / space.stem
    if table and storage is None and not (folder / DATABASE).exists():
        raise GareaderError(f"{folder}: there is no sweep yet, so there is no table; run it first")
    address = storage or local_storage(folder)
    if table:
        mark(folder, plan)  # a sweep with other settings is an error
        folder.mkdir(parents=True, exist_ok=True)
    else:
        with owned(folder, plan) as owner, opened(address, plan, name) as ledger:
            run_trials(Sweep(plan, folder, prepared_corpora(folder, plan, watch), ledger, owner), trials)
    with opened(address, plan, name) as ledger:
        found = write(plan, ledger, folder)
        draw(plan, ledger, found, folder)
    if as_json:
        for each in found:
            print(json.dumps(asdict(each)))
    else:
        print((folder / TABLE).read_text(encoding="utf-8"))


def run_trials(sweep: Any, wanted: int) -> None:
    """One trial after the other, until enough are finished or a signal asks to stop."""
    from gareader.tuning.ledger import finished, held

    with stopping() as stop:
        while not stop() and (trial := sweep.next(wanted)):
            settings = ", ".join(f"{key} = {value}" for key, value in sweep.plan.space.tidy(trial.params).items())
            complain(f"trial {trial.number} ({finished(sweep.ledger.trials()) + 1} of {wanted}): {settings}")
            with progress_bar() as bar:
                state = sweep.do(trial, stop, bar)
            complain(f"trial {trial.number}: {ENDS[state]}")
            write(sweep.plan, sweep.ledger, sweep.folder)
        trials = sweep.ledger.trials()
        done, underway = finished(trials), len(held(trials)) - finished(trials)
        if stop():
            complain("stopped; everything is saved, and the same command goes on")
        elif done < wanted and underway:
            complain(f"{done} trials are finished and {underway} running elsewhere; if one is lost, run this again")
        elif done < wanted:
            complain(f"all {done} combinations of the space have been tried")


def write(plan: Any, ledger: Any, folder: Path) -> list[Any]:
    """The table and the best settings so far; returns what is known of each trial."""
    from gareader.tuning.ledger import finished
    from gareader.tuning.report import best, best_settings, markdown, outcomes
    from gareader.whole import written_whole

    trials = ledger.trials()
    found = outcomes(plan.space, trials)
    if not found:
        raise GareaderError(f"{folder}: no trial was begun yet, so there is no table; run the sweep first")
    with written_whole(folder / TABLE) as out:
        out.write(markdown(plan.space, found))
    if winner := best(found):
        with written_whole(folder / SETTINGS) as out:
            name, path = ledger.study.study_name, folder / SETTINGS
            out.write(best_settings(plan, winner, name, finished(trials), path))
    return found


def draw(plan: Any, ledger: Any, found: list[Any], folder: Path) -> None:
    """The pictures, where matplotlib is installed and there is enough to draw."""
    from gareader.plots import importance_picture, parallel_picture, save
    from gareader.tuning.search import importance

    try:
        save(parallel_picture(plan.space, found), folder / "parallel.png")
        save(importance_picture(importance(ledger.study)), folder / "importance.png")
    except GareaderError as error:
        complain(error)
