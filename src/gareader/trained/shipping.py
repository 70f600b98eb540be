"""Make the model of a training run small, to ship it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gareader.core.errors import ModelError
from gareader.data.arrays import TABLE
from gareader.data.batching import Collator
from gareader.data.vectors import WordTable, word_table
from gareader.data.vocabulary import Vocabulary
from gareader.readers.registry import kind_of, new_reader
from gareader.trained.folder import without_folders
from gareader.trained.lexicon import Lexicon
from gareader.trained.model import Model, arrays
from gareader.trained.packing import pack, unpack


def slim(model: Model, vectors: Path | None = None, words: Path | None = None) -> Model:
    """Return the model as it is after packing and loading, with a smaller word table.

    Words without a pretrained vector are left out, because their random vectors come from their spelling. If `vectors`
    is the file that the model was trained with, all words of the file are known, not only those of the training corpus.
    If the folder `words` exists, the model shares it: its table must have the model's vectors, rounded.
    """
    state, collator = arrays(model.reader), model.collator
    config: Any = model.reader.config
    bound = kind_of(model.name).row_per_word  # to this very vocabulary
    shared = words if words is not None and words.exists() else None
    if shared is not None and vectors is not None:
        raise ModelError(f"{words}: these words have their vectors already; pack it without a vector file")
    if not config.update_words and not bound:
        if shared is not None:
            known = _shared(model, shared)
        else:
            known = _pretrained(model) if vectors is None else _all_words(model, vectors)
        state[TABLE] = known.matrix
        collator = replace(collator, vocabulary=known.vocabulary, pretrained=known.pretrained)
    elif vectors is not None or words is not None:
        why = "other weights of this model belong to its words" if bound else "training has changed its word vectors"
        given = "a vector file" if vectors else "shared words"
        raise ModelError(f"{why}, so it keeps those it has; pack it without {given}")
    rounded = unpack(pack(state))
    if shared is not None:
        rounded[TABLE] = state[TABLE]  # it is rounded already
    weights = {name: torch.from_numpy(array) for name, array in rounded.items()}
    reader = new_reader(model.name, config, weights[TABLE], collator)
    reader.load_state_dict(weights)
    return replace(model, reader=reader.eval(), collator=collator, notes=without_folders(model.notes))


def _pretrained(model: Model) -> WordTable:
    known = model.collator.pretrained
    vocabulary = Vocabulary(list(model.collator.vocabulary)[:known])
    return WordTable(vocabulary, arrays(model.reader)[TABLE][:known], known)


def _all_words(model: Model, vectors: Path) -> WordTable:
    """All words of the file; raise ModelError if the model was not trained with it."""
    collator = model.collator
    words = word_table((), vectors, width=collator.width, seed=collator.seed, every_vector=True)
    scale = getattr(model.reader.config, "word_scale", 1.0)
    words = replace(words, matrix=words.matrix * np.float32(scale))
    _check_trained_with(words, model, arrays(model.reader)[TABLE], vectors, "give that file")
    return words


def _shared(model: Model, folder: Path) -> WordTable:
    """The words of the folder; raise ModelError if their vectors are not those of the model, rounded."""
    lexicon = Lexicon.read(folder)
    words = WordTable(lexicon.vocabulary, lexicon.table[:], len(lexicon.vocabulary))
    rounded = unpack(pack({TABLE: arrays(model.reader)[TABLE]}))[TABLE]
    _check_trained_with(words, model, rounded, folder, "name another folder, and they are written there")
    return words


def _check_trained_with(words: WordTable, model: Model, table: NDArray[np.float32], source: Path, way_out: str) -> None:
    """Raise ModelError unless `words` have the model's pretrained vectors; they may have vectors of more words."""
    collator = model.collator
    after = Collator(words.vocabulary, collator.alphabet, width=1, seed=0, pretrained=words.pretrained)
    for row, word in zip(range(collator.pretrained), collator.vocabulary, strict=False):
        new = after.row(word)
        if new is None or not np.array_equal(table[row], words.matrix[new]):
            raise ModelError(f"{source}: the vector of {word!r} is not the one this model was trained with; {way_out}")


def write_words(packed: Model, folder: Path) -> None:
    """Write the words of a packed model to a folder, for others to share."""
    table = arrays(packed.reader)[TABLE]
    Lexicon(packed.collator.vocabulary, packed.collator.alphabet, table).write(folder)
