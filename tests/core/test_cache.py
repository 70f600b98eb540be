"""Files that were verified before: remembered while they are unchanged, and only then."""

import os
import pkgutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from random import Random
from unittest.mock import patch

import pytest

from benchmarks import damage, verifying
from gareader.core import cache
from gareader.core.cache import Verified
from waiting import wait_until


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache of its own, which remembers files as soon as they are older than some ticks of the clock."""
    monkeypatch.setenv("GAREADER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "SETTLED", damage.SETTLED)
    return tmp_path / "cache" / "verified"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"content")
    return path


def settled(path, checksum=""):
    """The file when its last change is old enough."""
    wait_until(lambda: Verified(path, checksum)._settled)
    return Verified(path, checksum)


def test_a_file_is_remembered_with_its_checksum(file, folder):
    verified = settled(file, "1234")
    assert not verified
    verified.remember()
    assert Verified(file, "1234")
    with file.open("rb") as opened:
        assert Verified(opened.fileno(), "1234")
    assert not Verified(file, "1235")
    assert [record.read_bytes() for record in folder.iterdir()] == [b""]
    assert folder.stat().st_mode & 0o777 == 0o700


def replaced(path):
    path.with_name("new").write_bytes(b"Content")
    path.with_name("new").replace(path)


def moved_back(path):
    before = path.stat()
    path.write_bytes(b"Content")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_bytes(b"Content"),
        lambda path: path.write_bytes(b"contents"),
        lambda path: os.truncate(path, 3),
        replaced,
        moved_back,
    ],
    ids=["rewritten", "longer", "cut off", "replaced", "with the old time"],
)
def test_a_changed_file_is_not_known(change, file, folder):
    settled(file).remember()
    assert Verified(file)
    change(file)
    assert not Verified(file)
    assert not settled(file)


def test_a_file_that_has_just_changed_is_not_remembered(file, folder, monkeypatch):
    monkeypatch.setattr(cache, "SETTLED", 60)
    Verified(file).remember()
    assert not folder.exists()
    monkeypatch.setattr(cache, "SETTLED", -1)
    Verified(file).remember()
    monkeypatch.setattr(cache, "SETTLED", 60)
    assert not Verified(file)


def test_a_file_of_the_future_is_not_remembered(file, folder):
    os.utime(file, (4e9, 4e9))
    Verified(file).remember()
    assert not folder.exists()


@pytest.mark.parametrize("age", [cache.REMEMBERED + 1, -60], ids=["old", "of the future"])
def test_a_record_is_good_for_a_day(age, file, folder):
    settled(file).remember()
    [record] = folder.iterdir()
    written = record.stat().st_mtime - age
    os.utime(record, (written, written))
    assert not Verified(file)
    Verified(file).remember()
    assert Verified(file)


def test_there_are_only_so_many_records(file, folder, monkeypatch):
    monkeypatch.setattr(cache, "_MOST", 3)
    for number in range(5):
        settled(file, str(number)).remember()
    assert len([*folder.iterdir()]) == 3
    assert [bool(Verified(file, str(number))) for number in (0, 4)] == [False, True]


@pytest.mark.parametrize("obstacle", ["file", "folder in the way", "no home"])
def test_without_a_cache_nothing_is_remembered_and_nothing_fails(obstacle, file, folder, monkeypatch):
    if obstacle == "file":
        folder.parent.write_text("")
    elif obstacle == "folder in the way":
        (folder / "old").mkdir(parents=True)
        os.utime(folder / "old", (0, 0))
    else:
        for name in ("GAREADER_CACHE", "XDG_CACHE_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    verified = settled(file)
    verified.remember()
    assert not verified


def test_many_processes_remember_at_once(file, folder):
    settled(file)
    with ThreadPoolExecutor(8) as threads:
        [*threads.map(lambda number: Verified(file, str(number)).remember(), range(40))]
    settled(file, "last").remember()
    assert Verified(file, "last")


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    return {kind.name: kind for kind in damage.made(tmp_path_factory.mktemp("files"))}


def computed_sums(read):
    """How many checksums of files are computed while it reads."""
    names = [name for name in verifying.CHECKSUMS if not name.endswith("settings_digest")]
    with ExitStack() as stack:
        computing = [patch(name, autospec=True, side_effect=pkgutil.resolve_name(name)) for name in names]
        mocks = [stack.enter_context(each) for each in computing]
        read()
        return sum(mock.call_count for mock in mocks)


@pytest.mark.parametrize("name", ["model", "packed model", "prepared corpus", "corpus in shards", "state of a run"])
def test_files_are_verified_once_and_again_when_they_have_changed(name, kinds, folder):
    kind = kinds[name]
    for path in kind.files:
        settled(path)
    assert computed_sums(kind.read) > 0
    assert computed_sums(kind.read) == 0
    result = damage.outcomes(kind, 12, Random(name))
    assert (result.wrong, result.tracebacks) == (0, 0)
    assert result.errors > 6
