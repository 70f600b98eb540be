"""From the reader of a training run to one that is passed on: small, and measured as it is passed on."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gareader.batching import Collator
from gareader.checkpoint import NAME, Checkpoint
from gareader.errors import CheckpointError
from gareader.lexicon import ALPHABET, VOCABULARY, WORDS, Lexicon
from gareader.nn.embedding import TABLE
from gareader.packing import pack, unpack
from gareader.readers import kind_of, new_reader
from gareader.vectors import WordTable, word_table
from gareader.vocabulary import Vocabulary


def slim(checkpoint: Checkpoint, vectors: Path | None = None, words: Path | None = None) -> Checkpoint:
    """The reader as it comes back from a packed folder, with a word table that holds only what cannot be made again.

    Words without a pretrained vector go: their random vectors come from their spelling. With the file of `vectors`
    that the reader was trained with, every word of the file has its vector, not only those of the training corpus.
    The reader is to share the folder of `words`: if that is there, its table has to have the reader's vectors, rounded.
    """
    state, collator = checkpoint.reader.state_dict(), checkpoint.collator
    config: Any = checkpoint.reader.config
    bound = kind_of(checkpoint.name).row_per_word or collator.anonymity != "none"  # to the vocabulary as it is
    shared = words if words is not None and words.exists() else None
    if shared is not None and vectors is not None:
        raise CheckpointError(f"{words}: these words have their vectors already; pack it without a vector file")
    if not config.update_words and not bound:
        if shared is not None:
            known = _shared(checkpoint, shared)
        else:
            known = _pretrained(checkpoint) if vectors is None else _all_words(checkpoint, vectors)
        state[TABLE] = torch.from_numpy(known.matrix)
        collator = Collator(
            known.vocabulary,
            collator.alphabet,
            width=collator.width,
            seed=collator.seed,
            pretrained=known.pretrained,
            characters=collator.characters,
            anonymity=collator.anonymity,
            marks=collator.marks,
            unknown_scale=collator.unknown_scale,
        )
    elif vectors is not None or words is not None:
        why = "other weights of this reader belong to its words" if bound else "training has changed its word vectors"
        given = "a vector file" if vectors else "shared words"
        raise CheckpointError(f"{why}, so it keeps those it has; pack it without {given}")
    rounded = unpack(pack(state))
    if shared is not None:
        rounded[TABLE] = state[TABLE]  # the very table, rounded before
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
    scale = getattr(checkpoint.reader.config, "word_scale", 1.0)
    words = replace(words, matrix=(torch.from_numpy(words.matrix) * scale).numpy())
    _check_trained_with(words, checkpoint, checkpoint.reader.state_dict()[TABLE], vectors, "give that file")
    return words


def _shared(checkpoint: Checkpoint, folder: Path) -> WordTable:
    """The words that other readers have too, once it is clear that they are, rounded, those of the training."""
    lexicon = Lexicon.read(folder)
    words = WordTable(lexicon.vocabulary, lexicon.table.numpy(), exact=len(lexicon.vocabulary), lowered=0)
    rounded = unpack(pack({TABLE: checkpoint.reader.state_dict()[TABLE]}))[TABLE]
    _check_trained_with(words, checkpoint, rounded, folder, "name another folder, and they are written there")
    return words


def _check_trained_with(words: WordTable, checkpoint: Checkpoint, table: Tensor, source: Path, way_out: str) -> None:
    """Complain unless every word of the reader has the same vector among these, and the others have none."""
    collator = checkpoint.collator
    after = Collator(words.vocabulary, collator.alphabet, width=1, seed=0, pretrained=words.pretrained)
    rows = table.numpy()
    for row, word in enumerate(collator.vocabulary):
        new = after.row(word)
        if (new is None) != (row >= collator.pretrained) or (
            new is not None and not np.array_equal(rows[row], words.matrix[new])
        ):
            raise CheckpointError(
                f"{source}: the vector of {word!r} is not the one this reader was trained with; {way_out}"
            )


def check_words(words: Path, out: Path) -> None:
    """Complain about a folder of words that a reader in `out` cannot take them from; to be asked before long work."""
    if words.resolve().parent != out.resolve().parent or words.resolve() == out.resolve():
        beside = out.resolve().parent / "words"
        raise CheckpointError(f"{words}: words that readers share lie beside them; name a folder such as {beside}")
    if not NAME.fullmatch(words.resolve().name):
        raise CheckpointError(f"{words}: this name is of other than letters, digits, spaces and _ . -; choose another")
    missing = [name for name in (VOCABULARY, ALPHABET, WORDS) if not (words / name).is_file()]
    if words.exists() and missing:
        raise CheckpointError(f"{words}: there are no words here (no {missing[0]}); choose another folder")


def write_words(packed: Checkpoint, folder: Path) -> None:
    """The words of a packed reader, for others to share."""
    table = packed.reader.state_dict()[TABLE]
    Lexicon(packed.collator.vocabulary, packed.collator.alphabet, table).write(folder)


def without_folders(notes: Mapping[str, Any]) -> dict[str, Any]:
    """The notes with the names of the files a reader was trained on, not where they lay on somebody's disk."""
    settings = notes.get("settings", {})
    data = {
        key: PurePath(value).name if isinstance(value, str) else value
        for key, value in settings.get("data", {}).items()
    }
    return {**notes, "settings": {**settings, "data": data}} if settings else dict(notes)
