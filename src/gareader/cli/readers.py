"""Commands about readers to pass on: readers, pack."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from gareader.cli.app import Json, app, watch, with_interval
from gareader.errors import GareaderError


@app.command
def readers(name: str | None = None, *, as_json: Json = False) -> None:
    """The trained readers in the box, with their accuracy; with a name, all about one.

    Example: `gareader readers`

    Parameters
    ----------
    name
        Show the card of this reader: what it was trained on and how, how good it is, and where it fails.
    """
    from gareader import pretrained

    boxed = [pretrained.BOX / each for each in pretrained.names()]
    folders = boxed if name is None else [pretrained.folder(name).resolve()]
    records = [record(folder) for folder in folders]
    if as_json:
        print("\n".join(json.dumps(each, ensure_ascii=False) for each in records))
    elif name is None:
        Console().print(overview(records))
    else:
        show_card(folders[0], records[0])


def record(folder: Path) -> dict[str, Any]:
    """A reader as programs read it, without loading it."""
    from gareader.checkpoint import read_settings

    settings = read_settings(folder)
    size = sum(file.stat().st_size for file in folder.iterdir())
    return {"name": folder.name, "reader": settings["reader"], "bytes": size, **settings["notes"]}


def overview(boxed: list[dict[str, Any]]) -> Table:
    """One line for each reader."""
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "what it reads", "accuracy", "measured on", "size"):
        table.add_column(heading, no_wrap=heading in ("name", "accuracy", "size"), overflow="fold")
    for each in boxed:
        measured = each["measured"]
        corpus = f"{measured['corpus']} ({measured['examples']:,})"
        table.add_row(each["name"], each["about"], with_interval(measured), corpus, f"{each['bytes'] / 1e6:.1f} MB")
    return table


def show_card(folder: Path, about: dict[str, Any]) -> None:
    """The model card, laid out on a terminal and as it is written elsewhere."""
    card = folder.with_name(f"{folder.name}.md")
    if not card.exists():
        print(json.dumps(about, indent=2, ensure_ascii=False))
        return
    text = card.read_text(encoding="utf-8")
    console = Console()
    if console.is_terminal:
        console.print(Markdown(text))
    else:
        print(text, end="")


@app.command
def pack(
    reader: str,
    *,
    out: Path,
    measure: str,
    vectors: Path | None = None,
    calibrate: bool = False,
    about: str = "",
    as_json: Json = False,
) -> None:
    """Make a trained reader small, to pass it on: half precision, an 8-bit word table, measured as it is passed on.

    Example: `gareader pack runs/tiny/best --out tiny-packed --measure configs/tiny/validation.txt`

    Parameters
    ----------
    reader
        The folder of a trained reader.
    out
        The folder to write; `gareader answer --reader` and `gareader.load` take it.
    measure
        A corpus; the accuracy on it after packing is kept with the reader.
    vectors
        The file of word vectors it was trained with: every word in it is known to the packed reader.
    calibrate
        Fit a temperature on that corpus, so that the probabilities are neither too bold nor too shy.
    about
        A line about what it reads, for `gareader readers`.
    """
    from gareader import pretrained
    from gareader.analysis import fitted_temperature
    from gareader.checkpoint import check_replaceable, load, save
    from gareader.evaluation import evaluate
    from gareader.predictor import Predictor
    from gareader.shipping import slim
    from gareader.store import read_examples

    source = pretrained.folder(reader)
    check_replaceable(out)
    if out.resolve() == source.resolve():
        raise GareaderError(f"{out}: this is the reader to pack, and packing rounds it; choose another --out")
    packed = slim(load(source), vectors)
    examples = list(read_examples(measure))
    answers = Predictor(packed.reader, packed.collator, packed.temperature).answer_many(examples)
    predictions = list(watch(answers, f"measuring on {measure}", len(examples)))
    if not evaluate(predictions).examples:
        raise GareaderError(f"{measure}: no question has a known answer, so there is nothing to measure")
    if calibrate:
        try:
            factor = fitted_temperature(predictions)
        except GareaderError as error:
            raise GareaderError(f"{measure}: {error}") from None
        predictions = [prediction.tempered(factor) for prediction in predictions]
        packed = replace(packed, temperature=packed.temperature * factor)
    measured = {"corpus": Path(measure).name, **asdict(evaluate(predictions))}
    save(replace(packed, notes={**packed.notes, "about": about, "measured": measured}), out, packed=True)
    print(json.dumps(record(out)) if as_json else in_words(record(out), out, packed.temperature))


def in_words(made: dict[str, Any], out: Path, temperature: float) -> str:
    """What was made, for people."""
    measured = made["measured"]
    return (
        f"{out}: {made['bytes'] / 1e6:.1f} MB, {with_interval(measured)} of {measured['examples']:,} questions "
        f"of {measured['corpus']} after packing, temperature {temperature:.3f}"
    )
