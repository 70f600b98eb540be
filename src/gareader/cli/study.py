"""The command that runs studies."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from gareader.cli.app import Json, app, complain, watch
from gareader.errors import GareaderError


@app.command
def study(
    file: Path,
    *,
    out: Path | None = None,
    table: Annotated[bool, Parameter(negative=())] = False,
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
    from gareader.cli.train import progress_bar, stopping
    from gareader.study import Studio, Study, read_results

    plan = Study.load(file)
    folder = out or Path("studies") / file.stem
    studio = Studio(plan, folder, watch)
    waiting = studio.waiting()
    if table:
        waiting = []
    with stopping() as stop:
        for number, trial in enumerate(waiting, 1):
            place = f"{number} of {len(waiting)}"
            complain(f"{place}: {trial.row} on {trial.corpus}, share {trial.fraction:g}, seed {trial.seed}")

            def train(run: Any) -> bool:
                with progress_bar() as bar:
                    run.on_metrics = lambda line: bar(line, run.share_done)
                    return bool(run.train(stop).finished)

            if not studio.do(trial, train) or (stop() and number < len(waiting)):
                complain(f"stopped; go on with: gareader study {file} --out {folder}")
                break
            write(studio)
    results = read_results(folder)
    if not results:
        raise GareaderError(f"{folder}: no trial is done yet, so there is no table; run the study first")
    text = write(studio)
    if as_json:
        for result in results.values():
            print(json.dumps(asdict(result)))
    else:
        print(text)


def write(studio: Any) -> str:
    """The table, and the picture where matplotlib is installed."""
    from gareader.files import written_whole
    from gareader.plots import save, study_picture
    from gareader.study import markdown, read_results

    results = read_results(studio.folder)
    text: str = markdown(studio.study, results, studio.predictions)
    with written_whole(studio.folder / "table.md") as out:
        out.write(text)
    try:
        save(study_picture(studio.study, list(results.values())), studio.folder / "study.png")
    except GareaderError as error:
        complain(error)
    return text
