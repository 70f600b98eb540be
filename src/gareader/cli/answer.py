"""Commands that answer questions: demo."""

from rich.console import Console

from gareader.cli.app import app


@app.command
def demo() -> None:
    """Answer the question about the bundled story.

    Example: `gareader demo`
    """
    from importlib.resources import as_file, files

    from gareader import corpora
    from gareader.predictor import untrained

    with as_file(files("gareader") / "stories" / "stories.jsonl") as stories:
        example = next(corpora.read(stories))
    console = Console(highlight=False, markup=False)
    console.print(" ".join(example.document), style="dim")
    console.print("\nQuestion: " + " ".join(example.query), style="bold")
    console.print("\n" + str(untrained().predict([example])[0]))
    console.print("\nThe weights of this reader are random: it has learned nothing yet, and its answer is a guess.")
