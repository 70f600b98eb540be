"""Models from an address: each is downloaded once, checked, and kept in the cache."""

import json
import re
import shutil
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import time
from uuid import uuid4

from gareader.core.cache import cache
from gareader.core.errors import GareaderError, ModelError
from gareader.core.files import LARGEST, read_small
from gareader.core.parsing import json_object
from gareader.core.whole import whole_folder
from gareader.trained.archives import CHECKSUM, ENTRIES, unpack
from gareader.trained.ensembles import verify
from gareader.trained.folder import ARCHIVES, NAME, READER_JSON, SUMMED, digest, read_settings
from gareader.trained.remote import Address, NotThereError, UnreachableError, download, largest

ORIGIN = "origin.json"
_DAY = 24 * 3600.0
_SHOWN = 10  # addresses in an error


def fetched(text: str) -> Path:
    """The folder of the model at an address, on this machine; nothing is downloaded that is in the cache already."""
    address = Address.of(text)
    if address.local is not None and not address.is_archive:
        read_settings(address.local)  # raises an error if there is no model
        if address.sha256 not in (None, actual := digest(address.local / READER_JSON)):
            raise _other_sum(address, actual, address.sha256)
        return address.local
    entry = cache() / "models" / _key(address)
    if (folder := _kept(entry)) is not None:
        return folder
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        for path in entry.parent.glob(".*"):  # of processes that were killed while they downloaded
            if path.stat().st_mtime < time() - _DAY:
                shutil.rmtree(path, ignore_errors=True)
        with whole_folder(entry) as new:
            _fetch(address, new)
    except UnreachableError as error:
        raise ModelError(f"{error}; {in_cache()}") from error
    except OSError as error:  # another process may have been quicker
        if (folder := _kept(entry)) is not None:
            return folder
        raise ModelError(f"{entry}: cannot be written ({error.strerror or error}); choose a GAREADER_CACHE") from error
    folder = _folder(entry)
    if folder is None:
        raise ModelError(f"{entry}: another process has removed this model; try again")
    return folder


def _key(address: Address) -> str:
    """The name of an address in the cache: a file of this machine may change, so that its content has the name."""
    place = address.text.rstrip("/")
    if address.local is not None:
        try:
            place = digest(address.local)
        except OSError as error:
            raise ModelError(f"{address}: cannot be read ({error.strerror or error}); check the path") from None
    return sha256(f"{place}#{address.sha256}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _folder(entry: Path) -> Path | None:
    return next((path for path in entry.glob("*") if path.is_dir()), None)


def _kept(entry: Path) -> Path | None:
    """The model in the cache; one that has been damaged there is removed."""
    if (folder := _folder(entry)) is None:
        return None
    try:
        verify(folder)
    except GareaderError:
        aside = entry.with_name(f".{entry.name}.{uuid4().hex}")  # renamed at once, then removed
        with suppress(OSError):  # another process may have done it
            entry.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)
        return None
    return folder


def _fetch(address: Address, new: Path) -> None:
    """Fill a new folder of the cache with a model, whose files are all right, and its address."""
    place, files, archive = Address(address.text), new / ".files", new / ".archive"
    files.mkdir()
    if address.is_archive:
        actual, summed = download(place, archive, largest()), place
    else:
        _fetch_folder(place, files, _Budget(), [])
        actual, summed = digest(files / READER_JSON), place.inside(READER_JSON)
    expected = address.sha256 or _sum_beside(summed, new / ".sum")
    if expected not in (None, actual):
        raise _other_sum(address, actual, expected)
    model = new / _plain(address.name)
    if address.is_archive:
        unpack(archive, files, largest(), address).rename(model)
    else:
        files.rename(model)
    try:
        verify(model)
    except ModelError as error:
        raise ModelError(f"{address}: {str(error).replace(f'{new}/', '')}") from None
    for rest in (files, archive, new / ".sum"):
        shutil.rmtree(rest) if rest.is_dir() else rest.unlink(missing_ok=True)
    (new / ORIGIN).write_text(json.dumps({"address": str(address), "sha256": actual}) + "\n", encoding="utf-8")


