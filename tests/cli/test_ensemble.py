"""Ensembles as a user meets them: `gareader ensemble`, `pack --words`, and every command that takes a reader."""

import json

import httpx
import pytest

import synthetic
from gareader.trained import model, models
from gareader.trained.predictor import load
from packed_readers import made, trained, write_box, write_vectors, written
from serve.serving import served

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")
CORPUS = synthetic.corpus(12, seed=5)


@pytest.fixture
def vectors(tmp_path):
    """A file of word vectors."""
    return write_vectors(tmp_path / "vectors.txt")


@pytest.fixture
def box(tmp_path, vectors):
    """Three packed readers of different sizes and kinds, which share a folder of words."""
    return write_box(tmp_path / "box", vectors)


def test_answer_evaluate_and_serve_say_the_same(box, gareader, tmp_path):
    """And so do an ensemble on disk and the same readers evaluated side by side."""
    folder = made(box, "one", "two", "three", temperature=1.5)
    question = {
        "document": "Ann has the lamp . Ben has the drum .",
        "query": "XXXXX has the drum .",
        "candidates": ["Ann", "Ben"],
    }
    corpus, predictions = tmp_path / "corpus.jsonl", tmp_path / "predictions.jsonl"
    corpus.write_text(json.dumps({**question, "answer": "Ben"}) + "\n")
    (tmp_path / "story.txt").write_text(question["document"])
    asked = ["--document", tmp_path / "story.txt", "--query", question["query"], "--candidates", "Ann|Ben"]
    code, out, err = gareader("answer", "--model", folder, *asked, "--json")
    assert (code, err) == (0, "")
    answer = shares(json.loads(out))
    assert gareader("evaluate", folder, corpus, "--predictions", predictions)[0] == 0
    evaluated = shares(json.loads(predictions.read_text()))
    with served({"all": load(folder)}) as address:
        over_http = shares(httpx.post(f"{address}answer", json=question, trust_env=False).json())
    assert answer == pytest.approx(evaluated)
    assert answer == pytest.approx(over_http)
    gareader("evaluate", *(box / name for name in ("one", "two", "three")), corpus, "--predictions", predictions)
    beside = shares(json.loads(predictions.read_text()))
    roots = {name: share ** (1 / 1.5) for name, share in beside.items()}
    assert answer == pytest.approx({name: r / sum(roots.values()) for name, r in roots.items()})


def shares(record):
    return {each["answer"]: each["probability"] for each in record["ranking"]}


def test_the_command_measures_and_calibrates(box, gareader, tmp_path, monkeypatch):
    monkeypatch.setattr(models, "BOX", box)
    corpora = {name: tmp_path / f"{name}.jsonl" for name in ("measure", "calibrate")}
    for seed, path in enumerate(corpora.values()):
        path.write_text("".join(map(written, synthetic.corpus(30, seed=seed))))
    command = ["ensemble", "one", "two", "--out", box / "both", "--about", "who has what"]
    code, out, err = gareader(*command, "--measure", corpora["measure"], "--calibrate", corpora["calibrate"], "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["reader"], told["members"], told["about"]) == ("ensemble", ["one", "two"], "who has what")
    needed = [*box.glob("one/*"), *box.glob("two/*"), *box.glob("words/*"), *box.glob("both/*")]
    assert told["bytes"] == sum(file.stat().st_size for file in needed)
    assert load("both").temperatures.given != 1.0  # type: ignore[attr-defined]
    report = json.loads(gareader("evaluate", "both", corpora["measure"], "--json")[1])
    assert told["measured"]["accuracy"] == report["accuracy"]
    assert told["measured"]["loss"] == pytest.approx(report["loss"])
    assert told["measured"]["interval"] == pytest.approx(report["interval"])
    listed = {row["name"]: row for row in map(json.loads, gareader("models", "--json")[1].splitlines())}
    assert listed["both"] == told
    assert "who has what" in gareader("models")[1]
    assert gareader("analyse", "both", corpora["measure"])[0] == 0
    plain = gareader("ensemble", "one", "two", "--out", box / "plain")[1]
    assert plain == f"{box / 'plain'}: {sum(f.stat().st_size for f in needed) / 1e6:.1f} MB, temperature 1.000\n"
    assert gareader("serve", "both", "--check")[1].startswith("both: ready")


def test_a_picture_of_an_ensembles_attention(box, gareader, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "corpus.jsonl").write_text(written(CORPUS[0]))
    arguments = "--reader", made(box, "one", "three"), "--corpus", tmp_path / "corpus.jsonl"
    assert gareader("plot", "attention", *arguments, "--out", tmp_path / "picture.png")[0] == 0
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_packing_against_words(vectors, gareader, tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(map(written, CORPUS)))
    for seed in (1, 2):
        model.save(trained(vectors, seed, hidden=4), tmp_path / f"run{seed}")
    box = tmp_path / "box"
    packing = "--measure", corpus, "--words", box / "words"
    assert gareader("pack", tmp_path / "run1", "--out", box / "one", *packing, "--vectors", vectors)[0] == 0
    assert sorted(path.name for path in box.iterdir()) == ["one", "words"]
    code, out, err = gareader("pack", tmp_path / "run2", "--out", box / "two", *packing, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["bytes"] == sum(
        file.stat().st_size for name in ("two", "words") for file in (box / name).iterdir()
    )
    # not a word of the corpus, but of the file
    assert load(box / "two").collator.row("gold") is not None  # type: ignore[attr-defined]
    accuracy = json.loads(gareader("evaluate", box / "two", corpus, "--json")[1])["accuracy"]
    assert json.loads(out)["measured"]["accuracy"] == accuracy
    for words, problem in (
        (tmp_path / "words", "words that models share lie beside them; name a folder such as"),
        (box / "three", "words that models share lie beside them"),
        (box / "one", "there are no words here (no vocabulary.txt); choose another folder"),
        (box / "a|b", "this name is of other than letters"),
    ):
        code, out, err = gareader("pack", tmp_path / "run1", "--out", box / "three", *packing[:2], "--words", words)
        assert (code, out) == (1, "")
        assert err.startswith(f"gareader: {words}: {problem}")
        assert not (box / "three").exists()
