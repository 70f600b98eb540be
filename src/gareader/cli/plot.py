"""Commands that draw: plot curves, plot attention, plot compare."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from gareader.cli.answer import example_of
from gareader.cli.app import Candidates, DocumentFile, ModelName, Modules, Query, import_modules, model_folder
from gareader.core.errors import GareaderError
from gareader.data.examples import Example
from gareader.data.sources import read_examples
from gareader.plots.comparison import comparison_picture
from gareader.plots.figures import check_picture, save
from gareader.trained.models import DEFAULT
from gareader.trained.predictor import load

plot = App(name="plot", help="Draw pictures (PNG, SVG or PDF); needs the extra `plot`.")

Picture = Annotated[Path, Parameter(help="The picture; its ending decides the kind: PNG, SVG or PDF.")]


@plot.command
def curves(run: Path, *more: Path, out: Picture = Path("curves.png")) -> None:
    """Loss, accuracy and learning rate of one or more runs.

    Example: `gareader plot curves runs/tiny --out curves.png`

    Parameters
    ----------
    run
        A folder made by `gareader train`.
    more
        Other runs, drawn over it.
    """
    check_picture(out)
    for folder in (run, *more):
        if not folder.is_dir():
            raise GareaderError(f"{folder}: there is no such folder; name a folder made by train")
    from gareader.plots.curves import learning_curves  # it imports torch

    save(learning_curves([run, *more]), out)
    print(out)


@plot.command
def attention(
    *,
    document: DocumentFile = None,
    query: Query = None,
    candidates: Candidates = None,
    corpus: str | None = None,
    id: str | None = None,
    model: ModelName = DEFAULT,
    out: Picture = Path("attention.png"),
    modules: Modules = (),
) -> None:
    """Where a model looked: each mention's attention over the query after every hop, and the final attention.

    Example: `gareader plot attention --document configs/tiny/story.txt --query "XXXXX has the lamp."`

    Parameters
    ----------
    corpus
        Instead of document and query: a corpus in any known format.
    id
        The question of the corpus; the first if not given.
    """
    check_picture(out)
    if corpus is not None and document is query is candidates is None:
        example = question_of(corpus, id)
    elif document is not None and query is not None and corpus is id is None:
        example = example_of(document, query, candidates)
    else:
        raise GareaderError("give --document and --query, or --corpus and, if you like, --id; not both")
    folder = model_folder(model)
    import_modules(modules)

    load(folder).answer_example(example).plot(out)
    print(out)


def question_of(corpus: str, id: str | None) -> Example:
    """The question of that id; the first question if no id is given."""
    for example in read_examples(corpus):
        if id in (None, example.id):
            return example
    raise GareaderError(f"{corpus}: there is no question {id!r}; gareader evaluate --predictions lists the ids")


@plot.command
def compare(results: Path, *, out: Picture = Path("compare.png")) -> None:
    """Accuracies with their intervals, side by side.

    Example: `gareader plot compare all.jsonl`

    Parameters
    ----------
    results
        A file written by `gareader evaluate --results`, or lines printed by `gareader evaluate --json`.
    """
    save(comparison_picture(results), out)
    print(out)
