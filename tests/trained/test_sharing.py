"""Models for others: complete wherever they are loaded, the same bytes each time, and nothing replaced unasked."""

import json
import shutil
import tarfile
from pathlib import Path

import fsspec
import pytest

import synthetic
from gareader.core.errors import ModelError
from gareader.trained import models
from gareader.trained.archives import CARD
from gareader.trained.card import Facts, accuracy, card, without_header
from gareader.trained.folder import READER_JSON, WEIGHTS, read_settings, write_settings
from gareader.trained.predictor import load
from gareader.trained.remote import Address
from gareader.trained.sharing import push
from packed_readers import made, write_box, write_vectors
from web import serving

CORPUS = synthetic.corpus(6, seed=5)
FACTS = Facts("one", "mit", ("someone/stories",))


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    """Three packed readers that share a folder of words, and an ensemble of two of them."""
    folder = tmp_path_factory.mktemp("sharing")
    made(write_box(folder / "box", write_vectors(folder / "vectors.txt")), "one", "two", temperature=0.7)
    return folder / "box"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GAREADER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "cache"


def answers(model):
    return [prediction.log_probabilities for prediction in load(model).predict(CORPUS)]


def pushed(model, address, **options):
    return push(model, Address.of(str(address)), FACTS, **options)


@pytest.mark.parametrize("name", ["one", "all"])
@pytest.mark.parametrize("end", [".tar.xz", ".tar.gz", ""])
@pytest.mark.parametrize("place", ["file://{}/there/{}", "local://{}/there/{}", "memory://{}/{}", "{}/there/{}", "web"])
def test_what_is_pushed_answers_as_before(box, tmp_path, name, end, place):
    """A path, file:// without fsspec, fsspec's two file systems, and http without fsspec; a model and an ensemble."""
    (tmp_path / "there").mkdir()
    pattern = "{}/there/{}" if place == "web" else place
    there = pushed(box / name, pattern.format(tmp_path, f"model of {name}{end}"))
    if place != "web":
        assert answers(there.pinned) == answers(there.address) == answers(box / name)
        return
    with serving() as web:
        web.serve_folder(tmp_path / "there", "/my models")
        web.pages = {path.replace(" ", "%20"): page for path, page in web.pages.items()}
        addresses = [web.address(f"/my models/model of {name}{end}") + pin for pin in ("", f"#sha256={there.sha256}")]
        assert [answers(address) for address in addresses] == [answers(box / name)] * 2
        asked = dict(web.asked)
        assert [answers(address) for address in addresses] == [answers(box / name)] * 2
        assert web.asked == asked  # once


def test_a_model_alone_is_complete_and_an_ensemble_has_its_words_once(box, tmp_path):
    pushed(box / "one", tmp_path / "one")
    assert "words_of" not in read_settings(tmp_path / "one")
    pushed(box / "all", tmp_path / "all")
    inside = sorted(path.relative_to(tmp_path / "all").as_posix() for path in tmp_path.joinpath("all").rglob("*.*"))
    assert [path for path in inside if path.endswith("words.safetensors")] == ["words/words.safetensors"]
    assert {"README.md", "reader.json.sha256", "one/reader.json", "two/weights.safetensors"} <= {*inside}


def test_the_same_model_gives_the_same_bytes(box, tmp_path):
    first = pushed(box / "all", tmp_path / "first.tar.xz")
    moved = shutil.copytree(box, tmp_path / "moved")
    for path in moved.rglob("*.*"):
        path.chmod(0o600)
    again = pushed(moved / "all", "memory://again/second.tar.xz")
    assert first.sha256 == again.sha256
    with tarfile.open(tmp_path / "first.tar.xz") as archive:
        entries = archive.getmembers()
    assert {(each.mtime, each.uid, each.gid, each.uname, each.mode) for each in entries} == {(0, 0, 0, "", 0o644)}
    assert (tmp_path / "first.tar.xz.sha256").read_text() == f"{first.sha256}  first.tar.xz\n"


@pytest.mark.parametrize("place", ["{}/x.tar.xz", "{}/x", "memory://{}/x.tar.xz", "memory://{}/x"])
def test_nothing_is_replaced_without_force(box, tmp_path, place):
    pushed(box / "one", place.format(tmp_path))
    with pytest.raises(ModelError, match="something here already; to replace it type: --force"):
        pushed(box / "two", place.format(tmp_path))
    there = pushed(box / "two", place.format(tmp_path), force=True)
    assert answers(there.pinned) == answers(box / "two")


