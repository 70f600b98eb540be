"""ONNX files: onnxruntime gives the probabilities of our own kernel, whatever is beside a question in its batch."""

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import real_data
import synthetic
from gareader.core.errors import ModelError
from gareader.data import corpora
from gareader.data.examples import PLACEHOLDER, Example
from gareader.readers.features import FEATURES
from gareader.trained import export_onnx, model, models
from gareader.trained.folder import read_settings
from gareader.trained.predictor import Predictor, load
from packed_readers import trained, write_box, write_vectors
from places import PROJECT

onnx = pytest.importorskip("onnx", reason="needs the extra export: pip install 'gareader[export]'")
onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra export: pip install 'gareader[export]'")

QUESTIONS = list(corpora.read(real_data.PIECES / "cbt" / "cbtest_NE_valid_40ex.txt"))[::8]
SHIPPED = [name for name in models.names() if "ensemble" not in read_settings(models.folder(name))]


def session(folder):
    return onnxruntime.InferenceSession(export_onnx.onnx_file(folder), providers=["CPUExecutionProvider"])


def probabilities(session, predictor, examples):
    """By onnxruntime, of each question's candidates."""
    names = [each.name for each in session.get_inputs()]
    temperatures = [*map(predictor.temperatures.of_example, examples)]
    inputs = export_onnx.feeds(predictor.collator(examples), temperatures, names)
    (rows,) = session.run([export_onnx.OUTPUT], inputs)
    return [np.exp(row[: len(example.candidates)]) for row, example in zip(rows, examples, strict=True)]


def ours(predictor, examples):
    return [np.exp(prediction.log_probabilities) for prediction in predictor.predict(examples)]


def assert_close(found, expected):
    for each, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(each, other, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_models_on_real_questions(name):
    predictor, network = load(name), session(models.folder(name))
    together = probabilities(network, predictor, QUESTIONS)
    assert_close(together, ours(predictor, QUESTIONS))
    assert len({len(example.document) for example in QUESTIONS}) > 1  # so that there is padding
    alone = [probabilities(network, predictor, [example])[0] for example in QUESTIONS[:2]]
    np.testing.assert_allclose(np.concatenate(alone), np.concatenate(together[:2]), rtol=0, atol=1e-5)


def test_both_numbers_of_hops_are_among_them():
    assert {read_settings(models.folder(name))["settings"]["hops"] for name in SHIPPED} == {1, 2}


VARIANTS: dict[str, dict[str, Any]] = {
    "the paper's": {"hops": 3},
    "one hop": {"hops": 1},
    "cudnn's cell": {"cell": "cudnn"},
    "addition": {"gate": "add"},
    "concatenation": {"gate": "concatenate"},
    "whole query": {"query_attention": "whole", "cloze": "ends"},
    "whole query, concatenated": {"query_attention": "whole", "gate": "concatenate"},
    "no attention": {"query_attention": "none", "hops": 2},
    "words alone": {"characters": False, "feature": False},
    "all features": dict.fromkeys(("feature", *FEATURES), True),
    "own words": {"update_words": True},
    "mean of a candidate's words": {"pointer": "mean"},
}
RARE = Example(
    "rare",
    ("Zebra", "has", "gold", ".", *["Ann", "has"] * 70, "Zebra"),
    ("the", "gold", "of", PLACEHOLDER, "has", "gold"),
    (("Zebra", "Ann"), ("gold",), ("Ann",), ("nobody",)),
    0,
)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant(name, tmp_path):
    """Large weights make the differences between variants large; words nobody knows, and absent candidates."""
    reader = trained(write_vectors(tmp_path / "vectors.txt"), 3, temperature=0.6, hidden=5, **VARIANTS[name])
    for weight in reader.reader.parameters():
        weight.data *= 5
    model.save(reader, tmp_path / "model")
    predictor = load(tmp_path / "model")
    examples = [*synthetic.corpus(3, seed=2), RARE]
    found = probabilities(session(tmp_path / "model"), predictor, examples)
    assert_close(found, ours(predictor, examples))
    assert found[-1][-1] == 0
    assert max(map(max, found)) > 0.5


def test_a_question_whose_candidates_are_all_absent():
    predictor, network = load("stories-one-hop"), session(models.folder("stories-one-hop"))
    nothing = replace(QUESTIONS[0], candidates=(("nobody",), ("noone",)), answer=None)
    found = probabilities(network, predictor, [nothing, QUESTIONS[1]])
    assert found[0].tolist() == [0, 0]
    assert_close(found[1:], ours(predictor, [QUESTIONS[1]]))


def test_the_file_has_what_other_programs_need_and_is_always_the_same():
    folder, predictor = models.folder("stories"), load("stories")
    assert isinstance(predictor, Predictor)
    content = export_onnx.onnx_file(folder)
    assert content == export_onnx.onnx_file(folder)
    props = {each.key: each.value for each in onnx.load_model_from_string(content).metadata_props}
    assert props["vocabulary"].split("\n") == list(predictor.collator.vocabulary)
    letters = props["alphabet"].split("\n")
    assert [1 + letters.index(letter) for letter in "Tom"] == predictor.collator.alphabet.encode(["Tom"], 10)[0][
        0
    ].tolist()
    assert json.loads(props["temperatures"])["temperature"] == predictor.temperatures.given
    assert json.loads(props["words"])["pretrained"] == predictor.collator.pretrained


def test_what_onnx_files_are_not_written_for(tmp_path, monkeypatch):
    box = write_box(tmp_path / "box", write_vectors(tmp_path / "vectors.txt"))
    with pytest.raises(ModelError, match="a reader of the kind 'bidaf'; only gated-attention is written"):
        export_onnx.onnx_file(box / "three")
    with pytest.raises(ModelError, match="this is an ensemble, and a single model is needed"):
        export_onnx.onnx_file(models.folder("stories-ensemble"))
    monkeypatch.setattr(export_onnx, "LARGEST", 1000)
    with pytest.raises(ModelError, match="an ONNX file has at most 2 GB; pack it first"):
        export_onnx.onnx_file(box / "one")


def test_the_program_on_the_page_runs(tmp_path, monkeypatch, capsys):
    page = (PROJECT / "docs" / "sharing.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(import gareader\nimport numpy.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stories.onnx").write_bytes(export_onnx.onnx_file(models.folder("stories")))
    exec(compile(code, "sharing.md", "exec"), {})  # noqa: S102
    printed = dict(line.split() for line in capsys.readouterr().out.splitlines())
    story = "Tom gave the lamp to Ann. Ann put the lamp on the table, and Tom went home."
    expected = load("stories").answer(story, "XXXXX has the lamp.", ["Tom", "Ann"])
    assert {name: float(share) for name, share in printed.items()} == pytest.approx(dict(expected.ranking), abs=1e-3)


def test_the_page_has_every_input():
    page = (PROJECT / "docs" / "sharing.md").read_text(encoding="utf-8")
    table = page.partition("| input |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [*export_onnx.INPUTS, export_onnx.TEMPERATURE]
