"""The folder of a model: its files, its `reader.json` and what may be written where; nothing here imports torch."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from hashlib import file_digest, sha256
from pathlib import Path, PurePath
from threading import Thread
from typing import Any

from safetensors import SafetensorError

from gareader.core.cache import Verified
from gareader.core.errors import ConfigError, ModelError
from gareader.core.files import open_regular, read_small
from gareader.core.parsing import json_kind, json_object

FORMATS = COMPLETE, NAMING = 1, 2
"""The formats of a model that is complete in its folder, and of one that names other folders: of words or members.

A new number comes when a folder written now could not be read by an earlier version.
"""

READER_JSON, WEIGHTS = "reader.json", "weights.safetensors"
VOCABULARY, ALPHABET, WORD_TABLE = "vocabulary.txt", "alphabet.txt", "words.safetensors"
"""The word table has a file of its own, because training need not change it, and models may share it."""
SUMMED = (VOCABULARY, ALPHABET, WORD_TABLE, WEIGHTS)
"""The files whose checksums `reader.json` has."""
DIGEST = "digest"
"""The key of the checksum of `reader.json` itself: the SHA-256 of its other keys; earlier versions wrote none."""
_OBJECTS = ("settings", "words", "sha256", "notes")
ARCHIVES = ".tar.xz", ".tar.gz"
"""How the name of a model in one file ends."""
NAME = re.compile(r"\w[\w .-]*")
"""The names of folders that `reader.json` may hold: no path leads out of such a name."""


def check_replaceable(folder: Path) -> None:
    """Raise ModelError for a folder that no model may be written to; call it before long work."""
    if folder.name in ("", ".."):
        raise ModelError(f"{folder}: a model's folder needs a name; write one, for example {folder / 'packed'}")
    if folder.is_file():
        raise ModelError(f"{folder}: this is a file, and a model is a folder; choose another name")
    if folder.exists() and any(folder.iterdir()) and not (folder / READER_JSON).exists():
        raise ModelError(f"{folder}: this holds something else than a model; choose another folder")


def check_words(words: Path, out: Path) -> None:
    """Raise ModelError for a folder of words that a model in `out` cannot share; call it before long work."""
    if words.resolve().parent != out.resolve().parent or words.resolve() == out.resolve():
        beside = out.resolve().parent / "words"
        raise ModelError(f"{words}: words that models share lie beside them; name a folder such as {beside}")
    if not NAME.fullmatch(words.resolve().name):
        raise ModelError(f"{words}: this name is of other than letters, digits, spaces and _ . -; choose another")
    missing = [name for name in (VOCABULARY, ALPHABET, WORD_TABLE) if not (words / name).is_file()]
    if words.exists() and missing:
        raise ModelError(f"{words}: there are no words here (no {missing[0]}); choose another folder")


def write_settings(settings: Mapping[str, Any], folder: Path) -> None:
    """Write `reader.json` with its own checksum."""
    settings = {**settings, DIGEST: settings_digest(settings)}
    (folder / READER_JSON).write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_settings(folder: Path | str) -> dict[str, Any]:
    """Read `reader.json`, and no other file of the model."""
    folder = Path(folder)
    try:
        settings = json_object(read_small(folder / READER_JSON))
    except FileNotFoundError:
        below = next(iter(sorted(folder.glob(f"*/{READER_JSON}"))), None)
        way_out = f"did you mean {below.parent}?" if below else "check the path"
        raise ModelError(f"{folder}: there is no model here (no {READER_JSON}); {way_out}") from None
    except NotADirectoryError:
        problem = "this is a file, and a model is a folder or a name in the box; type: gareader models"
        raise ModelError(f"{folder}: {problem}") from None
    except (ValueError, OSError) as error:
        raise ModelError(f"{folder / READER_JSON}: cannot be read: {error}; copy the model again") from None
    number = settings.get("format")
    if number not in FORMATS:
        problem = f"the model has format {number}, this gareader reads the formats {COMPLETE} and {NAMING}"
        raise ModelError(f"{folder}: {problem}; update gareader")
    if DIGEST in settings and settings[DIGEST] != settings_digest(settings):
        problem = f"damaged: its checksum, the key {DIGEST!r}, does not match"
        way_out = "copy the model again, or, if you changed it yourself, remove that key"
        raise ModelError(f"{folder / READER_JSON}: {problem}; {way_out}")
    for key in _OBJECTS:
        if key in settings and not isinstance(settings[key], dict):
            raise _misfit(folder, f"{key!r} is {json_kind(settings[key])} where an object is due")
    return settings


def settings_digest(settings: Mapping[str, Any]) -> str:
    """The SHA-256 of the content of `reader.json`, whatever its layout, without the checksum itself."""
    content = {key: value for key, value in settings.items() if key != DIGEST}
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def named(folder: Path, name: object) -> Path:
    """The folder of that name inside this one or beside it: a stranger's `reader.json` can name no other."""
    if not (isinstance(name, str) and NAME.fullmatch(name)):
        problem = f"names {name!r}, and a model may name only a folder inside its own or beside it"
        raise ModelError(f"{folder / READER_JSON}: {problem}; copy the model again")
    here = folder.resolve()
    places = [place / name for place in (here, here.parent) if (place / name).is_dir()]
    if not places:
        raise ModelError(f"{folder}: it needs {name!r}, which is neither inside it nor beside it; copy that too")
    return places[0]


