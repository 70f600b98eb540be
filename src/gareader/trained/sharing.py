"""Models for others: complete, with their card and checksum, in an archive or a folder at any address."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gareader.core.errors import GareaderError, ModelError
from gareader.core.whole import check_folder, whole_file, whole_folder
from gareader.trained import archives, ensembles
from gareader.trained.archives import CARD, CHECKSUM
from gareader.trained.card import Facts, card
from gareader.trained.folder import (
    COMPLETE,
    READER_JSON,
    as_model_errors,
    check_replaceable,
    digest,
    files_of,
    read_settings,
    without_folders,
    write_settings,
)
from gareader.trained.remote import Address, file_system
from gareader.trained.temperatures import Temperatures


@dataclass(frozen=True)
class Pushed:
    address: str
    sha256: str
    """Of the archive, or of the folder's `reader.json`, which has the checksums of all other files."""
    bytes: int

    @property
    def pinned(self) -> str:
        """The address with its checksum."""
        return f"{self.address}#sha256={self.sha256}"


def push(model: Path, address: Address, facts: Facts, text: str | None = None, *, force: bool = False) -> Pushed:
    """Write a model to an address with its card; `text` is a card of one's own."""
    check_free(address, force=force)
    ensembles.verify(model)
    with TemporaryDirectory() as folder:
        files = Path(folder, "model")
        copy_complete(model, files, Path(folder))
        (files / CARD).write_text(card(facts, read_settings(files), text), encoding="utf-8")
        if address.is_archive:
            summed = Path(folder, "archive")
            archives.write(files, summed, address.name)
            written = {address: summed}
        else:
            summed = files / READER_JSON
            inner = sorted(archives.files_inside(files), key=lambda path: path == summed)  # without it, it is no model
            written = {reduce(Address.inside, path.relative_to(files).parts, address): path for path in inner}
        actual, name = digest(summed), address.name if address.is_archive else READER_JSON
        beside = Path(folder, "sum")
        beside.write_text(f"{actual}  {name}\n", encoding="utf-8")
        size = sum(path.stat().st_size for path in written.values())
        written[(address if address.is_archive else address.inside(READER_JSON)).beside(CHECKSUM)] = beside
        _write(address, written)
    return Pushed(address.text if address.local is None else address.local.resolve().as_uri(), actual, size)


def check_free(address: Address, *, force: bool) -> None:
    """Raise ModelError for an address that cannot be written to; call it before long work."""
    if address.sha256:
        raise ModelError(f"{address}: the checksum is made when the model is written; leave #sha256= out")
    if address.is_http:
        local = address.name if address.is_archive else "model.tar.xz"
        way_out = f"write a file here and upload it: gareader push MODEL ./{local}"
        raise ModelError(f"{address}: nothing is written with {address.scheme}; {way_out}")
    if address.local is None:
        with _told(address):
            system, path = file_system(address)
            taken = system.exists(path)
    else:
        if not address.is_archive:
            check_replaceable(address.local)
        elif address.local.is_dir():
            raise ModelError(f"{address}: this is a folder; choose another name for the archive")
        else:
            check_folder(address.local)
        taken = address.local.exists() and (address.is_archive or any(address.local.iterdir()))
    if taken and not force:
        raise ModelError(f"{address}: there is something here already; to replace it type: --force")


def copy_complete(model: Path, out: Path, workspace: Path) -> None:
    """Copy a model or an ensemble with all that it needs; its notes name no folders of this machine."""
    settings = read_settings(model)
    if "ensemble" not in settings:
        _copy_one(model, settings, out)
        return
    copies = []
    for number, member in enumerate(ensembles.members(model, settings)):
        copies.append(workspace / f"member {number}" / member.name)
        _copy_one(member, read_settings(member), copies[-1])
    ensembles.save(copies, out, Temperatures.of(settings), without_folders(settings["notes"]))


def _copy_one(model: Path, settings: dict[str, Any], out: Path) -> None:
    out.mkdir(parents=True)
    with as_model_errors(model):
        for name, path in files_of(model, settings).items():
            shutil.copyfile(path, out / name)
        settings.pop("words_of", None)
        write_settings({**settings, "format": COMPLETE, "notes": without_folders(settings["notes"])}, out)


def _write(address: Address, files: dict[Address, Path]) -> None:
    if address.local is None:
        with _told(address):
            for place, source in files.items():
                system, path = file_system(place)
                system.makedirs(system._parent(path), exist_ok=True)
                with source.open("rb") as content, system.open(path, "wb") as out:
                    shutil.copyfileobj(content, out)
        return
    try:
        if address.is_archive:
            for place, source in files.items():
                with whole_file(Path(str(place.local))) as new:
                    shutil.copyfile(source, new)
        else:
            with whole_folder(address.local, sole=True) as folder:
                for place, source in files.items():
                    copy = folder / Path(str(place.local)).relative_to(address.local)
                    copy.parent.mkdir(exist_ok=True)
                    shutil.copyfile(source, copy)
    except OSError as error:
        raise ModelError(f"{address}: cannot be written ({error.strerror or error}); choose another place") from error


@contextmanager
def _told(address: Address) -> Iterator[None]:
    """Raise ModelError for any error of a protocol's package."""
    try:
        yield
    except GareaderError:
        raise
    except Exception as error:  # each protocol's package has errors of its own
        way_out = "check the address and the right to write there"
        raise ModelError(f"{address}: cannot be written ({error}); {way_out}") from error
