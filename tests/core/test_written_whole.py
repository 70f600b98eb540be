"""Files are written whole or not at all, and locks are held by one; reading files is tested with the corpora."""

import os
import resource
from pathlib import Path

import pytest

from gareader.core.claims import locked
from gareader.core.errors import GareaderError, TrainingError
from gareader.core.whole import recover_folder, whole_file, whole_folder, written_whole


def test_a_file_appears_only_when_it_is_complete(tmp_path):
    path = tmp_path / "lines.txt"
    with written_whole(path) as file:
        file.write("one\n")
        file.flush()
        assert not path.exists()
        file.write("zwölf\n")
    assert path.read_bytes() == "one\nzwölf\n".encode()
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o644


def test_who_may_read_it_is_as_the_user_wants(tmp_path):
    before = os.umask(0o077)
    try:
        with written_whole(tmp_path / "mine.txt") as file:
            file.write("one\n")
    finally:
        os.umask(before)
    assert (tmp_path / "mine.txt").stat().st_mode & 0o777 == 0o600


def test_what_is_no_file_is_written_to_and_stays(tmp_path):
    with written_whole(Path(os.devnull)) as file:
        file.write("one\n")
    assert Path(os.devnull).is_char_device()
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with written_whole(tmp_path / "pipe") as file:
        file.write("one\n")
    assert os.read(reader, 9) == b"one\n"
    os.close(reader)


def test_the_old_content_stays_until_then(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("old")
    with written_whole(path) as file:
        file.write("new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def write_half(path, failure):
    with written_whole(path) as file:
        file.write("half a li")
        file.flush()
        raise failure


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), ValueError("no"), KeyboardInterrupt()])
@pytest.mark.parametrize("before", [None, "old"])
def test_a_failure_leaves_what_was_there(tmp_path, before, failure):
    path = tmp_path / "lines.txt"
    if before:
        path.write_text(before)
    with pytest.raises(type(failure)):
        write_half(path, failure)
    assert [file.read_text() for file in tmp_path.iterdir()] == ([before] if before else [])


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
def test_an_interrupt_at_the_end_leaves_what_was_there(tmp_path, monkeypatch, step):
    path = tmp_path / "lines.txt"
    path.write_text("old")

    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(step, interrupt)
    with pytest.raises(KeyboardInterrupt), written_whole(path) as file:
        file.write("new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_what_was_there(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="File too large"), written_whole(path) as file:
            file.write("x" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_no_such_folder(tmp_path):
    nowhere = tmp_path / "nowhere"
    with pytest.raises(GareaderError) as error, written_whole(nowhere / "lines.txt"):
        pytest.fail("opened")
    assert str(error.value) == f"{nowhere / 'lines.txt'}: there is no folder {nowhere}; type: mkdir -p {nowhere}"


@pytest.mark.parametrize("sync", [True, False])
def test_a_file_that_another_program_writes_by_its_name(tmp_path, sync):
    """Even one that puts a file of its own there, which only the owner may read."""
    with whole_file(tmp_path / "numbers", sync=sync) as new:
        assert new.parent == tmp_path
        new.unlink()
        new.touch(0o600)
        new.write_bytes(b"123")
    assert (tmp_path / "numbers").read_bytes() == b"123"
    assert (tmp_path / "numbers").stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [tmp_path / "numbers"]


def test_a_link_is_replaced_by_the_file(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with written_whole(tmp_path / "link") as file:
        file.write("new")
    assert ((tmp_path / "link").read_text(), (tmp_path / "target").read_text()) == ("new", "old")
    assert not (tmp_path / "link").is_symlink()


def test_what_a_killed_process_left_is_overwritten_by_the_only_one_that_writes(tmp_path):
    (tmp_path / ".state.new").write_text("half")
    (tmp_path / ".best.new").mkdir()
    (tmp_path / ".best.new" / "half").touch()
    with whole_file(tmp_path / "state", sole=True) as new:
        new.write_text("whole")
    with whole_folder(tmp_path / "best", sole=True) as folder:
        (folder / "whole").touch()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["best", "state", "whole"]


def filled(path, failure=None, **how):
    """Write a folder with a file in it."""
    with whole_folder(path, **how) as new:
        (new / "inside").mkdir()
        (new / "inside" / "file").touch(0o600)
        if failure:
            raise failure


@pytest.mark.parametrize("sole", [True, False])
def test_a_folder_appears_only_when_it_is_complete(tmp_path, sole):
    path = tmp_path / "above" / "folder"
    for failure in (OSError(28, "No space left on device"), KeyboardInterrupt()):
        with pytest.raises(type(failure)):
            filled(path, failure, sole=sole)
        assert list(path.parent.iterdir()) == []
    with whole_folder(path, sole=sole):
        assert not path.exists()
    path.rmdir()
    filled(path, sole=sole)
    assert list(path.parent.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o755
    assert (path / "inside" / "file").stat().st_mode & 0o777 == 0o644


def test_a_folder_for_the_user_alone(tmp_path):
    before = os.umask(0o077)
    try:
        filled(tmp_path / "mine", sync=False)
    finally:
        os.umask(before)
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o700


def test_a_folder_that_is_there_is_replaced_only_by_its_sole_writer(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    filled(path)  # an empty one
    (path / "old").touch()
    with pytest.raises(OSError, match="not empty"):
        filled(path)
    assert (path / "old").exists()
    filled(path, sole=True)
    assert not (path / "old").exists()
    assert list(tmp_path.iterdir()) == [path]


def test_two_processes_that_write_one_folder_do_not_mix(tmp_path):
    with pytest.raises(OSError, match="not empty"), whole_folder(tmp_path / "folder"):
        filled(tmp_path / "folder")
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["inside"]
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_a_crash_between_two_renames_is_mended(tmp_path):
    filled(tmp_path / "folder")
    (tmp_path / "folder").rename(tmp_path / ".folder.old")
    recover_folder(tmp_path / "folder")
    assert (tmp_path / "folder" / "inside").exists()


def test_a_lock_is_held_by_one(tmp_path):
    with (
        locked(tmp_path / "run" / "lock", "wait"),
        pytest.raises(TrainingError, match="run: wait"),
        locked(tmp_path / "run" / "lock", "wait"),
    ):
        pytest.fail("held twice")
    with locked(tmp_path / "run" / "lock", "wait"):
        pass