def files_of(folder: Path, settings: Mapping[str, Any]) -> dict[str, Path]:
    """The path of each file of a model; those that its own folder does not hold are in the folder of its words."""
    if settings.get("words_of") is None:
        return {name: folder / name for name in SUMMED}
    shared = named(folder, settings["words_of"])
    own = {name for name in SUMMED if name == WEIGHTS or (folder / name).exists()}
    return {name: (folder if name in own else shared) / name for name in SUMMED}


@contextmanager
def verified_files(folder: Path, settings: Mapping[str, Any]) -> Iterator[dict[str, Path]]:
    """The path of each file of a model, to be read while a thread computes the checksums, which needs no Python lock.

    At the end ModelError is raised for a file whose checksum is not that of `reader.json`, whatever else was wrong.
    """
    files, sums = files_of(folder, settings), settings["sha256"]
    with ExitStack() as stack:
        opened = {name: stack.enter_context(open_regular(path)) for name, path in files.items()}
        verified = {name: Verified(file.fileno(), str(sums[name])) for name, file in opened.items()}
        unknown = [name for name in files if not verified[name]]
        damaged = {*unknown}

        def compute() -> None:
            with suppress(OSError):  # a file that cannot be read has no checksum
                for name in unknown:
                    if file_digest(opened[name], "sha256").hexdigest() == sums[name]:
                        damaged.remove(name)

        thread = Thread(target=compute)
        thread.start()
        try:
            yield files
        finally:
            thread.join()
            for name in unknown:
                if name in damaged:
                    raise ModelError(f"{files[name]}: damaged: its checksum does not match; copy the model again")
                verified[name].remember()


def without_folders(notes: Mapping[str, Any]) -> dict[str, Any]:
    """The notes with the names of the files of the training, but not their folders on somebody's disk."""
    settings = notes.get("settings")
    if not isinstance(settings, dict):
        return dict(notes)
    tables = {
        table: {key: PurePath(value).name if isinstance(value, str) else value for key, value in rows.items()}
        for table, rows in settings.items()
        if table in ("data", "train") and isinstance(rows, dict)
    }
    return {**notes, "settings": {**settings, **tables}}


_MISFITS = ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError


@contextmanager
def as_model_errors(folder: Path) -> Iterator[None]:
    """Raise ModelError for files of a model that are missing or do not fit together."""
    try:
        yield
    except FileNotFoundError as error:
        raise ModelError(f"{error.filename}: missing; copy the whole folder of the model again") from None
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error}); copy the model again"
        raise ModelError(f"{error.filename or folder}: {problem}") from None
    except (*_MISFITS, SafetensorError, ConfigError) as error:
        raise _misfit(folder, error) from None


def _misfit(folder: Path, error: object) -> ModelError:
    reason = " ".join(str(error).split("\n\t")[:2])  # torch lists every weight that does not fit
    return ModelError(f"{folder}: the files do not fit together ({reason}); copy the model again")


def digest(path: Path) -> str:
    with open_regular(path) as file:
        return file_digest(file, "sha256").hexdigest()