def test_a_folder_of_something_else_is_kept_even_with_force(box, tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "to_ann.txt").write_text("Dear Ann")
    with pytest.raises(ModelError, match="this holds something else than a model"):
        pushed(box / "one", tmp_path / "letters", force=True)
    (tmp_path / "folder.tar.xz").mkdir()
    with pytest.raises(ModelError, match="this is a folder; choose another name"):
        pushed(box / "one", tmp_path / "folder.tar.xz", force=True)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("https://host/x.tar.xz", r"nothing is written with https; .*gareader push MODEL \./x\.tar\.xz"),
        ("memory://x.tar.xz#sha256=" + "0" * 64, "the checksum is made when the model is written"),
        ("nonsense://x.tar.xz", "nonsense.*; addresses begin with https://"),
        ("file://x.tar.xz", "three slashes"),
    ],
)
def test_addresses_that_cannot_be_written_to(box, address, message):
    with pytest.raises(ModelError, match=message):
        pushed(box / "one", address)


def test_a_place_that_refuses_is_told(box, monkeypatch):
    system = fsspec.filesystem("memory")

    def refuse(*arguments, **options):
        raise RuntimeError("over the quota")

    monkeypatch.setattr(type(system), "_open", refuse)
    with pytest.raises(ModelError, match=r"cannot be written \(over the quota\); check the address and the right"):
        pushed(box / "one", "memory://full/x.tar.xz")


def test_a_damaged_model_is_not_pushed(box, tmp_path):
    copy = shutil.copytree(box, tmp_path / "copy")
    content = bytearray((copy / "one" / WEIGHTS).read_bytes())
    content[-1] ^= 1
    (copy / "one" / WEIGHTS).write_bytes(content)
    with pytest.raises(ModelError, match="checksum does not match"):
        pushed(copy / "one", tmp_path / "x.tar.xz")
    assert not (tmp_path / "x.tar.xz").exists()


def test_no_folder_of_this_machine_is_told(box, tmp_path):
    copy = shutil.copytree(box, tmp_path / "copy")
    settings = json.loads((copy / "one" / READER_JSON).read_text())
    notes = {"settings": {"data": {"train": "/home/ann/secret/train.txt"}, "train": {"start": "/home/ann/runs/x"}}}
    write_settings({**settings, "notes": notes}, copy / "one")
    made(copy, "one", "two", out="new")
    for name in ("one", "new"):
        pushed(copy / name, tmp_path / "out" / name)
    told = "".join(path.read_text() for path in (tmp_path / "out").rglob("*.[jm]*"))
    assert "train.txt" in told
    assert "ann" not in told


def test_the_header_is_what_hubs_read():
    yaml = pytest.importorskip("yaml", reason="needs PyYAML to read the header")
    settings = read_settings(models.BOX / "stories")
    text = card(FACTS, settings)
    header = yaml.safe_load(text.split("---\n")[1])
    assert (header["license"], header["language"], header["library_name"]) == ("mit", ["en"], "gareader")
    assert header["datasets"] == ["someone/stories"]
    assert {"gareader", "gated-attention"} <= {*header["tags"]}
    assert header["metrics"] == ["accuracy"]
    (result,) = header["model-index"][0]["results"]
    accuracy = settings["notes"]["measured"]["accuracy"]
    assert result["metrics"] == [{"type": "accuracy", "value": accuracy, "name": "Accuracy"}]
    assert result["dataset"]["name"] == "cbtest_NE_valid_2000ex.txt.xz"
    assert f"**Accuracy: {accuracy:.1%}**" in without_header(text)
    assert "datasets" not in yaml.safe_load(card(Facts("x"), settings).split("---\n")[1])  # a file is none of a hub
    strange = {"reader": 'a": \x1b\x7f\n- b', "notes": {"measured": {"corpus": "é\u2028: - x", "accuracy": 1}}}
    header = yaml.safe_load(card(Facts("---\nlicense: x"), strange).split("\n---\n")[0])
    assert header["tags"][1] == 'a": \x1b\x7f\n- b'
    assert "license" not in header


@pytest.mark.parametrize("measured", [None, 3, {}, {"corpus": "x"}, {"corpus": 1, "accuracy": 0.5}])
def test_notes_without_an_accuracy_have_none(measured):
    assert accuracy({"measured": measured}) is None
    assert "model-index" not in card(Facts("x"), {"notes": {"measured": measured, "settings": 3}})


def test_a_card_of_ones_own(box, tmp_path):
    there = pushed(box / "one", tmp_path / "one", text="# Mine\n")
    written = (tmp_path / "one" / CARD).read_text()
    assert written.startswith("---\nlibrary_name: gareader\n")
    assert without_header(written) == "# Mine\n"
    whole = "---\nlicense: gpl\n---\n# Mine\n"
    pushed(box / "one", tmp_path / "one", text=whole, force=True)
    assert (tmp_path / "one" / CARD).read_text() == whole
    assert Path(tmp_path / "one" / f"{READER_JSON}.sha256").read_text().startswith(there.sha256)