def _plain(name: str) -> str:
    """The name as that of a folder, without the ending of an archive."""
    for ending in ARCHIVES:
        name = name.removesuffix(ending)
    return name if NAME.fullmatch(name) else "model"


def _other_sum(address: Address, actual: str, expected: str | None) -> ModelError:
    problem = f"its SHA-256 is {actual}, not {expected}"
    return ModelError(f"{address}: {problem}: it is damaged, or another model; ask its owner for the right one")


def _sum_beside(place: Address, file: Path) -> str | None:
    """The checksum in the file beside an archive or `reader.json`, if there is one; `file` is for a copy."""
    address = place.beside(CHECKSUM)
    try:
        download(address, file, LARGEST)
    except NotThereError:
        return None
    match = re.match(rb"([0-9a-fA-F]{64})(?:\s|$)", read_small(file))
    if not match:
        way_out = "give the right one behind the model's address: #sha256=…"
        raise ModelError(f"{address}: there is no SHA-256 in this file; {way_out}")
    return match[1].decode().lower()


class _Budget:
    """What a folder may still cost: bytes and files."""

    def __init__(self) -> None:
        self.bytes, self.files = largest(), ENTRIES

    def download(self, address: Address, path: Path, limit: int | None = None) -> None:
        """Copy a file within the budget."""
        self.files -= 1
        if self.files < 0:
            raise ModelError(f"{address}: the model has more than {ENTRIES} files; ask its owner for a smaller one")
        path.parent.mkdir(exist_ok=True)
        try:
            download(address, path, self.bytes if limit is None else min(limit, self.bytes))
        except NotThereError:
            path.unlink()
            with suppress(OSError):  # an empty folder would be taken for that of the words
                path.parent.rmdir()
            raise
        self.bytes -= path.stat().st_size


def _fetch_folder(address: Address, out: Path, budget: _Budget, parents: list[tuple[Address, Path]]) -> None:
    """Fetch `reader.json` and the files that it names, from this folder and those inside it or, for members, beside."""
    out.mkdir(exist_ok=True)
    try:
        budget.download(address.inside(READER_JSON), out / READER_JSON, LARGEST)
    except NotThereError as error:
        archive = f"the address of an archive ends with {' or '.join(ARCHIVES)}"
        raise NotThereError(f"{address}: there is no model here ({error}); {archive}") from None
    settings = read_settings(out)
    here = (address, out)
    if "ensemble" in settings:
        if parents or not isinstance(settings["ensemble"], list):
            raise ModelError(f"{address}: this ensemble has no list of members, or is one itself; ask its owner")
        for member in dict.fromkeys(map(str, settings["ensemble"])):
            _fetch_folder(address.inside(_name(address, member)), out / member, budget, [here])
        return
    places = [here]
    if settings.get("words_of") is not None:
        words = _name(address, settings["words_of"])
        places += [(place.inside(words), folder / words) for place, folder in (here, *parents)]
    for name in SUMMED:
        _fetch_first(name, places, budget)


def _fetch_first(name: str, places: list[tuple[Address, Path]], budget: _Budget) -> None:
    """Fetch a file from the first place that has it, unless another model has fetched it already."""
    for place, folder in places:
        if (folder / name).exists():
            return
        try:
            budget.download(place.inside(name), folder / name)
        except NotThereError as error:
            missing = error
        else:
            return
    raise missing


def _name(address: Address, name: object) -> str:
    if not (isinstance(name, str) and NAME.fullmatch(name)):
        raise ModelError(f"{address}: its {READER_JSON} names {name!r}, which is no folder inside it; ask its owner")
    return name


def in_cache() -> str:
    """What to type when an address cannot be reached: the addresses in the cache, and the models in the box."""
    addresses = []
    for origin in sorted((cache() / "models").glob(f"*/{ORIGIN}")):
        try:
            addresses.append(str(json_object(read_small(origin))["address"]))
        except (OSError, ValueError, LookupError):
            continue
    kept = f"the cache has {', '.join(addresses[:_SHOWN])}" if addresses else "the cache has no other model"
    return f"{kept}; try again with a network, or take a model in the box: gareader models"
