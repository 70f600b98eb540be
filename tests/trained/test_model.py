"""A model on disk: it comes back as it was, damage is told, and nothing good is lost while writing."""

import json
import os
import pickle
import re
import resource
import shutil
import tracemalloc
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import synthetic
from gareader.core.errors import GareaderError, ModelError
from gareader.core.whole import recover_folder
from gareader.data.batching import SPECIAL_WORDS, Collator
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.vocabulary import Alphabet, Vocabulary
from gareader.nn.tensors import tensors
from gareader.readers.reader import Basis
from gareader.trained import model, predictor
from gareader.trained.folder import (
    ALPHABET,
    DIGEST,
    READER_JSON,
    VOCABULARY,
    WEIGHTS,
    digest,
    read_settings,
    write_settings,
)
from gareader.trained.folder import WORD_TABLE as TABLE
from gareader.trained.model import Model, load, save
from gareader.trained.temperatures import Temperatures
from readers.variants import VARIANTS

WORDS = Vocabulary([*SPECIAL_WORDS, *synthetic.PEOPLE, *synthetic.THINGS, "has", "the", "."])
FILES = {READER_JSON, VOCABULARY, ALPHABET, WEIGHTS, TABLE}
UNKNOWN = Example("new", ("Zoë", "HAS", "the", "yak\u2028s", "."), (PLACEHOLDER, "has"), (("Zoë",), ("yak\u2028s",)), 0)


def made(seed=0, variant="gated-attention: default"):
    """A reader with weights that the seed decides."""
    kind, config = VARIANTS[variant]
    generator = torch.Generator().manual_seed(seed)
    alphabet = Alphabet.of([*WORDS, "ë"])
    table = torch.randn(len(WORDS), 8, generator=generator)
    reader = kind.reader(config, Basis(table, len(alphabet), generator=generator))
    collator = Collator(WORDS, alphabet, width=8, seed=seed, pretrained=len(WORDS), characters=7)
    return Model(variant.partition(":")[0], reader, collator, {"accuracy": 0.5, "named": "Zoë"})


@pytest.fixture
def folder(tmp_path):
    """A saved reader."""
    save(made(), tmp_path / "best")
    return tmp_path / "best"


def test_a_reader_says_what_wrote_it(folder):
    versions = read_settings(folder)["versions"]
    assert versions == {name: metadata.version(name) for name in ("gareader", "torch")}


def output(found):
    with torch.no_grad():
        batch = tensors(found.collator([*synthetic.corpus(3, seed=0), UNKNOWN]))
        return found.reader.eval()(batch).log_probabilities


def change(folder, **values):
    """Write other values into reader.json."""
    settings = json.loads((folder / READER_JSON).read_text(encoding="utf-8"))
    write_settings({**settings, **values}, folder)


def resum(folder):
    """Make the checksums right again, so that what is behind them is looked at."""
    change(folder, sha256={name: digest(folder / name) for name in FILES - {READER_JSON}})


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_reader_comes_back_as_it_was(variant, tmp_path):
    before = made(3, variant)
    save(before, tmp_path / "reader")
    after = load(tmp_path / "reader")
    assert not after.reader.training
    assert output(before).equal(output(after))
    assert type(after.reader) is type(before.reader)
    assert after.reader.config == before.reader.config
    assert [p.requires_grad for p in after.reader.parameters()] == [p.requires_grad for p in before.reader.parameters()]
    assert (after.name, after.notes) == (before.name, before.notes)


def test_the_collator_comes_back_as_it_was(folder):
    one, other = made().collator, load(folder).collator
    assert (one.vocabulary, one.alphabet) == (other.vocabulary, other.alphabet)
    for name in ("width", "seed", "pretrained", "characters"):
        assert getattr(one, name) == getattr(other, name)
    types, again = one([UNKNOWN]).types, other([UNKNOWN]).types
    assert types.unknown.shape == (2, 8)  # Zoë and the yak; HAS is known by its lower-case form
    for name in ("known", "unknown", "characters", "character_mask"):
        np.testing.assert_array_equal(getattr(types, name), getattr(again, name))


