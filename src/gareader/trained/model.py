"""A model: a trained reader with its collator. On disk it is a folder, written whole or not at all."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save_file
from torch import nn

from gareader.core.config import Settings, from_table
from gareader.core.errors import ConfigError, ModelError, did_you_mean
from gareader.core.whole import whole_folder
from gareader.data.arrays import TABLE, Batch, ReaderOutput
from gareader.data.batching import Arrays, Collator
from gareader.nn.tensors import tensors
from gareader.readers.registry import is_reader, kind_of, new_reader, reader_names
from gareader.trained.folder import (
    ALPHABET,
    COMPLETE,
    NAMING,
    SUMMED,
    VOCABULARY,
    WEIGHTS,
    WORD_TABLE,
    as_model_errors,
    check_replaceable,
    digest,
    write_settings,
)
from gareader.trained.lexicon import Lexicon
from gareader.trained.packing import pack
from gareader.trained.stored import Stored, read
from gareader.trained.temperatures import AS_TRAINED, Temperatures


@dataclass(frozen=True)
class Model:
    """A trained reader with its collator, and notes on its training."""

    name: str
    """The name of its reader."""
    reader: nn.Module
    collator: Collator
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Anything JSON can hold: the settings of its training run, its accuracy."""
    temperatures: Temperatures = AS_TRAINED


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
    weights = arrays(model.reader)
    tensors = pack(weights) if packed else weights
    shared = None if words_of is None else Lexicon.read(words_of)
    if shared is None:
        collator.vocabulary.write(folder / VOCABULARY)
        save_file({name: value for name, value in tensors.items() if name.startswith(TABLE)}, folder / WORD_TABLE)
    elif shared.vocabulary != collator.vocabulary or not np.array_equal(shared.table[:], weights[TABLE]):
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
        "words": collator.settings,
        **({} if words_of is None else {"words_of": words_of.name}),
        **model.temperatures.record(),
        "sha256": {name: digest(place / name) for name, place in places.items()},
        "notes": dict(model.notes),
    }
    write_settings(settings, folder)


def arrays(reader: nn.Module) -> dict[str, NDArray[Any]]:
    return {name: value.detach().cpu().contiguous().numpy() for name, value in reader.state_dict().items()}


def load(folder: Path | str) -> Model:
    """Read a model with its reader on torch; see `stored.read`."""
    folder = Path(folder)
    stored = read(folder)
    with as_model_errors(folder):
        if not is_reader(stored.name):
            way_out = "if it is of a package, install that, or name its module with --import"
            names = did_you_mean(str(stored.name), reader_names())
            raise ModelError(f"{folder}: no reader is called {stored.name!r}; {names}; {way_out}")
        config = from_table(kind_of(stored.name).config, stored.settings, "reader")
        check_shapes(stored, config)
        table = torch.from_numpy(np.array(stored.words[:], np.float32))
        reader = new_reader(stored.name, config, table, stored.collator)
        weights = {name: torch.from_numpy(array) for name, array in stored.weights.items()}
        reader.load_state_dict(weights | {TABLE: table})
        return Model(stored.name, reader.eval(), stored.collator, stored.notes, stored.temperatures)


def check_shapes(stored: Stored, config: Settings) -> None:
    """Raise ConfigError for settings that ask for other weights than the stored ones, before room is made for them."""
    for count in ("hops", "layers"):  # each has weights of its own
        if getattr(config, count, 0) > len(stored.weights):
            raise ConfigError(f"{count} = {getattr(config, count)}, but {len(stored.weights)} arrays of weights")
    actual = {name: array.shape for name, array in stored.weights.items()} | {TABLE: tuple(stored.words.shape)}
    try:
        with torch.device("meta"):  # tensors of a shape without memory
            empty = new_reader(stored.name, config, torch.empty(actual[TABLE]), stored.collator)
    except RuntimeError:  # a reader from outside may need real tensors
        return
    expected = {name: tuple(weight.shape) for name, weight in empty.state_dict().items()}
    for name in sorted(expected.keys() | actual.keys()):
        if expected.get(name) != actual.get(name):
            raise ConfigError(f"{name} is {actual.get(name, 'missing')} where {expected.get(name, 'nothing')} is due")


class OnTorch:
    """A reader on torch as a predictor takes it: arrays in, arrays out."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module.eval()

    def __call__(self, batch: Batch[Arrays], *, attention: bool = False) -> ReaderOutput[Arrays]:
        device = next((weight.device for weight in self.module.parameters()), torch.device("cpu"))
        with torch.inference_mode():
            output = self.module(tensors(batch, device), attention=attention)
        pointer = output.document_attention
        return ReaderOutput(
            output.log_probabilities.cpu().numpy(),
            tuple(hop.cpu().numpy() for hop in output.hop_attention),
            None if pointer is None else pointer.cpu().numpy(),
        )
