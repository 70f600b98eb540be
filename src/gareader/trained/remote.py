"""Files at an address: http and https by the standard library, files of this machine, and all others by fsspec."""

import os
import re
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from http.client import HTTPException, HTTPResponse
from pathlib import Path, PurePosixPath
from time import monotonic
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from gareader.core.errors import ModelError, extras_told
from gareader.core.files import LARGEST, open_regular
from gareader.trained.folder import ARCHIVES

LIMIT = "GAREADER_MODEL_LIMIT"
"""The environment variable with the most megabytes of a model, as it is downloaded and as it is unpacked."""
MEGABYTES = 1024
"""The most megabytes of a model where the variable is not set."""
TIMEOUT = 30.0
"""The most seconds until a server answers, or sends more."""
PATIENCE, SLOWEST = 60.0, 1024
"""After so many seconds a download is given up that has had fewer bytes a second on the whole."""
REDIRECTS = 5
_PIECE = 1 << 18
_PIN = re.compile(r"sha256=([0-9a-fA-F]{64})")
_PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "hf": "huggingface_hub", "sftp": "paramiko"}


class NotThereError(ModelError):
    """Nothing is at this address, or nothing that everyone may read."""


class UnreachableError(ModelError):
    """A place that does not answer: there may be no network."""


@dataclass(frozen=True)
class Address:
    """The address of a model, or of a file of it."""

    text: str
    """The address without its checksum."""
    sha256: str | None = None
    """The checksum of the archive, or of a folder's `reader.json`, from the end of the address: #sha256=…."""

    @classmethod
    def of(cls, text: str) -> "Address":
        """Read an address; raise ModelError for one that nothing can be at."""
        place, hash_, end = text.rpartition("#")
        if hash_ and end.startswith("sha256="):
            if not (pin := _PIN.fullmatch(end)):
                raise ModelError(f"{text}: a SHA-256 has 64 digits from 0 to f; copy it whole behind #sha256=")
            address = cls(place, pin[1].lower())
        else:
            address = cls(text)
        try:
            parts = urlsplit(address.text)
        except ValueError as error:
            raise ModelError(f"{text}: this is no address ({error}); check its spelling") from None
        if address.is_http and (not parts.netloc or "@" in parts.netloc or parts.fragment):
            raise ModelError(f"{address}: write https://host/path, without a user's name, and with no # but #sha256=")
        if address.scheme == "file" and parts.netloc not in ("", "localhost"):
            raise ModelError(f"{text}: a file of this machine has three slashes, file:///path; or write the path alone")
        return address

    def __str__(self) -> str:
        """The address without what only its owner should read: user, password, and the query."""
        if not self.is_http:
            return self.text
        parts = urlsplit(self.text)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    @cached_property
    def scheme(self) -> str:
        """What stands before ://; "file" for a path."""
        return self.text.partition("://")[0].lower() if "://" in self.text else "file"

    @property
    def is_http(self) -> bool:
        return self.scheme in ("http", "https")

    @property
    def local(self) -> Path | None:
        if self.scheme != "file":
            return None
        return Path(unquote(urlsplit(self.text).path) if "://" in self.text else self.text)

    @property
    def name(self) -> str:
        if self.local is not None:
            return self.local.name
        return PurePosixPath(unquote(urlsplit(self.text).path) if self.is_http else self.text).name

    @property
    def is_archive(self) -> bool:
        """Whether this is the address of an archive, by its name."""
        return self.name.endswith(ARCHIVES)

    def beside(self, ending: str) -> "Address":
        """The address of the file whose name is this one's with an ending."""
        if not self.is_http:
            return Address(self.text + ending)
        parts = urlsplit(self.text)
        return Address(urlunsplit(parts._replace(path=parts.path + ending)))

    def inside(self, name: str) -> "Address":
        """The address of a file or a folder inside this folder."""
        if self.is_http:
            parts = urlsplit(self.text)
            return Address(urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{quote(name)}")))
        return Address(f"{self.text.rstrip('/')}/{quote(name) if self.text.startswith('file:') else name}")


def largest() -> int:
    """The most bytes of a model."""
    text = os.environ.get(LIMIT, str(MEGABYTES))
    if not (text.isascii() and text.isdigit() and int(text)):
        raise ModelError(f"{LIMIT} is {text!r}; give a number of megabytes, for example: {LIMIT}={2 * MEGABYTES}")
    return int(text) << 20


def too_large(place: object, what: str = "it has") -> ModelError:
    """The error for a model that is larger than `largest`."""
    limit = largest() >> 20
    return ModelError(f"{place}: {what} more than {limit} MB; if you trust it, allow more: {LIMIT}={2 * limit}")


def _too_large(address: Address, limit: int) -> ModelError:
    if limit == LARGEST:
        return ModelError(f"{address}: more than {LARGEST >> 20} MiB where a small file is due; check the address")
    return too_large(address)


def download(address: Address, path: Path, limit: int) -> str:
    """Copy what is at the address to a file of at most `limit` bytes; return its SHA-256."""
    digest, size, began = sha256(), 0, monotonic()
    if address.is_http:
        stream = _by_http(address, limit)
    else:
        stream = _by_fsspec(address) if address.local is None else _of_this_machine(address, address.local)
    with path.open("xb") as file, closing(stream) as pieces:
        for piece in pieces:
            size += len(piece)
            if size > limit:
                raise _too_large(address, limit)
            if monotonic() - began > PATIENCE + size / SLOWEST:
                raise UnreachableError(f"{address}: only {size} bytes came in {PATIENCE:.0f} seconds; try again later")
            digest.update(piece)
            file.write(piece)
    return digest.hexdigest()


def _of_this_machine(address: Address, path: Path) -> Generator[bytes, None, None]:
    try:
        with open_regular(path) as file:
            while piece := file.read(_PIECE):
                yield piece
    except FileNotFoundError:
        raise NotThereError(f"{address}: there is no such file; check the path") from None
    except OSError as error:
        raise ModelError(f"{address}: cannot be read ({error.strerror or error}); check the path") from None


def _by_http(address: Address, limit: int) -> Generator[bytes, None, None]:
    try:
        with _response(address) as response:
            length, size = response.length, 0  # None if the server does not say it
            if length is not None and length > limit:
                raise _too_large(address, limit)
            while piece := response.read1(_PIECE):
                size += len(piece)
                yield piece
            if length is not None and size < length:
                raise UnreachableError(f"{address}: broke off after {size} of {length} bytes; try again")
    except HTTPError as error:
        error.close()
        problem = f"the server says {error.code} {error.reason}"
        if error.code < 500:
            raise NotThereError(f"{address}: {problem}; check the address") from None
        raise UnreachableError(f"{address}: {problem}; try again later") from None
    except (HTTPException, URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise UnreachableError(f"{address}: cannot be reached ({reason})") from None


def _response(address: Address) -> HTTPResponse:
    """Ask for the file, and follow redirections: only some, and none from https to anything else."""
    opener = OpenerDirector()  # urllib's own one follows redirections to ftp, and reads their whole pages
    for handler in (ProxyHandler, HTTPHandler, HTTPSHandler, HTTPDefaultErrorHandler, HTTPErrorProcessor):
        opener.add_handler(handler())
    url = address.text
    for _ in range(REDIRECTS + 1):
        request = Request(quote(url, safe="%/:=&?~#+!$,;'@()*[]"), headers={"User-Agent": "gareader"})  # noqa: S310
        try:
            response: HTTPResponse = opener.open(request, timeout=TIMEOUT)
        except HTTPError as error:
            target = error.headers.get("Location")
            if error.code not in (301, 302, 303, 307, 308) or target is None:
                raise
            error.close()
            before, url = urlsplit(url).scheme, urljoin(url, target)
            if urlsplit(url).scheme not in ("https", before):
                way_out = "ask its owner for another address"
                raise ModelError(
                    f"{address}: leads from {before} to {Address(url)}, which is not safe; {way_out}"
                ) from None
        else:
            return response
    raise ModelError(f"{address}: leads to other addresses more than {REDIRECTS} times; check the address")


def file_system(address: Address) -> tuple[Any, str]:
    """fsspec's file system of an address, and the path there."""
    with extras_told():
        import fsspec
    try:
        system, path = fsspec.url_to_fs(address.text)
    except ImportError as error:
        package = _PACKAGES.get(address.scheme, "")
        raise ModelError(f"{address}: {error}; type: pip install {package or 'the package it names'}") from None
    except ValueError as error:
        raise ModelError(f"{address}: {error}; addresses begin with https://, file://, s3://, hf:// …") from None
    except OSError as error:  # some protocols connect at once
        raise UnreachableError(f"{address}: cannot be reached ({error})") from None
    return system, str(path)


def _by_fsspec(address: Address) -> Generator[bytes, None, None]:
    system, path = file_system(address)
    try:
        with system.open(path, "rb") as file:
            while piece := file.read(_PIECE):
                yield piece
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise NotThereError(
            f"{address}: cannot be read ({error}); check the address and the right to read it"
        ) from None
    except Exception as error:  # each protocol's package has errors of its own
        raise UnreachableError(f"{address}: cannot be reached ({error})") from error
