"""Commands about models to ship: models, pack, ensemble."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from gareader.cli.app import Json, Modules, import_modules, model_folder, read_with_answers, tell, watch, with_interval
from gareader.core.errors import GareaderError, VectorsError
from gareader.core.files import opened, read_small
from gareader.core.terminal import shown
from gareader.data.examples import Example, Prediction, counted_words
from gareader.data.text import propose_candidates
from gareader.measuring.analysis import fitted_confidence, fitted_slope, fitted_temperature
from gareader.measuring.evaluation import evaluate
from gareader.trained import models as box
from gareader.trained.card import without_header
from gareader.trained.ensembles import check_members, files
from gareader.trained.ensembles import save as save_ensemble
from gareader.trained.folder import check_replaceable, check_words, read_settings
from gareader.trained.predictor import Answering, Ensemble, Predictor, load
from gareader.trained.temperatures import Temperatures

NewModel = Annotated[
    Path, Parameter(help="The folder to write; `gareader answer --model` and `gareader.load` take it.")
]
Proposed = Annotated[
    str | None,
    Parameter(
        help="A corpus whose questions are asked without their candidates, to fit the temperature for proposed "
        "candidates: then the best answer's probability also says how often the right one is not proposed."
    ),
]
ByLength = Annotated[
    bool,
    Parameter(
        help="Let the temperatures depend on the length of the text too, as the corpus of --calibrate says, which "
        "then needs texts of all lengths."
    ),
]
About = Annotated[str, Parameter(help="A line about what it reads, for `gareader models`.")]


def models(name: str | None = None, *, as_json: Json = False) -> None:
    """List the models (trained readers) in the box with their accuracy, or show the card of one.

    Example: `gareader models`

    Parameters
    ----------
    name
        Show the card of this model: its training, its accuracy, and where it fails.
    """
    in_box = [box.BOX / each for each in box.names()]
    folders = in_box if name is None else [model_folder(name).resolve()]
    records = [record(folder) for folder in folders]
    if as_json:
        print("\n".join(shown(json.dumps(each, ensure_ascii=False)) for each in records))
    elif name is None:
        Console().print(overview(records))
    else:
        show_card(folders[0], records[0])


def record(folder: Path) -> dict[str, Any]:
    """The JSON record of a model, from its settings alone."""
    settings = read_settings(folder)
    size = sum(file.stat().st_size for file in files(folder))
    kind = {"reader": settings.get("reader", "ensemble")}
    if "ensemble" in settings:
        kind["members"] = settings["ensemble"]
    return {"name": folder.name, **kind, "bytes": size, **settings["notes"]}


def overview(records: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "what it reads", "accuracy", "measured on", "size"):
        table.add_column(heading, no_wrap=heading in ("name", "accuracy", "size"), overflow="fold")
    for each in records:
        measured, accuracy, corpus = each.get("measured"), "–", "–"
        if measured:
            accuracy, corpus = with_interval(measured), f"{measured['corpus']} ({measured['examples']:,})"
        table.add_row(each["name"], each.get("about", ""), accuracy, corpus, f"{each['bytes'] / 1e6:.1f} MB")
    return table


def show_card(folder: Path, about: dict[str, Any]) -> None:
    """Print the model card: as Markdown, which is rendered on a terminal."""
    if (card := card_text(folder)) is None:
        print(shown(json.dumps(about, indent=2, ensure_ascii=False)))
        return
    text = shown(card)
    console = Console()
    if console.is_terminal:
        console.print(Markdown(text))
    else:
        print(text, end="")


def card_text(folder: Path) -> str | None:
    """The card of a model, without the header for hubs: in its folder, or in the box beside it."""
    for card in (folder / "README.md", folder.with_name(f"{folder.name}.md")):
        if card.exists():
            return without_header(read_small(card).decode(errors="replace"))
    return None


def pack(
    model: str,
    *,
    out: NewModel,
    measure: str,
    vectors: Path | None = None,
    words: Path | None = None,
    calibrate: bool = False,
    calibrate_proposed: Proposed = None,
    by_length: ByLength = False,
    about: About = "",
    modules: Modules = (),
    as_json: Json = False,
) -> None:
    """Make a trained model small, to ship it: half precision, an 8-bit word table, and its accuracy after packing.

    Example: `gareader pack runs/tiny/best --out tiny-packed --measure configs/tiny/validation.txt`

    Parameters
    ----------
    model
        The folder of a trained model.
    measure
        A corpus; the accuracy on it after packing is kept with the model.
    vectors
        The file of word vectors it was trained with: every word in it is known to the packed model.
    words
        A folder beside --out for the words, which several models share; it is made if it is not there. Words that are
        there must have the vectors that this model was trained with.
    calibrate
        Fit a temperature on that corpus, so that the probabilities are calibrated.
    """
    if by_length and not calibrate:
        raise GareaderError("--by-length says how --calibrate fits; add --calibrate")
    source = model_folder(model)
    check_replaceable(out)
    if out.resolve() == source.resolve():
        raise GareaderError(f"{out}: this is the model to pack, and packing rounds it; choose another --out")
    if words is not None:
        check_words(words, out)
    if vectors is not None:
        with opened(vectors, VectorsError):  # raises an error for a file that cannot be read
            pass
    examples = read_with_answers(measure)
    open_questions = read_with_answers(calibrate_proposed) if calibrate_proposed else []
    import_modules(modules)
    from gareader.trained.model import OnTorch, load, save  # it imports torch
    from gareader.trained.shipping import slim, write_words

    packed = slim(load(source), vectors, words)
    plain = Predictor(OnTorch(packed.reader), packed.collator)
    predictions = answer(plain, examples, measure)
    temperatures = packed.temperatures
    if calibrate:
        slope = fitted(fitted_slope, predictions, measure) if by_length else 0.0
        sloped = Temperatures(slope=slope)
        given = fitted(fitted_temperature, [sloped.tempered(each) for each in predictions], measure)
        temperatures = Temperatures(given, given, slope)
    if open_questions:
        proposed = proposed_temperature(plain, open_questions, str(calibrate_proposed), temperatures.slope)
        temperatures = replace(temperatures, proposed=proposed)
    packed = replace(packed, temperatures=temperatures)
    predictions = [temperatures.tempered(prediction) for prediction in predictions]
    if words is not None and not words.exists():
        write_words(packed, words)
    notes = {**packed.notes, "about": about, "measured": measured_on(predictions, measure)}
    save(replace(packed, notes=notes), out, packed=True, words_of=words)
    made = record(out)
    tell(made, in_words(made, out, packed.temperatures, " after packing"), as_json)


def ensemble(
    *members: str,
    out: NewModel,
    measure: str | None = None,
    calibrate: str | None = None,
    calibrate_proposed: Proposed = None,
    about: About = "",
    modules: Modules = (),
    as_json: Json = False,
) -> None:
    """Make one model of several: it answers with the mean of their probabilities, and is used like any other.

    Members that lie beside --out are named there; all others are copied into it, with one copy of equal words.

    Example: `gareader ensemble stories runs/tiny/best --out tiny-ensemble --measure configs/tiny/validation.txt`

    Parameters
    ----------
    members
        Two or more models in the box, or folders of trained ones; their sizes and readers may differ.
    measure
        A corpus; the accuracy on it is kept with the ensemble.
    calibrate
        A corpus to fit a temperature on, so that the probabilities are calibrated.
    """
    folders = [model_folder(member) for member in members]
    check_members(folders, out)
    corpora = {corpus: read_with_answers(corpus) for corpus in dict.fromkeys((calibrate, measure)) if corpus}
    open_questions = read_with_answers(calibrate_proposed) if calibrate_proposed else []
    import_modules(modules)

    together = Ensemble([load(folder) for folder in folders])
    answers = {corpus: answer(together, examples, corpus) for corpus, examples in corpora.items()}
    given = fitted(fitted_temperature, answers[calibrate], calibrate) if calibrate else 1.0
    proposed = proposed_temperature(together, open_questions, str(calibrate_proposed)) if open_questions else given
    notes: dict[str, Any] = {"about": about}
    if measure:
        notes["measured"] = measured_on([each.tempered(given) for each in answers[measure]], measure)
    save_ensemble(folders, out, Temperatures(given, proposed), notes)
    made = record(out)
    tell(made, in_words(made, out, Temperatures(given, proposed)), as_json)


def answer(model: "Answering", examples: list[Example], corpus: str) -> list[Prediction]:
    return list(watch(model.answer_many(examples), f"measuring on {corpus}", len(examples)))


def fitted(fit: Callable[[list[Prediction]], float], predictions: list[Prediction], corpus: str) -> float:
    """What `fit` finds for the predictions; an error names their corpus."""
    try:
        return fit(predictions)
    except GareaderError as error:
        raise GareaderError(f"{corpus}: {error}") from None


def proposed_temperature(model: "Answering", examples: list[Example], corpus: str, slope: float = 0.0) -> float:
    """The temperature for proposed candidates: the questions are asked without those of the corpus."""
    open_questions = []
    for example in examples:
        choices = tuple(propose_candidates([example.document], example.query))
        if example.answer is not None and len(choices) > 1:
            right = counted_words(example.candidates[example.answer])
            open_questions.append((replace(example, candidates=choices, answer=None, proposed=True), right))
    if not open_questions:
        raise GareaderError(f"{corpus}: no question has two proposed candidates; give another corpus")
    answers = answer(model, [example for example, _ in open_questions], corpus)
    predictions = [Temperatures(slope=slope).tempered(each) for each in answers]
    return fitted_confidence(
        [
            (prediction, counted_words(prediction.example.candidates[prediction.order[0]]) == right)
            for prediction, (_, right) in zip(predictions, open_questions, strict=True)
        ]
    )


def measured_on(predictions: list[Prediction], corpus: str) -> dict[str, Any]:
    """The report that is kept with a model."""
    return {"corpus": Path(corpus).name, **asdict(evaluate(predictions))}


def in_words(about: dict[str, Any], out: Path, temperatures: Temperatures, when: str = "") -> str:
    parts = [f"{out}: {about['bytes'] / 1e6:.1f} MB"]
    if measured := about.get("measured"):
        questions = f"{measured['examples']:,} questions of {measured['corpus']}{when}"
        parts.append(f"{with_interval(measured)} of {questions}")
    parts.append(f"temperature {temperatures.given:.3f}")
    if temperatures.proposed != temperatures.given:
        parts.append(f"{temperatures.proposed:.3f} for proposed candidates")
    if temperatures.slope:
        parts.append(f"slope {temperatures.slope:.2f} by the length of the text")
    return ", ".join(parts)
