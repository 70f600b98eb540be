"""A model: a trained reader with its collator. On disk it is a folder, written whole or not at all."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from gareader.core.config import from_table, recorded
from gareader.core.errors import ConfigError, ModelError, did_you_mean
from gareader.core.whole import whole_folder
from gareader.data.anonymity import WAYS
from gareader.data.vocabulary import Alphabet
from gareader.nn.batching import Collator
from gareader.nn.embedding import TABLE
from gareader.readers import is_reader, kind_of, new_reader, reader_names
from gareader.trained.folder import (
    ALPHABET,
    COMPLETE,
    NAMING,
    SUMMED,
    VOCABULARY,
    WEIGHTS,
    WORDS,
    as_model_errors,
    check_replaceable,
    digest,
    files_of,
    read_settings,
    temperature_of,
    write_settings,
)
from gareader.trained.lexicon import Lexicon, shared_words, words
from gareader.trained.packing import pack, unpack

WORD_SETTINGS = ("width", "seed", "pretrained", "characters", "anonymity", "marks", "unknown_scale")
"""The settings of a collator, beside the words and letters themselves."""


@dataclass(frozen=True)
class Model:
    """A trained reader with its collator, and notes on its training."""

    name: str
    """The name of its reader."""
    reader: nn.Module
    collator: Collator
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Anything JSON can hold: the settings of its training run, its accuracy."""
    temperature: float = 1.0
    """Divides the log-probabilities of its answers; a fitted one calibrates them."""


def save(model: Model, folder: Path | str, *, packed: bool = False, words_of: Path | None = None) -> None:
    """Write the model; a model that is there already is replaced only when the new one is complete.

    `packed` takes a quarter of the room, and rounds. The model keeps no words of its own if the folder `words_of`,
    beside it, has exactly the same words.
    """
    folder = Path(folder)
    try:
        check_replaceable(folder)
        with whole_folder(folder, sole=True) as new:
            _write(model, new, packed, words_of)
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"{folder}: the model cannot be written: {reason}") from error


def _write(model: Model, folder: Path, packed: bool, words_of: Path | None) -> None:
    collator = model.collator
    weights = {name: value.detach().contiguous() for name, value in model.reader.state_dict().items()}
    tensors = pack(weights) if packed else weights
    shared = None if words_of is None else Lexicon.read(words_of)
    if shared is None:
        collator.vocabulary.write(folder / VOCABULARY)
        save_file({name: value for name, value in tensors.items() if name.startswith(TABLE)}, folder / WORDS)
    elif shared.vocabulary != collator.vocabulary or not shared.table.equal(weights[TABLE]):
        raise ModelError(f"{words_of}: these are not the words of the model; pack it: gareader pack --words")
    if shared is None or shared.alphabet != collator.alphabet:
        collator.alphabet.write(folder / ALPHABET)
    save_file({name: value for name, value in tensors.items() if not name.startswith(TABLE)}, folder / WEIGHTS)
    places = {name: folder if words_of is None or (folder / name).exists() else words_of for name in SUMMED}
    settings = {
        "format": COMPLETE if words_of is None else NAMING,
        "reader": model.name,
        "versions": {name: version(name) for name in ("gareader", "torch")},
        "settings": asdict(model.reader.config),  # type: ignore[call-overload]
        "words": {name: getattr(collator, name) for name in WORD_SETTINGS},
        **({} if words_of is None else {"words_of": words_of.name}),
        "temperature": model.temperature,
        "sha256": {name: digest(place / name) for name, place in places.items()},
        "notes": dict(model.notes),
    }
    write_settings(settings, folder)


def load(folder: Path | str) -> Model:
    """Read a model; nothing in the folder is executed, and the checksum of every file is verified."""
    folder = Path(folder)
    settings = read_settings(folder)
    if "ensemble" in settings:
        members = "use it with gareader.load, or take one of its members"
        raise ModelError(f"{folder}: this is an ensemble, and a single model is needed; {members}")
    with as_model_errors(folder):
        files = files_of(folder, settings)
        for name, path in files.items():
            if digest(path) != settings["sha256"][name]:
                raise ModelError(f"{path}: damaged: its checksum does not match; copy the model again")
        return _restored(folder, settings, files)


def _restored(folder: Path, settings: Mapping[str, Any], files: Mapping[str, Path]) -> Model:
    name = settings["reader"]
    if not is_reader(name):
        way_out = "if it is of a package, install that, or name its module with --import"
        raise ModelError(
            f"{folder}: no reader is called {name!r}; {did_you_mean(str(name), reader_names())}; {way_out}"
        )
    word_settings = settings["words"]
    shared = files[WORDS].parent != folder
    vocabulary, table = (shared_words if shared else words)(files[VOCABULARY], files[WORDS])
    if tuple(table.shape) != (len(vocabulary), word_settings["width"]):
        size = tuple(table.shape)
        raise ConfigError(f"{len(vocabulary)} words of width {word_settings['width']}, but a word table of {size}")
    anonymity, marks = word_settings.get("anonymity", WAYS[0]), word_settings.get("marks", 0)
    if anonymity not in WAYS or not 0 <= marks <= len(vocabulary):
        raise ConfigError(f"no way to hide candidates: {anonymity!r} with {marks} marks")
    config = from_table(kind_of(name).config, recorded(settings["settings"], "reader"), "reader")
    collator = Collator(vocabulary, Alphabet.read(files[ALPHABET]), **word_settings)
    reader = new_reader(name, config, table, collator)
    reader.load_state_dict(unpack(load_file(files[WEIGHTS])) | {TABLE: table})
    if shared and reader.get_parameter(TABLE).requires_grad:
        raise ConfigError("its word vectors are to be trained, and those it shares with others cannot be")
    if shared:
        reader.get_parameter(TABLE).data = table  # one table for all models; the reader began with a copy
    return Model(name, reader.eval(), collator, settings["notes"], temperature_of(settings))
