"""An ensemble on disk: a folder whose `reader.json` names its members, readers inside it or beside it."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gareader.checkpoint import (
    NAME,
    NAMING,
    SETTINGS,
    check_replaceable,
    files_of,
    named,
    read_settings,
    temperature_of,
    told,
    write_settings,
)
from gareader.errors import CheckpointError
from gareader.lexicon import ALPHABET, VOCABULARY, WORDS, digest
from gareader.whole import whole_folder


def members(folder: Path, settings: Mapping[str, Any]) -> list[Path]:
    """The folders of its members, each with the `reader.json` that the ensemble was made of."""
    with told(folder):
        names = settings["ensemble"]
        if not isinstance(names, list) or not names:
            raise TypeError("an ensemble needs a list of members")
        return [_member(folder, name, settings["sha256"]) for name in names]


def _member(folder: Path, name: object, sums: Mapping[object, str]) -> Path:
    path = named(folder, name)
    if "ensemble" in read_settings(path):
        raise CheckpointError(f"{folder}: its member {name!r} is an ensemble itself; name the members of that one")
    if digest(path / SETTINGS) != sums[name]:
        way_out = "copy it again, or make the ensemble anew: gareader ensemble"
        raise CheckpointError(f"{path / SETTINGS}: not the member that {folder.name} was made of; {way_out}")
    return path


def temperature(folder: Path, settings: Mapping[str, Any]) -> float:
    """The ensemble's own."""
    with told(folder):
        return temperature_of(settings)


def files(folder: Path) -> set[Path]:
    """All that a reader or an ensemble needs, wherever it is; what several members share is there once."""
    settings = read_settings(folder)
    own = {(folder / SETTINGS).resolve()}
    if "ensemble" in settings:
        return own.union(*map(files, members(folder, settings)))
    return own | {path.resolve() for path in files_of(folder, settings).values()}


def check_members(readers: Sequence[Path], folder: Path) -> None:
    """Complain about what cannot be made an ensemble in that folder; to be asked before long work."""
    check_replaceable(folder)
    if len(readers) < 2:
        raise CheckpointError(f"{folder}: an ensemble needs two readers or more; name others too")
    for reader in readers:
        if reader.resolve() == folder.resolve():
            raise CheckpointError(f"{folder}: this is one of the members; choose another --out")
        if "ensemble" in read_settings(reader):
            raise CheckpointError(f"{reader}: this is an ensemble itself; name its members")
        if not NAME.fullmatch(reader.resolve().name):
            raise CheckpointError(f"{reader}: a member's name is of letters, digits, spaces and _ . -; rename it")


def save(readers: Sequence[Path], folder: Path, temperature: float, notes: Mapping[str, Any]) -> None:
    """Write the folder: readers that lie beside it are named, all others copied into it."""
    check_members(readers, folder)
    beside = folder.resolve().parent
    named_ones = {reader.resolve().name for reader in readers if reader.resolve().parent == beside}
    try:
        with whole_folder(folder, sole=True) as new:
            box = _Box(new, named_ones)
            places = [
                reader.resolve() if reader.resolve().parent == beside else new / box.copied(reader)
                for reader in readers
            ]
            settings = {
                "format": NAMING,
                "ensemble": [place.name for place in places],
                "temperature": temperature,
                "sha256": {place.name: digest(place / SETTINGS) for place in places},
                "notes": dict(notes),
            }
            write_settings(settings, new)
    except OSError as error:
        raise CheckpointError(f"{folder}: the ensemble cannot be written: {error.strerror or error}") from error


class _Box:
    """The inside of an ensemble's folder: its own copies of readers, which share the words that are the same."""

    def __init__(self, folder: Path, taken: set[str]) -> None:
        self.folder = folder
        self.taken = {*taken}
        self.words: dict[tuple[str, str], tuple[str, str]] = {}

    def copied(self, reader: Path) -> str:
        """Copy a reader with all it needs; the name it has here."""
        settings = read_settings(reader)
        files, sums = files_of(reader, settings), settings["sha256"]
        name = self.free(reader.resolve().name)
        apart: set[str] = set()
        if not settings["settings"].get("update_words", True):
            words, apart = self.shared(files, sums)
            settings |= {"format": NAMING, "words_of": words}
        for file in files.keys() - apart:
            shutil.copyfile(files[file], self.folder / name / file)
        write_settings(settings, self.folder / name)
        return name

    def shared(self, files: Mapping[str, Path], sums: Mapping[str, str]) -> tuple[str, set[str]]:
        """The folder here with these words, made for the first reader that has them, and the files it need not keep."""
        key = sums[VOCABULARY], sums[WORDS]
        if key not in self.words:
            self.words[key] = self.free("words"), sums[ALPHABET]
            for file in (VOCABULARY, ALPHABET, WORDS):
                shutil.copyfile(files[file], self.folder / self.words[key][0] / file)
        name, alphabet = self.words[key]
        return name, {VOCABULARY, WORDS} | ({ALPHABET} if alphabet == sums[ALPHABET] else set())

    def free(self, name: str) -> str:
        """A new folder of that name, with a number where it is taken."""
        number, chosen = 1, name
        while chosen in self.taken:
            number += 1
            chosen = f"{name}-{number}"
        self.taken.add(chosen)
        (self.folder / chosen).mkdir()
        return chosen
