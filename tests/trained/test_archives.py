"""Archives of strangers: nothing but the files of a model is written, within bounds, or there is an error."""

import gzip
import io
import lzma
import tarfile
import tracemalloc

import pytest

from gareader.core.errors import ModelError
from gareader.trained import remote
from gareader.trained.archives import ENTRIES, unpack

ALL = 1 << 20


def entry(name, content=b"", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def tar(*entries, format=tarfile.USTAR_FORMAT, packed=gzip.compress):
    """An archive with a model's settings, and these entries."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as archive:
        for info, content in (entry("model/reader.json", b"{}"), *entries):
            archive.addfile(info, io.BytesIO(content))
    return packed(out.getvalue())


def unpacked(content, tmp_path, limit=ALL):
    """The files of an archive by their paths."""
    (tmp_path / "archive").write_bytes(content)
    out = tmp_path / "out"
    out.mkdir()
    root = unpack(tmp_path / "archive", out, limit, "here")
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("packed", [gzip.compress, lzma.compress])
@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_archives_of_other_programs_are_read(tmp_path, packed, format):
    folder = entry("model/words", type=tarfile.DIRTYPE)
    words = entry("./model/words/vocabulary.txt", b"x" * 1000, mtime=1.5)  # a note about the time in PAX's format
    found = unpacked(tar(folder, words, format=format, packed=packed), tmp_path)
    assert found == {"reader.json": b"{}", "words/vocabulary.txt": b"x" * 1000}


def test_an_archive_without_a_folder(tmp_path):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        archive.addfile(*[entry("./reader.json", b"{}")[0], io.BytesIO(b"{}")])
    assert unpacked(out.getvalue(), tmp_path) == {"reader.json": b"{}"}


HOSTILE = {
    "a path upwards": (entry("../reader.json", b"{}"), "no place for a file"),
    "a path upwards inside": (entry("model/../../weights.safetensors"), "no place for a file"),
    "an absolute path": (entry("/tmp/weights.safetensors"), "no place for a file"),  # noqa: S108
    "a deep path": (entry("model/a/b/weights.safetensors"), "no place for a file"),
    "a hidden folder": (entry("model/.ssh/reader.json"), "no place for a file"),
    "a folder upwards": (entry("model/..", type=tarfile.DIRTYPE), "no place for a file"),
    "a symbolic link": (entry("model/weights.safetensors", type=tarfile.SYMTYPE, linkname="/etc/passwd"), "is a link"),
    "a hard link": (entry("model/weights.safetensors", type=tarfile.LNKTYPE, linkname="/etc/passwd"), "is a link"),
    "a device": (entry("model/weights.safetensors", type=tarfile.CHRTYPE, devmajor=1, devminor=5), "a device"),
    "a disk": (entry("model/weights.safetensors", type=tarfile.BLKTYPE), "a device"),
    "a pipe": (entry("model/weights.safetensors", type=tarfile.FIFOTYPE), "no file"),
    "a pickle": (entry("model/weights.pkl", b"\x80\x04."), "'model/weights.pkl' is no file of a model"),
    "torch's pickle": (entry("model/pytorch_model.bin", b"\x80\x04."), "is no file of a model"),
    "a program": (entry("model/setup.py", b"import os"), "is no file of a model"),
    "a file twice": (entry("model/reader.json", b"[]"), "is there twice"),
    "another folder": (entry("other/reader.json", b"{}"), "not of one folder"),
    "too large": (entry("model/weights.safetensors", bytes(ALL)), "unpacked it has more than"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_refused(name, tmp_path):
    hostile, message = HOSTILE[name]
    with pytest.raises(ModelError, match=message) as error:
        unpacked(tar(hostile), tmp_path)
    assert str(error.value).startswith("here: ")
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if not path.is_dir()}
    assert written <= {"archive", "out/model/reader.json", "out/other/reader.json"}


def test_the_bytes_of_all_files_count_together(tmp_path):
    content = tar(entry("model/weights.safetensors", bytes(600)), entry("model/words.safetensors", bytes(600)))
    with pytest.raises(ModelError, match="unpacked it has more than"):
        unpacked(content, tmp_path, limit=1000)


def test_an_archive_of_many_entries(tmp_path):
    with pytest.raises(ModelError, match=f"more than {ENTRIES} files and folders"):
        unpacked(tar(*[entry("model/words", type=tarfile.DIRTYPE)] * ENTRIES), tmp_path)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_long_note_takes_no_memory(tmp_path, kind):
    """tarfile would read it whole: a megabyte of gzip can take a gigabyte."""
    content = tar(entry("note", bytes(16 << 20), type=kind))
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match="something else that is no file"):
            unpacked(content, tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("packed", [gzip.compress, lzma.compress])
def test_a_truncated_archive_and_one_of_noise(tmp_path, packed):
    content = tar(entry("model/weights.safetensors", bytes(range(256)) * 99), packed=packed)
    with pytest.raises(ModelError, match="damaged or cut off"):
        unpacked(content[: len(content) // 2], tmp_path)
    for number, other in enumerate((packed(b"x" * 1024), packed(b""), packed(bytes(1024)), b"<html>")):
        (tmp_path / str(number)).mkdir()
        with pytest.raises(ModelError, match="gareader push MODEL ADDRESS"):
            unpacked(other, tmp_path / str(number))


def test_an_archive_that_needs_much_memory(tmp_path):
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    with pytest.raises(ModelError, match="Memory usage limit"):
        unpacked(tar(packed=lambda data: lzma.compress(data, filters=filters)), tmp_path)


def test_the_limit_is_a_number_of_megabytes(monkeypatch):
    assert remote.largest() == 1 << 30
    monkeypatch.setenv(remote.LIMIT, "3")
    assert remote.largest() == 3 << 20
    assert "allow more: GAREADER_MODEL_LIMIT=6" in str(remote.too_large("x"))
    monkeypatch.setenv(remote.LIMIT, "much")
    with pytest.raises(ModelError, match="GAREADER_MODEL_LIMIT is 'much'; give a number of megabytes"):
        remote.largest()
