"""Commands that draw: plot curves, plot attention, plot compare."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from gareader.cli.app import Modules, app, import_modules
from gareader.errors import GareaderError
from gareader.examples import Example
from gareader.pretrained import DEFAULT

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


@plot.command
def attention(
    *,
    document: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    query: str | None = None,
    candidates: str | None = None,
    corpus: str | None = None,
    id: str | None = None,
    reader: str = DEFAULT,
    out: Path = Path("attention.png"),
    modules: Modules = (),
) -> None:
    """Where a reader looked: each mention's attention over the query after every hop, and the final attention.

    Example: `gareader plot attention --document configs/tiny/story.txt --query "XXXXX has the lamp."`

    Parameters
    ----------
    document
        The text file that holds the answer; - for standard input.
    query
        A sentence with one blank, written XXXXX, ___ or @placeholder.
    candidates
        Possible answers, of one or more words, separated by |; proposed from the document if not given.
    corpus
        Instead of document and query: a corpus in any known format.
    id
        The question of the corpus; the first if not given.
    reader
        A reader in the box (see `gareader readers`), or the folder of a trained one.
    out
        The picture; its ending decides the kind: PNG, SVG or PDF.
    """
    import_modules(modules)
    from gareader.cli.answer import asked
    from gareader.plots import check_picture
    from gareader.predictor import load

    check_picture(out)
    if corpus is not None and document is query is candidates is None:
        example = chosen(corpus, id)
    elif document is not None and query is not None and corpus is id is None:
        example = asked(document, query, candidates)
    else:
        raise GareaderError("give --document and --query, or --corpus and, if you like, --id; not both")
    load(reader).answer_example(example).plot(out)
    print(out)


def chosen(corpus: str, id: str | None) -> Example:
    """The question of that id."""
    from gareader.store import read_examples

    for example in read_examples(corpus):
        if id in (None, example.id):
            return example
    raise GareaderError(f"{corpus}: there is no question {id!r}; gareader evaluate --predictions lists the ids")


@plot.command
def compare(results: Path, *, out: Path = Path("compare.png")) -> None:
    """Accuracies with their intervals, side by side.

    Example: `gareader plot compare all.jsonl`

    Parameters
    ----------
    results
        What `gareader evaluate --results` wrote, or lines that `gareader evaluate --json` printed.
    out
        The picture; its ending decides the kind: PNG, SVG or PDF.
    """
    from gareader.plots import comparison_picture, save

    save(comparison_picture(results), out)
    print(out)
