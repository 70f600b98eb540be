"""A reader on disk: a folder with settings, vocabulary, alphabet and weights, written whole or not at all."""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import file_digest
from math import inf
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from gareader.anonymity import WAYS
from gareader.batching import Collator
from gareader.config import from_table, recorded
from gareader.errors import CheckpointError, ConfigError, did_you_mean
from gareader.nn.embedding import TABLE
from gareader.packing import pack, unpack
from gareader.readers import READERS, new_reader
from gareader.vocabulary import Alphabet, Vocabulary

FORMAT = 1
"""Raised when a folder written now could not be read by an earlier version."""

SETTINGS, VOCABULARY, ALPHABET = "reader.json", "vocabulary.txt", "alphabet.txt"
WEIGHTS, WORDS = "weights.safetensors", "words.safetensors"
"""The word table has a file of its own, for training need not change it."""
SUMMED = (VOCABULARY, ALPHABET, WORDS, WEIGHTS)
"""The files whose checksums `reader.json` has."""
WORD_SETTINGS = ("width", "seed", "pretrained", "characters", "anonymity", "marks", "unknown_scale")
"""What a collator needs to know beside the words and letters themselves."""


@dataclass(frozen=True)
class Checkpoint:
    """A reader with what it needs to read words, and notes on how it came to be."""

    name: str
    """Its key in READERS."""
    reader: nn.Module
    collator: Collator
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Anything JSON can hold: the settings of its training run, its accuracy."""
    temperature: float = 1.0
    """Divides the log-probabilities of its answers; fitted, it makes them neither too bold nor too shy."""


def save(checkpoint: Checkpoint, folder: Path | str, *, packed: bool = False) -> None:
    """Write the reader; a reader that is there already is replaced only when the new one is complete.

    `packed` takes a quarter of the room, and rounds.
    """
    folder = Path(folder)
    try:
        check_replaceable(folder)
        new = folder.with_name(f".{folder.name}.new")
        shutil.rmtree(new, ignore_errors=True)  # of a process that was killed while it wrote
        new.mkdir(parents=True)
        try:
            _write(checkpoint, new, packed)
            replace_folder(new, folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CheckpointError(f"{folder}: the reader cannot be written: {reason}") from error


def check_replaceable(folder: Path) -> None:
    """Complain about a folder that no reader may be written to; to be asked before long work."""
    if folder.name in ("", ".."):
        raise CheckpointError(f"{folder}: a reader's folder needs a name; write one, for example {folder / 'packed'}")
    if folder.is_file():
        raise CheckpointError(f"{folder}: this is a file, and a reader is a folder; choose another name")
    if folder.exists() and any(folder.iterdir()) and not (folder / SETTINGS).exists():
        raise CheckpointError(f"{folder}: this holds something else than a reader; choose another folder")


def _write(checkpoint: Checkpoint, folder: Path, packed: bool) -> None:
    collator = checkpoint.collator
    collator.vocabulary.write(folder / VOCABULARY)
    collator.alphabet.write(folder / ALPHABET)
    weights = {name: value.detach().contiguous() for name, value in checkpoint.reader.state_dict().items()}
    tensors = pack(weights) if packed else weights
    for target, of_table in ((WORDS, True), (WEIGHTS, False)):
        part = {name: value for name, value in tensors.items() if name.startswith(TABLE) == of_table}
        save_file(part, folder / target)
    settings = {
        "format": FORMAT,
        "reader": checkpoint.name,
        "settings": asdict(checkpoint.reader.config),  # type: ignore[call-overload]
        "words": {name: getattr(collator, name) for name in WORD_SETTINGS},
        "temperature": checkpoint.temperature,
        "sha256": {name: digest(folder / name) for name in SUMMED},
        "notes": dict(checkpoint.notes),
    }
    (folder / SETTINGS).write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    mode = (folder / SETTINGS).stat().st_mode
    for file in folder.iterdir():
        file.chmod(mode)  # safetensors lets only the owner read
        with file.open("rb") as stream:
            os.fsync(stream.fileno())


def replace_folder(new: Path, folder: Path) -> None:
    """Put `new` in the place of `folder`; after a crash between the two renames `recover_folder` mends it."""
    old = _aside(folder)
    try:
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)
            folder.rename(old)
        new.rename(folder)
    except BaseException:
        recover_folder(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def recover_folder(folder: Path) -> None:
    """Bring back what `replace_folder` had put aside, if it never came to the second rename."""
    old = _aside(folder)
    if old.exists() and not folder.exists():
        old.rename(folder)


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def read_settings(folder: Path | str) -> dict[str, Any]:
    """What `reader.json` says, without reading the reader itself."""
    folder = Path(folder)
    try:
        settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        below = next(iter(sorted(folder.glob(f"*/{SETTINGS}"))), None)
        way_out = f"did you mean {below.parent}?" if below else "check the path"
        raise CheckpointError(f"{folder}: there is no reader here (no {SETTINGS}); {way_out}") from None
    except NotADirectoryError:
        problem = "this is a file, and a reader is a folder or a name in the box; type: gareader readers"
        raise CheckpointError(f"{folder}: {problem}") from None
    except (ValueError, OSError) as error:
        raise CheckpointError(f"{folder / SETTINGS}: cannot be read: {error}; copy the reader again") from None
    if not isinstance(settings, dict) or settings.get("format") != FORMAT:
        found = settings.get("format") if isinstance(settings, dict) else None
        raise CheckpointError(
            f"{folder}: the reader has format {found}, this gareader reads format {FORMAT}; update gareader"
        )
    return settings


def load(folder: Path | str) -> Checkpoint:
    """Read a reader back; nothing in the folder is executed, and every file is checked against its sum."""
    folder = Path(folder)
    settings = read_settings(folder)
    try:
        for name in SUMMED:
            if digest(folder / name) != settings["sha256"][name]:
                raise CheckpointError(f"{folder / name}: damaged: its checksum does not match; copy the reader again")
        return _restored(folder, settings)
    except FileNotFoundError as error:
        raise CheckpointError(f"{error.filename}: missing; copy the whole folder of the reader again") from None
    except (KeyError, TypeError, AttributeError, RuntimeError, SafetensorError, ConfigError) as error:
        reason = " ".join(str(error).split("\n\t")[:2])  # torch lists every weight that does not fit
        raise CheckpointError(f"{folder}: the files do not fit together ({reason}); copy the reader again") from None


def _restored(folder: Path, settings: Mapping[str, Any]) -> Checkpoint:
    name = settings["reader"]
    if name not in READERS:
        raise CheckpointError(f"{folder}: no reader is called {name!r}; {did_you_mean(str(name), READERS)}")
    words = settings["words"]
    vocabulary, alphabet = Vocabulary.read(folder / VOCABULARY), Alphabet.read(folder / ALPHABET)
    weights = unpack(load_file(folder / WORDS) | load_file(folder / WEIGHTS))
    if (table := tuple(weights[TABLE].shape)) != (len(vocabulary), words["width"]):
        raise ConfigError(f"{len(vocabulary)} words of width {words['width']}, but a word table of {table}")
    if words.get("anonymity", WAYS[0]) not in WAYS or not 0 <= words.get("marks", 0) <= len(vocabulary):
        raise ConfigError(f"no way to hide candidates: {words.get('anonymity')!r} with {words.get('marks')} marks")
    config = from_table(READERS[name].config, recorded(settings["settings"], "reader"), "reader")
    collator = Collator(vocabulary, alphabet, **words)
    reader = new_reader(name, config, weights[TABLE], collator)
    reader.load_state_dict(weights)
    temperature = settings.get("temperature", 1.0)
    if not 0 < temperature < inf:
        raise ConfigError(f"temperature = {temperature} is not positive")
    return Checkpoint(name, reader.eval(), collator, settings["notes"], temperature)


def digest(path: Path) -> str:
    """The file's SHA-256."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
