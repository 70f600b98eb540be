"""From the reader of a training run to one that is passed on: small, and measured as it is passed on."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import torch

from gareader.batching import Collator
from gareader.checkpoint import Checkpoint
from gareader.errors import CheckpointError
from gareader.nn.embedding import TABLE
from gareader.packing import pack, unpack
from gareader.readers import READERS, new_reader
from gareader.vectors import WordTable, word_table
from gareader.vocabulary import Vocabulary


def slim(checkpoint: Checkpoint, vectors: Path | None = None) -> Checkpoint:
    """The reader as it comes back from a packed folder, with a word table that holds only what cannot be made again.

    Words without a pretrained vector go: their random vectors come from their spelling. With the file of `vectors`
    that the reader was trained with, every word of the file has its vector, not only those of the training corpus.
    """
    state, collator = checkpoint.reader.state_dict(), checkpoint.collator
    config: Any = checkpoint.reader.config
    bound = READERS[checkpoint.name].row_per_word or collator.anonymity != "none"  # to the vocabulary as it is
    if not config.update_words and not bound:
        words = _pretrained(checkpoint) if vectors is None else _all_words(checkpoint, vectors)
        state[TABLE] = torch.from_numpy(words.matrix)
        collator = Collator(
            words.vocabulary,
            collator.alphabet,
            width=collator.width,
            seed=collator.seed,
            pretrained=words.pretrained,
            characters=collator.characters,
            anonymity=collator.anonymity,
            marks=collator.marks,
            unknown_scale=collator.unknown_scale,
        )
    elif vectors is not None:
        why = "other weights of this reader belong to its words" if bound else "training has changed its word vectors"
        raise CheckpointError(f"{why}, so no word can be added; pack it without a vector file")
    rounded = unpack(pack(state))
    reader = new_reader(checkpoint.name, config, rounded[TABLE], collator)
    reader.load_state_dict(rounded)
    return replace(checkpoint, reader=reader.eval(), collator=collator, notes=without_folders(checkpoint.notes))


def _pretrained(checkpoint: Checkpoint) -> WordTable:
    """The words that have a pretrained vector."""
    known = checkpoint.collator.pretrained
    vocabulary = Vocabulary(list(checkpoint.collator.vocabulary)[:known])
    return WordTable(vocabulary, checkpoint.reader.state_dict()[TABLE][:known].numpy(), exact=known, lowered=0)


def _all_words(checkpoint: Checkpoint, vectors: Path) -> WordTable:
    """Every word of the file, once it is clear that the reader was trained with it."""
    collator = checkpoint.collator
    words = word_table((), vectors, width=collator.width, seed=collator.seed, every_vector=True)
    after = Collator(words.vocabulary, collator.alphabet, width=1, seed=0, pretrained=words.pretrained)
    scale = getattr(checkpoint.reader.config, "word_scale", 1.0)
    words = replace(words, matrix=(torch.from_numpy(words.matrix) * scale).numpy())
    table = checkpoint.reader.state_dict()[TABLE].numpy()
    for row, word in enumerate(collator.vocabulary):
        new = after.row(word)
        if (new is None) != (row >= collator.pretrained) or (
            new is not None and not np.array_equal(table[row], words.matrix[new])
        ):
            raise CheckpointError(
                f"{vectors}: the vector of {word!r} is not the one this reader was trained with; give that file"
            )
    return words


def without_folders(notes: Mapping[str, Any]) -> dict[str, Any]:
    """The notes with the names of the files a reader was trained on, not where they lay on somebody's disk."""
    settings = notes.get("settings", {})
    data = {
        key: PurePath(value).name if isinstance(value, str) else value
        for key, value in settings.get("data", {}).items()
    }
    return {**notes, "settings": {**settings, "data": data}} if settings else dict(notes)
