"""A model as its folder has it: settings, words and weights as arrays, without torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from safetensors.numpy import load_file

from gareader.core.config import from_table
from gareader.core.errors import ConfigError, ModelError
from gareader.data.batching import Collator
from gareader.data.vocabulary import Alphabet
from gareader.trained.folder import (
    ALPHABET,
    VOCABULARY,
    WEIGHTS,
    WORD_TABLE,
    as_model_errors,
    read_settings,
    verified_files,
)
from gareader.trained.lexicon import StoredTable, forgetting_damaged_words, shared_words, words
from gareader.trained.packing import check_finite, unpack
from gareader.trained.temperatures import Temperatures


@dataclass(frozen=True)
class Stored:
    """The parts of a model; a reader is built from them, in numpy or on torch."""

    name: str
    """The name of its reader."""
    settings: Mapping[str, Any]
    """The reader's settings, as they were recorded."""
    collator: Collator
    words: StoredTable
    """The word table, which may be packed and is memory-mapped."""
    weights: Mapping[str, NDArray[Any]]
    """All weights but the word table, in single precision, by name."""
    temperatures: Temperatures
    notes: Mapping[str, Any]


def read(folder: Path) -> Stored:
    """Read a model; nothing in the folder is executed, and the checksum of every file is verified."""
    settings = read_settings(folder)
    if "ensemble" in settings:
        members = "use it with gareader.load, or take one of its members"
        raise ModelError(f"{folder}: this is an ensemble, and a single model is needed; {members}")
    with as_model_errors(folder), forgetting_damaged_words(), verified_files(folder, settings) as files:
        shared = files[WORD_TABLE].parent != folder
        if shared and settings["settings"].get("update_words", True):
            raise ConfigError("its word vectors are to be trained, and those it shares with others cannot be")
        if shared:
            sums = settings["sha256"][VOCABULARY], settings["sha256"][WORD_TABLE]
            vocabulary, table = shared_words(files[VOCABULARY], files[WORD_TABLE], sums)
        else:
            vocabulary, table = words(files[VOCABULARY], files[WORD_TABLE])
        alphabet = Alphabet.read(files[ALPHABET])
        collator = from_table(Collator, settings["words"], "words", vocabulary=vocabulary, alphabet=alphabet)
        if tuple(table.shape) != (len(vocabulary), collator.width):
            size = tuple(table.shape)
            raise ConfigError(f"{len(vocabulary)} words of width {collator.width}, but a word table of {size}")
        if max(collator.marks, collator.pretrained) > len(vocabulary):
            counts = f"{collator.marks} marks and {collator.pretrained} words with a vector"
            raise ConfigError(f"{counts}, but a vocabulary of {len(vocabulary)}")
        weights = unpack(load_file(files[WEIGHTS]))
        if odd := [name for name, array in weights.items() if array.dtype.kind != "f"]:
            raise ConfigError(f"{odd[0]} has numbers of type {weights[odd[0]].dtype}")
        check_finite(weights)
        temperatures = Temperatures.of(settings)
        return Stored(
            settings["reader"], settings["settings"], collator, table, weights, temperatures, settings["notes"]
        )
