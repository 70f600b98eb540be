"""Commands about readers to pass on: readers, pack, ensemble."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from gareader.cli.app import Json, Modules, app, import_modules, watch, with_interval
from gareader.errors import GareaderError

if TYPE_CHECKING:
    from gareader.examples import Prediction
    from gareader.predictor import Answering


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
    from gareader.ensembles import files

    settings = read_settings(folder)
    size = sum(file.stat().st_size for file in files(folder))
    what = {"reader": settings.get("reader", "ensemble")}
    if "ensemble" in settings:
        what["members"] = settings["ensemble"]
    return {"name": folder.name, **what, "bytes": size, **settings["notes"]}


def overview(boxed: list[dict[str, Any]]) -> Table:
    """One line for each reader."""
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "what it reads", "accuracy", "measured on", "size"):
        table.add_column(heading, no_wrap=heading in ("name", "accuracy", "size"), overflow="fold")
    for each in boxed:
        measured, accuracy, corpus = each.get("measured"), "–", "–"
        if measured:
            accuracy, corpus = with_interval(measured), f"{measured['corpus']} ({measured['examples']:,})"
        table.add_row(each["name"], each.get("about", ""), accuracy, corpus, f"{each['bytes'] / 1e6:.1f} MB")
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
    words: Path | None = None,
    calibrate: bool = False,
    about: str = "",
    modules: Modules = (),
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
    words
        A folder beside --out for the words, which several readers share; it is made if it is not there. Words that are
        there have to have the vectors this reader was trained with.
    calibrate
        Fit a temperature on that corpus, so that the probabilities are neither too bold nor too shy.
    about
        A line about what it reads, for `gareader readers`.
    """
    import_modules(modules)
    from gareader import pretrained
    from gareader.checkpoint import check_replaceable, load, save
    from gareader.predictor import Predictor
    from gareader.shipping import check_words, slim, write_words

    source = pretrained.folder(reader)
    check_replaceable(out)
    if out.resolve() == source.resolve():
        raise GareaderError(f"{out}: this is the reader to pack, and packing rounds it; choose another --out")
    if words is not None:
        check_words(words, out)
    packed = slim(load(source), vectors, words)
    predictions = answered(Predictor(packed.reader, packed.collator, packed.temperature), measure)
    if calibrate:
        factor = temperature_for(predictions, measure)
        predictions = [prediction.tempered(factor) for prediction in predictions]
        packed = replace(packed, temperature=packed.temperature * factor)
    if words is not None and not words.exists():
        write_words(packed, words)
    notes = {**packed.notes, "about": about, "measured": measured_on(predictions, measure)}
    save(replace(packed, notes=notes), out, packed=True, words_of=words)
    print(json.dumps(record(out)) if as_json else in_words(record(out), out, packed.temperature, " after packing"))


@app.command
def ensemble(
    *members: str,
    out: Path,
    measure: str | None = None,
    calibrate: str | None = None,
    about: str = "",
    modules: Modules = (),
    as_json: Json = False,
) -> None:
    """Make one reader of several: it answers with the mean of their probabilities, and is used like any other.

    Members that lie beside --out are named there; all others are copied into it, with one copy of words that are the
    same.

    Example: `gareader ensemble stories runs/tiny/best --out tiny-ensemble --measure configs/tiny/validation.txt`

    Parameters
    ----------
    members
        Two or more readers in the box, or folders of trained ones; their sizes and kinds may differ.
    out
        The folder to write; `gareader answer --reader` and `gareader.load` take it.
    measure
        A corpus; the accuracy on it is kept with the ensemble.
    calibrate
        A corpus to fit a temperature on, so that the probabilities are neither too bold nor too shy.
    about
        A line about what it reads, for `gareader readers`.
    """
    import_modules(modules)
    from gareader import pretrained
    from gareader.ensembles import check_members, save
    from gareader.predictor import Ensemble, load

    folders = [pretrained.folder(member) for member in members]
    check_members(folders, out)
    together = Ensemble([load(folder) for folder in folders])
    answers = {corpus: answered(together, corpus) for corpus in dict.fromkeys((calibrate, measure)) if corpus}
    temperature = temperature_for(answers[calibrate], calibrate) if calibrate else 1.0
    notes: dict[str, Any] = {"about": about}
    if measure:
        notes["measured"] = measured_on([each.tempered(temperature) for each in answers[measure]], measure)
    save(folders, out, temperature, notes)
    print(json.dumps(record(out)) if as_json else in_words(record(out), out, temperature))


def answered(reader: "Answering", corpus: str) -> "list[Prediction]":
    """The reader's answers to a corpus that can measure it."""
    from gareader.evaluation import evaluate
    from gareader.store import read_examples

    examples = list(read_examples(corpus))
    predictions = list(watch(reader.answer_many(examples), f"measuring on {corpus}", len(examples)))
    if not evaluate(predictions).examples:
        raise GareaderError(f"{corpus}: no question has a known answer, so there is nothing to measure")
    return predictions


def temperature_for(predictions: "list[Prediction]", corpus: str) -> float:
    """The temperature at which these answers to the corpus are most probable."""
    from gareader.analysis import fitted_temperature

    try:
        return fitted_temperature(predictions)
    except GareaderError as error:
        raise GareaderError(f"{corpus}: {error}") from None


def measured_on(predictions: "list[Prediction]", corpus: str) -> dict[str, Any]:
    """What is kept with a reader."""
    from gareader.evaluation import evaluate

    return {"corpus": Path(corpus).name, **asdict(evaluate(predictions))}


def in_words(made: dict[str, Any], out: Path, temperature: float, when: str = "") -> str:
    """What was made, for people."""
    parts = [f"{out}: {made['bytes'] / 1e6:.1f} MB"]
    if measured := made.get("measured"):
        questions = f"{measured['examples']:,} questions of {measured['corpus']}{when}"
        parts.append(f"{with_interval(measured)} of {questions}")
    return ", ".join([*parts, f"temperature {temperature:.3f}"])
