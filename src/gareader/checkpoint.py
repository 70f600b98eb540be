"""A reader on disk: a folder with settings, vocabulary, alphabet and weights, written whole or not at all."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
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
from gareader.lexicon import ALPHABET, VOCABULARY, WORDS, Lexicon, digest, shared_words, words
from gareader.nn.embedding import TABLE
from gareader.packing import pack, unpack
from gareader.readers import is_reader, kind_of, new_reader, reader_names
from gareader.vocabulary import Alphabet
from gareader.whole import whole_folder

FORMATS = COMPLETE, NAMING = 1, 2
"""A reader that is complete in its folder, and one that names others: where its words are, or its members.

A new number comes when a folder written now could not be read by an earlier version.
"""

SETTINGS, WEIGHTS = "reader.json", "weights.safetensors"
"""The word table has a file of its own, for training need not change it, and readers may share it."""
SUMMED = (VOCABULARY, ALPHABET, WORDS, WEIGHTS)
"""The files whose checksums `reader.json` has."""
WORD_SETTINGS = ("width", "seed", "pretrained", "characters", "anonymity", "marks", "unknown_scale")
"""What a collator needs to know beside the words and letters themselves."""
NAME = re.compile(r"\w[\w .-]*")
"""What a folder may be called that `reader.json` names: no path leads out of such a name."""


@dataclass(frozen=True)
class Checkpoint:
    """A reader with what it needs to read words, and notes on how it came to be."""

    name: str
    """Its reader's name."""
    reader: nn.Module
    collator: Collator
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Anything JSON can hold: the settings of its training run, its accuracy."""
    temperature: float = 1.0
    """Divides the log-probabilities of its answers; fitted, it makes them neither too bold nor too shy."""


def save(checkpoint: Checkpoint, folder: Path | str, *, packed: bool = False, words_of: Path | None = None) -> None:
    """Write the reader; a reader that is there already is replaced only when the new one is complete.

    `packed` takes a quarter of the room, and rounds. The reader keeps no words of its own where the folder `words_of`,
    beside it, has the very same.
    """
    folder = Path(folder)
    try:
        check_replaceable(folder)
        with whole_folder(folder, sole=True) as new:
            _write(checkpoint, new, packed, words_of)
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


def _write(checkpoint: Checkpoint, folder: Path, packed: bool, words_of: Path | None) -> None:
    collator = checkpoint.collator
    weights = {name: value.detach().contiguous() for name, value in checkpoint.reader.state_dict().items()}
    tensors = pack(weights) if packed else weights
    shared = None if words_of is None else Lexicon.read(words_of)
    if shared is None:
        collator.vocabulary.write(folder / VOCABULARY)
        save_file({name: value for name, value in tensors.items() if name.startswith(TABLE)}, folder / WORDS)
    elif shared.vocabulary != collator.vocabulary or not shared.table.equal(weights[TABLE]):
        raise CheckpointError(f"{words_of}: these are not the words of the reader; pack it: gareader pack --words")
    if shared is None or shared.alphabet != collator.alphabet:
        collator.alphabet.write(folder / ALPHABET)
    save_file({name: value for name, value in tensors.items() if not name.startswith(TABLE)}, folder / WEIGHTS)
    places = {name: folder if words_of is None or (folder / name).exists() else words_of for name in SUMMED}
    settings = {
        "format": COMPLETE if words_of is None else NAMING,
        "reader": checkpoint.name,
        "versions": {name: version(name) for name in ("gareader", "torch")},
        "settings": asdict(checkpoint.reader.config),  # type: ignore[call-overload]
        "words": {name: getattr(collator, name) for name in WORD_SETTINGS},
        **({} if words_of is None else {"words_of": words_of.name}),
        "temperature": checkpoint.temperature,
        "sha256": {name: digest(place / name) for name, place in places.items()},
        "notes": dict(checkpoint.notes),
    }
    write_settings(settings, folder)


def write_settings(settings: Mapping[str, Any], folder: Path) -> None:
    """`reader.json`."""
    (folder / SETTINGS).write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


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
    if not isinstance(settings, dict) or settings.get("format") not in FORMATS:
        found = settings.get("format") if isinstance(settings, dict) else None
        known = " and ".join(map(str, FORMATS))
        raise CheckpointError(
            f"{folder}: the reader has format {found}, this gareader reads the formats {known}; update gareader"
        )
    return settings


def named(folder: Path, name: object) -> Path:
    """The folder of that name inside this one or beside it: a stranger's `reader.json` can name no other."""
    if not (isinstance(name, str) and NAME.fullmatch(name)):
        problem = f"names {name!r}, and a reader may name only a folder inside its own or beside it"
        raise CheckpointError(f"{folder / SETTINGS}: {problem}; copy the reader again")
    here = folder.resolve()
    places = [place / name for place in (here, here.parent) if (place / name).is_dir()]
    if not places:
        raise CheckpointError(f"{folder}: it needs {name!r}, which is neither inside it nor beside it; copy that too")
    return places[0]


