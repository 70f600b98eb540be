"""Models from an address: downloaded once, whole or not at all, and every failure says what to do."""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from threading import Barrier
from urllib.request import HTTPHandler, HTTPSHandler

import fsspec
import pytest

from gareader.core.errors import GareaderError, ModelError
from gareader.trained import fetching, models, remote
from gareader.trained.card import Facts
from gareader.trained.fetching import fetched
from gareader.trained.folder import READER_JSON, WEIGHTS, read_settings, write_settings
from gareader.trained.predictor import Ensemble, load
from gareader.trained.remote import Address
from gareader.trained.sharing import push
from packed_readers import made, write_box, write_vectors
from web import reply, serving


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A model as an archive and as a folder, and an ensemble as a folder."""
    folder = tmp_path_factory.mktemp("fetching")
    box = write_box(folder / "box", write_vectors(folder / "vectors.txt"))
    (folder / "out").mkdir()
    for name, address in (("one", "one.tar.xz"), ("one", "one"), (made(box, "one", "two").name, "all")):
        push(box / name, Address.of(f"{folder}/out/{address}"), Facts(name))
    return folder / "out"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GAREADER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "cache" / "models"


@pytest.fixture
def web(shared):
    with serving() as server:
        server.serve_folder(shared, "")
        yield server


def complaint(address, cache, error=ModelError):
    """The message of the error; nothing is left in the cache."""
    with pytest.raises(error) as raised:
        fetched(address)
    assert "\n" not in str(raised.value)
    assert not cache.exists() or not list(cache.iterdir())
    return str(raised.value)


def test_it_is_in_the_cache_under_its_name_with_its_origin(web, cache):
    web.pages["/one.tar.xz?token=secret"] = web.pages["/one.tar.xz"]
    folder = fetched(web.address("/one.tar.xz?token=secret"))
    assert folder.name == "one"
    (entry,) = cache.iterdir()
    assert sorted(path.name for path in entry.iterdir()) == ["one", "origin.json"]
    assert json.loads((entry / "origin.json").read_text())["address"] == web.address("/one.tar.xz")


def test_without_fsspec(web, monkeypatch, cache):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    assert fetched(web.address("/one.tar.xz")).name == "one"
    assert fetched(web.address("/all/")).name == "all"
    with pytest.raises(GareaderError, match=r"this needs fsspec, .*\[share\]'"):
        fetched("memory://x.tar.xz")


def test_a_truncated_download(web, cache):
    whole = web.pages["/one.tar.xz"]
    web.pages["/one.tar.xz"] = lambda request: reply(request, whole[:500], len(whole))
    message = complaint(web.address("/one.tar.xz"), cache)
    assert f"broke off after 500 of {len(whole)} bytes; try again" in message
    web.pages["/one.tar.xz"] = whole
    assert fetched(web.address("/one.tar.xz")).is_dir()


def test_a_truncated_download_of_unknown_length(web, cache):
    def broken(request):
        request.protocol_version = "HTTP/1.1"
        request.send_response(200)
        request.send_header("Transfer-Encoding", "chunked")
        request.end_headers()
        request.wfile.write(b"ff\r\nonly this")

    web.pages["/one.tar.xz"] = broken
    assert "cannot be reached (" in complaint(web.address("/one.tar.xz"), cache)


@pytest.mark.parametrize("path", ["/one.tar.xz", "/one"])
def test_a_wrong_checksum(web, cache, path):
    message = complaint(f"{web.address(path)}#sha256={'0' * 64}", cache)
    assert f"not {'0' * 64}: it is damaged, or another model" in message
    beside = "/one.tar.xz.sha256" if path.endswith("xz") else "/one/reader.json.sha256"
    right = web.pages[beside]
    web.pages[beside] = b"1" * 64 + b"  one\n"
    assert f"not {'1' * 64}" in complaint(web.address(path), cache)
    web.pages[beside] = b"<html>not found</html>"
    assert "there is no SHA-256 in this file; give the right one" in complaint(web.address(path), cache)
    assert fetched(f"{web.address(path)}#sha256={right.split()[0].decode().upper()}").is_dir()
    del web.pages[beside]
    assert fetched(web.address(path)).is_dir()


def test_a_changed_file_of_a_folder_is_found_by_the_models_own_checksums(web, cache):
    web.pages[f"/one/{WEIGHTS}"] = web.pages[f"/one/{WEIGHTS}"][:-1] + b"\x01"
    assert f"one/{WEIGHTS}: damaged: its checksum does not match" in complaint(web.address("/one"), cache)


@pytest.mark.parametrize("path", ["/one.tar.xz", "/one"])
@pytest.mark.parametrize("told", [True, False])
def test_a_model_that_is_too_large(web, cache, monkeypatch, path, told):
    """Whether or not the server says how large it is."""
    large = "/one.tar.xz" if path.endswith("xz") else f"/one/{WEIGHTS}"
    sent: list[int] = []

    def endless(request):
        request.send_response(200)
        if told:
            request.send_header("Content-Length", str(1 << 40))
        request.end_headers()
        with suppress(OSError):
            sent.extend(request.wfile.write(bytes(1 << 20)) for _ in range(64))

    web.pages[large] = endless
    monkeypatch.setenv(remote.LIMIT, "2")
    message = complaint(web.address(path), cache)
    assert message.endswith("it has more than 2 MB; if you trust it, allow more: GAREADER_MODEL_LIMIT=4")
    assert len(sent) < 64


def test_settings_that_are_no_small_file(web, cache):
    web.pages["/one/reader.json"] = bytes((16 << 20) + 1)
    assert "more than 16 MiB where a small file is due" in complaint(web.address("/one"), cache)


def test_redirections(web, cache):
    web.pages["/moved/one.tar.xz"] = "/one.tar.xz"
    assert fetched(web.address("/moved/one.tar.xz")).is_dir()
    web.pages["/a.tar.xz"], web.pages["/b.tar.xz"] = "/b.tar.xz", web.address("/a.tar.xz")
    with pytest.raises(ModelError, match="leads to other addresses more than 5 times"):
        fetched(web.address("/a.tar.xz"))
    assert web.asked["/a.tar.xz"] + web.asked["/b.tar.xz"] == 6
    for target in ("ftp://127.0.0.1/one.tar.xz", "file:///etc/passwd", "data:,x"):
        web.pages["/out.tar.xz"] = target
        with pytest.raises(ModelError, match=r"leads from http to .*, which is not safe"):
            fetched(web.address("/out.tar.xz"))


def test_no_redirection_from_https_to_http(web, cache, monkeypatch):
    """The connection of this test is not encrypted, but urllib is told that it is."""
    web.pages["/safe.tar.xz"] = web.address("/one.tar.xz")
    monkeypatch.setattr(HTTPSHandler, "https_open", HTTPHandler.http_open)
    message = complaint(web.address("/safe.tar.xz").replace("http", "https"), cache)
    assert "leads from https to http://127.0.0.1" in message
    assert web.asked["/one.tar.xz"] == 0


@pytest.mark.parametrize(("code", "message"), [(404, "the server says 404"), (403, "403"), (500, "try again later")])
def test_a_missing_file(web, cache, code, message):
    web.pages["/x.tar.xz"] = lambda request: request.send_error(code)
    assert message in complaint(web.address("/x.tar.xz"), cache)
    missing = complaint(web.address("/nothing"), cache)
    assert "there is no model here" in missing
    assert "the address of an archive ends with .tar.xz or .tar.gz" in missing
    del web.pages[f"/one/{WEIGHTS}"]
    assert f"/one/{WEIGHTS}: the server says 404" in complaint(web.address("/one"), cache)


def test_a_server_that_does_not_answer(web, cache, monkeypatch):
    monkeypatch.setattr(remote, "TIMEOUT", 0.05)
    silence = Barrier(2)
    web.pages["/x.tar.xz"] = lambda request: silence.wait(60)
    assert "cannot be reached (timed out)" in complaint(web.address("/x.tar.xz"), cache)
    silence.wait(60)


def test_a_download_that_is_too_slow(web, cache, monkeypatch):
    monkeypatch.setattr(remote, "PATIENCE", -1e9)
    assert "bytes came in" in complaint(web.address("/one.tar.xz"), cache)


def offline(address):
    with pytest.raises(ModelError) as raised:
        fetched(address)
    return str(raised.value)


def test_offline(shared, cache):
    with serving() as web:
        web.serve_folder(shared, "")
        address = web.address("/one.tar.xz")
        folder = fetched(address)
    assert fetched(address) == folder  # nothing is asked
    message = offline(f"{address}#sha256={'0' * 64}")
    assert "cannot be reached (" in message
    assert message.endswith(
        f"the cache has {address}; try again with a network, or take a model in the box: gareader models"
    )
    (next(cache.iterdir()) / "origin.json").write_text("damaged")
    assert "the cache has no other model" in offline(address.replace("one", "two"))


def test_a_host_that_is_not_there(cache, monkeypatch):
    def unknown(*arguments, **options):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setenv("no_proxy", "*")
    message = complaint("https://models.invalid/x.tar.xz", cache)
    assert "Name or service not known" in message
    assert "the cache has no other model" in message


def test_a_model_that_was_damaged_in_the_cache_is_downloaded_again(web, cache):
    folder = fetched(web.address("/one.tar.xz"))
    (folder / WEIGHTS).write_bytes(b"")
    assert fetched(web.address("/one.tar.xz")) == folder
    assert (folder / WEIGHTS).stat().st_size
    assert web.asked["/one.tar.xz"] == 2
    assert len(list(cache.iterdir())) == 1


def test_what_killed_processes_left_is_removed_after_a_day(web, cache):
    old, new = cache / ".old.1", cache / ".new.2"
    for folder in (old, new):
        folder.mkdir(parents=True)
    os.utime(old, (time.time() - 100_000,) * 2)
    fetched(web.address("/one.tar.xz"))
    assert (old.exists(), new.exists()) == (False, True)


def test_a_cache_that_cannot_be_written(web, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GAREADER_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match=r"cannot be written .*; choose a GAREADER_CACHE"):
        fetched(web.address("/one.tar.xz"))


def test_two_processes_at_once(web, cache, tmp_path):
    """Both have begun before either gets a byte."""
    whole, both = web.pages["/one.tar.xz"], Barrier(2)

    def page(request):
        both.wait(100)
        reply(request, whole)

    web.pages["/one.tar.xz"] = page
    program = "import sys; from gareader.trained.fetching import fetched; print(fetched(sys.argv[1]))"
    command = [sys.executable, "-c", program, web.address("/one.tar.xz")]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    folders = [process.communicate(timeout=200)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert folders[0] == folders[1] == f"{fetched(web.address('/one.tar.xz'))}\n"
    assert web.asked["/one.tar.xz"] == 2
    assert len(list(cache.iterdir())) == 1


def test_names_in_a_strangers_settings_lead_nowhere_else(web, cache, tmp_path):
    for number, (key, value) in enumerate(
        [("words_of", "../.."), ("words_of", ["x"]), ("ensemble", ["../one"]), ("ensemble", [".ssh"])]
    ):
        folder = tmp_path / f"stranger{number}"
        folder.mkdir()
        write_settings({"format": 2, key: value, "sha256": {}, "notes": {}}, folder)
        web.serve_folder(folder, f"/{folder.name}")
        assert "which is no folder inside it" in complaint(web.address(f"/{folder.name}"), cache)
    folder = tmp_path / "deep"
    folder.mkdir()
    write_settings({"format": 2, "ensemble": ["deep"], "sha256": {}, "notes": {}}, folder)
    web.serve_folder(folder, "/deep")
    web.serve_folder(folder, "/deep/deep")
    assert "has no list of members, or is one itself" in complaint(web.address("/deep"), cache)


def test_an_ensemble_of_too_many_members(web, cache, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "ENTRIES", 5)
    assert "more than 5 files" in complaint(web.address("/all"), cache)


def test_a_file_of_this_machine(shared, tmp_path, cache):
    """A folder is used where it is; an archive that has changed is read anew."""
    folder = shared / "one"
    assert fetched(folder.as_uri()) == folder
    assert not cache.exists()
    with pytest.raises(ModelError, match="it is damaged, or another model"):
        fetched(f"{folder.as_uri()}#sha256={'0' * 64}")
    with pytest.raises(ModelError, match="there is no model here"):
        fetched((tmp_path / "nothing").as_uri())
    with pytest.raises(ModelError, match=r"cannot be read .*; check the path"):
        fetched((tmp_path / "nothing.tar.xz").as_uri())
    copy = tmp_path / "x.tar.xz"
    copy.write_bytes((shared / "one.tar.xz").read_bytes())
    first = models.folder(copy)
    assert models.folder(str(copy)) == fetched(copy.as_uri()) == first
    push(shared / "all", Address.of(str(copy)), Facts("x"), force=True)
    assert "ensemble" in read_settings(models.folder(copy))
    assert isinstance(load(copy), Ensemble)


def test_files_of_fsspec(shared, cache):
    system = fsspec.filesystem("memory")
    system.pipe("/fetched/one.tar.xz", (shared / "one.tar.xz").read_bytes())
    assert fetched("memory://fetched/one.tar.xz").name == "one"
    with pytest.raises(ModelError, match=r"memory://fetched/two\.tar\.xz: cannot be read"):
        fetched("memory://fetched/two.tar.xz")
    with pytest.raises(ModelError, match="there is no model here"):
        fetched("memory://fetched/nothing")


def test_a_protocol_without_its_package(cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    assert complaint("s3://bucket/x.tar.xz", cache).endswith("; type: pip install s3fs")
    assert "; addresses begin with https://" in complaint("nonsense://x", cache)


def test_a_file_system_that_fails(cache, monkeypatch):
    def fail(*arguments, **options):
        raise RuntimeError("no route to host")

    monkeypatch.setattr(fsspec.get_filesystem_class("memory"), "_open", fail)
    assert "cannot be reached (no route to host); the cache has no other model" in complaint("memory://x.tar.xz", cache)
    assert "ftp://127.0.0.1:1/x.tar.xz: cannot be reached (" in complaint("ftp://127.0.0.1:1/x.tar.xz", cache)


def test_a_folder_is_downloaded_once_with_and_without_a_slash_at_its_end(web, cache):
    assert fetched(web.address("/one")) == fetched(web.address("/one/"))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("https://ann:secret@host/x.tar.xz", "without a user's name"),
        ("https:///x.tar.xz", "write https://host/path"),
        ("https://host/x.tar.xz#md5=1", "no # but #sha256="),
        ("https://host/x.tar.xz#sha256=12", "64 digits"),
        ("https://[host/x.tar.xz", "this is no address"),
        ("file://x.tar.xz", "three slashes"),
    ],
)
def test_wrong_addresses(address, message, cache):
    told = complaint(address, cache)
    assert message in told
    assert "secret" not in told


def test_strangers_weights_are_checked_like_any_others(web, tmp_path, shared):
    """A model whose checksums fit, but whose settings ask for other weights than it has."""
    folder = tmp_path / "large"
    folder.mkdir()
    for path in (shared / "one").glob("*.*"):
        (folder / path.name).write_bytes(path.read_bytes())
    settings = read_settings(folder)
    write_settings({**settings, "settings": {**settings["settings"], "hidden": 1_000_000_000}}, folder)
    (folder / f"{READER_JSON}.sha256").unlink()
    web.serve_folder(folder, "/large")
    with pytest.raises(ModelError, match="the files do not fit together"):
        load(web.address("/large"))
