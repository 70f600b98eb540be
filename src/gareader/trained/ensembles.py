"""An ensemble on disk: a folder whose `reader.json` names its members, which are models inside it or beside it."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gareader.core.errors import ModelError
from gareader.core.whole import whole_folder
from gareader.trained.folder import (
    ALPHABET,
    NAME,
    NAMING,
    READER_JSON,
    VOCABULARY,
    WORD_TABLE,
    as_model_errors,
    check_replaceable,
    digest,
    files_of,
    named,
    read_settings,
    verified_files,
    write_settings,
)
from gareader.trained.temperatures import Temperatures


def members(folder: Path, settings: Mapping[str, Any]) -> list[Path]:
    """The folders of an ensemble's members; each still has the `reader.json` that the ensemble was made of."""
    with as_model_errors(folder):
        names = settings["ensemble"]
        if not isinstance(names, list) or not names:
            raise TypeError("an ensemble needs a list of members")
        return [_member(folder, name, settings["sha256"]) for name in names]


def _member(folder: Path, name: object, sums: Mapping[object, str]) -> Path:
    path = named(folder, name)
    if "ensemble" in read_settings(path):
        raise ModelError(f"{folder}: its member {name!r} is an ensemble itself; name the members of that one")
    if digest(path / READER_JSON) != sums[name]:
        way_out = "copy it again, or make the ensemble anew: gareader ensemble"
        raise ModelError(f"{path / READER_JSON}: not the member that {folder.name} was made of; {way_out}")
    return path


def files(folder: Path) -> set[Path]:
    """The files of a model or an ensemble, in its folder or elsewhere; a file that members share is there once."""
    settings = read_settings(folder)
    own = {(folder / READER_JSON).resolve()}
    if "ensemble" in settings:
        return own.union(*map(files, members(folder, settings)))
    return own | {path.resolve() for path in files_of(folder, settings).values()}


def verify(folder: Path) -> None:
    """Raise ModelError unless all files of a model or an ensemble are there with the right checksums."""
    settings = read_settings(folder)
    if "ensemble" in settings:
        for member in members(folder, settings):
            verify(member)
        return
    with as_model_errors(folder), verified_files(folder, settings):
        pass


def check_members(members: Sequence[Path], folder: Path) -> None:
    """Raise ModelError for members that cannot be an ensemble in that folder; call it before long work."""
    check_replaceable(folder)
    if len(members) < 2:
        raise ModelError(f"{folder}: an ensemble needs two models or more; name others too")
    for member in members:
        if member.resolve() == folder.resolve():
            raise ModelError(f"{folder}: this is one of the members; choose another --out")
        if "ensemble" in read_settings(member):
            raise ModelError(f"{member}: this is an ensemble itself; name its members")
        if not NAME.fullmatch(member.resolve().name):
            raise ModelError(f"{member}: a member's name is of letters, digits, spaces and _ . -; rename it")


def save(members: Sequence[Path], folder: Path, temperatures: Temperatures, notes: Mapping[str, Any]) -> None:
    """Write an ensemble: members beside its folder are named, all others are copied into it."""
    check_members(members, folder)
    beside = folder.resolve().parent
    named_ones = {member.resolve().name for member in members if member.resolve().parent == beside}
    try:
        with whole_folder(folder, sole=True) as new:
            box = _Box(new, named_ones)
            places = [
                member.resolve() if member.resolve().parent == beside else new / box.copy(member) for member in members
            ]
            settings = {
                "format": NAMING,
                "ensemble": [place.name for place in places],
                **temperatures.record(),
                "sha256": {place.name: digest(place / READER_JSON) for place in places},
                "notes": dict(notes),
            }
            write_settings(settings, new)
    except OSError as error:
        raise ModelError(f"{folder}: the ensemble cannot be written: {error.strerror or error}") from error


class _Box:
    """The inside of an ensemble's folder: its copies of models, which share equal words."""

    def __init__(self, folder: Path, taken: set[str]) -> None:
        self.folder = folder
        self.taken = {*taken}
        self.words: dict[tuple[str, str], tuple[str, str]] = {}

    def copy(self, model: Path) -> str:
        """Copy a model with all its files; return its name here."""
        settings = read_settings(model)
        files, sums = files_of(model, settings), settings["sha256"]
        name = self.free(model.resolve().name)
        in_words: set[str] = set()
        if not settings["settings"].get("update_words", True):
            words, in_words = self.shared(files, sums)
            settings |= {"format": NAMING, "words_of": words}
        for file in files.keys() - in_words:
            shutil.copyfile(files[file], self.folder / name / file)
        write_settings(settings, self.folder / name)
        return name

    def shared(self, files: Mapping[str, Path], sums: Mapping[str, str]) -> tuple[str, set[str]]:
        """The folder here with these words, made for the first model, and the files that a model need not keep."""
        key = sums[VOCABULARY], sums[WORD_TABLE]
        if key not in self.words:
            self.words[key] = self.free("words"), sums[ALPHABET]
            for file in (VOCABULARY, ALPHABET, WORD_TABLE):
                shutil.copyfile(files[file], self.folder / self.words[key][0] / file)
        name, alphabet = self.words[key]
        return name, {VOCABULARY, WORD_TABLE} | ({ALPHABET} if alphabet == sums[ALPHABET] else set())

    def free(self, name: str) -> str:
        """Make a folder and return its name: that name, with a number if it is taken."""
        number, chosen = 1, name
        while chosen in self.taken:
            number += 1
            chosen = f"{name}-{number}"
        self.taken.add(chosen)
        (self.folder / chosen).mkdir()
        return chosen
