"""Commands that draw: plot curves."""

from pathlib import Path

from cyclopts import App

from gareader.cli.app import app

plot = App(name="plot", help="Draw pictures (PNG, SVG or PDF); needs the extra `plot`.")
app.command(plot)


@plot.command
def curves(run: Path, *more: Path, out: Path = Path("curves.png")) -> None:
    """Loss, accuracy and learning rate of one or more runs.

    Example: `gareader plot curves runs/tiny --out curves.png`

    Parameters
    ----------
    run
        A folder made by `gareader train`.
    more
        Other runs, drawn over it.
    out
        The picture; its ending decides the kind.
    """
    from gareader.plots import learning_curves, save

    save(learning_curves([run, *more]), out)
    print(out)