def test_the_folder_is_all_it_needs_and_everyone_may_read_it(folder, tmp_path):
    elsewhere = tmp_path / "another place" / "reader"
    shutil.copytree(folder, elsewhere)
    shutil.rmtree(folder)
    assert output(load(elsewhere)).equal(output(made()))
    assert {file.name for file in elsewhere.iterdir()} == FILES
    assert elsewhere.stat().st_mode & 0o555 == 0o555
    assert all(file.stat().st_mode & 0o444 == 0o444 for file in elsewhere.iterdir())


class Trap:
    """A pickle that makes a file when it is read."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


@pytest.mark.parametrize("name", sorted(FILES))
def test_nothing_is_unpickled(folder, tmp_path, name):
    (folder / name).write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    if name != READER_JSON:
        resum(folder)
    with pytest.raises(GareaderError):
        load(folder)
    assert not (tmp_path / "sprung").exists()


def complaint(folder):
    with pytest.raises(ModelError) as error:
        load(folder)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_no_reader_there(folder, tmp_path):
    assert complaint(tmp_path / "no") == f"{tmp_path / 'no'}: there is no model here (no reader.json); check the path"
    assert complaint(folder.parent).endswith(f"there is no model here (no reader.json); did you mean {folder}?")
    file = folder / READER_JSON
    assert complaint(file).startswith(f"{file}: this is a file, and a model is a folder or a name in the box; type: ")
    (folder / READER_JSON).unlink()
    assert complaint(folder) == f"{folder}: there is no model here (no reader.json); check the path"


@pytest.mark.parametrize("text", ["", '{"format": 1', "\xff"])
def test_broken_settings(folder, text):
    (folder / READER_JSON).write_text(text, encoding="latin-1")
    assert complaint(folder).startswith(f"{folder / READER_JSON}: cannot be read: ")


def test_another_format(folder):
    change(folder, format=3)
    told = "the model has format 3, this gareader reads the formats 1 and 2; update gareader"
    assert complaint(folder) == f"{folder}: {told}"
    (folder / READER_JSON).write_text("[]")
    assert (
        complaint(folder)
        == f"{folder / READER_JSON}: cannot be read: a list where an object is due; copy the model again"
    )


@pytest.mark.parametrize("name", sorted(FILES - {READER_JSON}))
def test_a_changed_byte_is_told(folder, name):
    data = bytearray((folder / name).read_bytes())
    data[-1] ^= 1
    (folder / name).write_bytes(data)
    assert complaint(folder) == f"{folder / name}: damaged: its checksum does not match; copy the model again"


@pytest.mark.parametrize("name", sorted(FILES - {READER_JSON}))
def test_a_missing_file_is_told(folder, name):
    (folder / name).unlink()
    assert complaint(folder) == f"{folder / name}: missing; copy the whole folder of the model again"


@pytest.mark.parametrize("name", ["gated-atention", ["gated-attention"]])
def test_an_unknown_reader(folder, name):
    change(folder, reader=name)
    told = complaint(folder)
    assert told.startswith(f"{folder}: no reader is called {name!r}; did you mean 'gated-attention'?")
    assert told.endswith("if it is of a package, install that, or name its module with --import")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"settings": {"hidden": 7}}, "document_grus.0.bias is (2, 1, 1, 18) where (2, 1, 1, 21) is due"),
        (
            {"settings": {"hidden": 6, "hops": 4}},
            "document_grus.2.input_weight is (2, 14, 18) where (2, 12, 18) is due",
        ),
        ({"settings": {"hidden": 6, "colour": "red"}}, "reader.colour is no setting"),
        ({"words": {"width": 9, "seed": 0}}, f"{len(WORDS)} words of width 9, but a word table of ({len(WORDS)}, 8)"),
        ({"words": {"width": 8}}, "seed"),
        ({"words": {"width": 8, "seed": 0, "colour": 1}}, "colour"),
        ({"words": {"width": 8, "seed": 0, "characters": 10**9}}, "words.characters = 1000000000 is too large"),
        ({"sha256": []}, "'sha256' is a list where an object is due"),
        ({"sha256": {"../secret": "x"}}, "vocabulary.txt"),
        (
            {"words": {"width": 8, "seed": 0, "anonymity": "ordered", "marks": 10**10}},
            "10000000000 marks and 0 words with a vector, but a vocabulary of",
        ),
        ({"words": {"width": 8, "seed": 0, "anonymity": "hidden"}}, "words.anonymity = 'hidden' is not known"),
    ],
)
def test_files_that_do_not_fit_together(folder, changes, message):
    change(folder, **changes)
    told = complaint(folder)
    assert told.startswith(f"{folder}: the files do not fit together (")
    assert told.endswith("); copy the model again")
    assert message in told
    assert len(told) < 500


def test_weights_of_another_vocabulary_do_not_fit(folder):
    words = load_file(folder / TABLE)
    save_file({name: rows[1:].clone() for name, rows in words.items()}, folder / TABLE)
    resum(folder)
    assert "but a word table of" in complaint(folder)


@pytest.mark.parametrize("name", ["save_file", "digest"])
@pytest.mark.parametrize(
    ("failure", "seen"),
    [
        (OSError(28, "No space left on device"), ModelError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_a_failure_while_writing_leaves_the_old_reader(folder, monkeypatch, name, failure, seen):
    def fail(*args, **kwargs):
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(model, name, fail)
        with pytest.raises(seen) as error:
            save(made(1), folder)
        if seen is ModelError:
            assert str(error.value) == f"{folder}: the model cannot be written: No space left on device"
        with pytest.raises(seen):
            save(made(1), folder.with_name("fresh"))
    assert list(folder.parent.iterdir()) == [folder]
    assert output(load(folder)).equal(output(made()))


@pytest.mark.parametrize(
    ("failure", "seen"), [(OSError(5, "Input/output error"), ModelError), (KeyboardInterrupt(), KeyboardInterrupt)]
)
@pytest.mark.parametrize("failing", ["best", ".best.new"])
def test_a_failure_between_the_renames_leaves_the_old_reader(folder, monkeypatch, failing, failure, seen):
    rename = Path.rename

    def fail(path, target):
        if path.name == failing:
            raise failure
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", fail)
        with pytest.raises(seen):
            save(made(1), folder)
    assert list(folder.parent.iterdir()) == [folder]
    assert output(load(folder)).equal(output(made()))


def test_a_full_disk_leaves_the_old_reader(folder):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(ModelError, match=r"best: the model cannot be written: .*File too large"):
            save(made(1), folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(folder.parent.iterdir()) == [folder]
    assert output(load(folder)).equal(output(made()))


def test_a_reader_replaces_a_reader_but_nothing_else(folder):
    save(made(1), folder)
    assert output(load(folder)).equal(output(made(1)))
    assert list(folder.parent.iterdir()) == [folder]
    (folder / READER_JSON).unlink()
    with pytest.raises(ModelError, match="this holds something else than a model; choose another folder"):
        save(made(2), folder)
    assert {file.name for file in folder.iterdir()} == FILES - {READER_JSON}


def test_a_folder_without_a_name_is_not_replaced(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for nameless in (".", "..", "/"):
        with pytest.raises(ModelError, match=r"a model's folder needs a name; write one, for example .*packed"):
            save(made(1), nameless)
    assert output(load(".")).equal(output(made()))


def test_what_killed_processes_left_is_cleared_away(folder):
    for name in (".best.new", ".best.old"):
        shutil.copytree(folder, folder.with_name(name))
        (folder.with_name(name) / "half").touch()
    save(made(1), folder)
    assert list(folder.parent.iterdir()) == [folder]
    assert {file.name for file in folder.iterdir()} == FILES


def test_a_crash_between_the_renames_is_mended(folder):
    folder.rename(folder.with_name(".best.old"))  # what a crash there leaves
    recover_folder(folder)
    assert output(load(folder)).equal(output(made()))
    assert list(folder.parent.iterdir()) == [folder]


def test_a_reader_that_is_there_is_not_replaced_by_an_older_one(folder):
    save(made(1), folder.with_name(".best.old"))
    recover_folder(folder)
    assert output(load(folder)).equal(output(made()))


def test_there_is_nothing_to_mend(tmp_path):
    recover_folder(tmp_path / "best")
    assert list(tmp_path.iterdir()) == []


def test_a_reader_without_a_temperature_answers_at_one_and_a_wrong_one_is_told(folder):
    settings = json.loads((folder / READER_JSON).read_text(encoding="utf-8"))
    del settings["temperature"], settings["proposed_temperature"]
    write_settings(settings, folder)
    assert load(folder).temperatures == Temperatures(1.0, 1.0)
    for wrong in (0, -1.5, "warm"):
        for key in ("temperature", "proposed_temperature"):
            change(folder, **{"temperature": 1.0, "proposed_temperature": 1.0, key: wrong})
            assert "the files do not fit together" in complaint(folder)


def test_any_digit_of_the_settings_that_changes_is_told(folder):
    text = (folder / READER_JSON).read_text(encoding="utf-8")
    places = [match.start() for match in re.finditer(r"\d", text)]
    assert len(places) > 100
    for place in places:
        digit = (int(text[place]) + 1) % 10
        (folder / READER_JSON).write_text(f"{text[:place]}{digit}{text[place + 1 :]}", encoding="utf-8")
        with pytest.raises(ModelError, match=r"reader\.json: (damaged: its checksum|cannot be read)|has format"):
            read_settings(folder)


def test_the_layout_of_the_settings_does_not_matter_and_a_folder_without_their_checksum_is_read(folder):
    settings = read_settings(folder)
    (folder / READER_JSON).write_text(json.dumps(settings, indent=7), encoding="utf-8")
    assert read_settings(folder) == settings
    del settings[DIGEST]
    (folder / READER_JSON).write_text(json.dumps(settings), encoding="utf-8")
    load(folder)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("file", [WEIGHTS, TABLE])
def test_weights_that_are_not_finite_are_refused(tmp_path, packed, value, file):
    save(made(), tmp_path / "best", packed=packed)
    arrays = load_file(tmp_path / "best" / file)
    name = next(name for name, array in arrays.items() if array.dtype != torch.int8)
    arrays[name].view(-1)[3] = value
    save_file(arrays, tmp_path / "best" / file)
    resum(tmp_path / "best")
    for read in (load, predictor.load):
        with pytest.raises(ModelError, match=re.escape(f"({name} has a number that is not finite)")):
            read(tmp_path / "best")


def test_weights_of_another_type_are_refused(tmp_path):
    save(made(), tmp_path / "best")
    arrays = load_file(tmp_path / "best" / WEIGHTS)
    name = next(iter(arrays))
    arrays[name] = arrays[name].long()
    save_file(arrays, tmp_path / "best" / WEIGHTS)
    resum(tmp_path / "best")
    for read in (load, predictor.load):
        with pytest.raises(ModelError, match=re.escape(f"({name} has numbers of type int64)")):
            read(tmp_path / "best")


@pytest.mark.parametrize("scale", [float("inf"), 1e308])
def test_a_scale_that_no_vector_can_have_is_refused(folder, scale):
    change(folder, words={**read_settings(folder)["words"], "unknown_scale": scale})
    with pytest.raises(ModelError, match=r"words\.unknown_scale = .* is "):
        predictor.load(folder)


@pytest.mark.parametrize("settings", [{"hidden": 20_000}, {"hops": 10**6}, {"hops": 10**18}])
def test_settings_that_ask_for_more_than_there_is_are_refused_before_room_is_made(folder, settings):
    change(folder, settings={**read_settings(folder)["settings"], **settings})
    tracemalloc.start()
    try:
        for read in (load, predictor.load):
            with pytest.raises(ModelError, match="the files do not fit together"):
                read(folder)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_layers_of_another_reader_are_refused_before_room_is_made(tmp_path):
    save(made(variant="deep-lstm: default"), tmp_path)
    for count in ({"layers": 10**6}, {"hidden": 10**6}):
        change(tmp_path, settings={**read_settings(tmp_path)["settings"], **count})
        with pytest.raises(ModelError, match="the files do not fit together"):
            load(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"words": {"width": 8, "seed": 0, "characters": "ten"}},
        {"words": {"width": 8, "seed": 0, "pretrained": -1}},
        {"words": {"width": 8, "seed": 0, "unknown_scale": [1]}},
        {"words": None},
        {"notes": []},
        {"settings": []},
        {"temperature": 10**400},
        {"temperature": None},
        {"temperature": "nan"},
        {"words_of": "."},
    ],
)
def test_settings_of_other_types(folder, changes):
    change(folder, **changes)
    for read in (load, predictor.load):
        with pytest.raises(ModelError):
            read(folder)


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(folder, name):
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert "this is a pipe or a device and no file" in complaint(folder)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"format": ' + "1" * 5000 + "}", "null", '{"a":' * 100_000])
def test_settings_that_no_parser_takes(folder, text):
    (folder / READER_JSON).write_text(text)
    assert complaint(folder).startswith(f"{folder / READER_JSON}: cannot be read: ")