def files_of(folder: Path, settings: Mapping[str, Any]) -> dict[str, Path]:
    """Where the files of a reader are: what its own folder does not hold is where its words are."""
    if settings.get("words_of") is None:
        return {name: folder / name for name in SUMMED}
    shared = named(folder, settings["words_of"])
    own = {name for name in SUMMED if name == WEIGHTS or (folder / name).exists()}
    return {name: (folder if name in own else shared) / name for name in SUMMED}


def temperature_of(settings: Mapping[str, Any]) -> float:
    """What divides the log-probabilities of the answers."""
    temperature: float = settings.get("temperature", 1.0)
    if not 0 < temperature < inf:
        raise ConfigError(f"temperature = {temperature} is not positive")
    return temperature


def load(folder: Path | str) -> Checkpoint:
    """Read a reader back; nothing in the folder is executed, and every file is checked against its sum."""
    folder = Path(folder)
    settings = read_settings(folder)
    if "ensemble" in settings:
        members = "use it with gareader.load, or take one of its members"
        raise CheckpointError(f"{folder}: this is an ensemble, and one reader is needed; {members}")
    with told(folder):
        files = files_of(folder, settings)
        for name, path in files.items():
            if digest(path) != settings["sha256"][name]:
                raise CheckpointError(f"{path}: damaged: its checksum does not match; copy the reader again")
        return _restored(folder, settings, files)


@contextmanager
def told(folder: Path) -> Iterator[None]:
    """What goes wrong with the files of a reader as one sentence."""
    try:
        yield
    except FileNotFoundError as error:
        raise CheckpointError(f"{error.filename}: missing; copy the whole folder of the reader again") from None
    except (KeyError, TypeError, AttributeError, RuntimeError, SafetensorError, ConfigError) as error:
        reason = " ".join(str(error).split("\n\t")[:2])  # torch lists every weight that does not fit
        raise CheckpointError(f"{folder}: the files do not fit together ({reason}); copy the reader again") from None


def _restored(folder: Path, settings: Mapping[str, Any], files: Mapping[str, Path]) -> Checkpoint:
    name = settings["reader"]
    if not is_reader(name):
        way_out = "if it is of a package, install that, or name its module with --import"
        raise CheckpointError(
            f"{folder}: no reader is called {name!r}; {did_you_mean(str(name), reader_names())}; {way_out}"
        )
    known = settings["words"]
    shared = files[WORDS].parent != folder
    vocabulary, table = (shared_words if shared else words)(files[VOCABULARY], files[WORDS])
    if tuple(table.shape) != (len(vocabulary), known["width"]):
        size = tuple(table.shape)
        raise ConfigError(f"{len(vocabulary)} words of width {known['width']}, but a word table of {size}")
    if known.get("anonymity", WAYS[0]) not in WAYS or not 0 <= known.get("marks", 0) <= len(vocabulary):
        raise ConfigError(f"no way to hide candidates: {known.get('anonymity')!r} with {known.get('marks')} marks")
    config = from_table(kind_of(name).config, recorded(settings["settings"], "reader"), "reader")
    collator = Collator(vocabulary, Alphabet.read(files[ALPHABET]), **known)
    reader = new_reader(name, config, table, collator)
    reader.load_state_dict(unpack(load_file(files[WEIGHTS])) | {TABLE: table})
    if shared and reader.get_parameter(TABLE).requires_grad:
        raise ConfigError("its word vectors are to be trained, and those it shares with others cannot be")
    if shared:
        reader.get_parameter(TABLE).data = table  # the very same, where the reader began with a copy
    return Checkpoint(name, reader.eval(), collator, settings["notes"], temperature_of(settings))
