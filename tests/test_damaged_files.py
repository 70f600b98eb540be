"""Files of every kind that we read, damaged at random: an error of ours, or none at all; never a traceback."""

import gzip
import json
import lzma
from contextlib import suppress
from dataclasses import asdict
from random import Random

import pytest

from benchmarks import damage
from gareader.core.claims import read_claim
from gareader.core.config import load_table
from gareader.core.errors import GareaderError
from gareader.data import corpora
from gareader.data.sources import read_examples
from gareader.data.vectors import read_vectors
from gareader.data.vocabulary import Vocabulary
from gareader.measuring.comparison import read_outcomes
from gareader.plots.comparison import read_accuracies
from gareader.plots.curves import read_metrics
from gareader.studies.study import Study
from gareader.studies.study.results import RESULTS, Result, read_results
from gareader.studies.tuning.plan import Plan
from gareader.trained.folder import READER_JSON, read_settings, write_settings
from gareader.training.experiment import Experiment
from gareader.training.run import METRICS
from places import PROJECT, SAMPLES

MUTATIONS = 12
"""Of each kind of file."""
HOSTILE = [
    b"[" * 3000,
    b'{"a":' * 3000,
    b"9" * 5000,
    b"null",
    b"[]",
    b"{}",
    b"\x00",
    b"\xff",
    b'"',
    b"\n",
    b"<mc>",
    b"1e999",
]
TINY = (PROJECT / "configs" / "tiny.toml").read_bytes()
REPORT = {"examples": 9, "correct": 5, "accuracy": 5 / 9, "interval": [0.2, 0.8]}
RESULT = Result("k", "r", "c", 1.0, 1, {"test": {"file": "f", **REPORT}}, {"train.seed": 1}).record()
LINE = {"step": 1, "epoch": 1, "examples": 8, "loss": 0.5, "accuracy": 0.5, "learning_rate": 0.1}


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def settings_file(folder):
    write_settings({"format": 1, "settings": {}, "words": {}, "sha256": {}, "notes": {}, "temperature": 1.0}, folder)
    return (folder / READER_JSON).read_bytes()


def all_of(path):
    return list(read_examples(path))


KINDS = {
    "reader.json": (READER_JSON, settings_file, lambda path: read_settings(path.parent)),
    "settings.toml": ("tiny.toml", TINY, lambda path: Experiment.from_table(load_table(path))),
    "study.toml": (
        "study.toml",
        (PROJECT / "configs" / "studies" / "tiny.toml").read_bytes(),
        lambda path: Study.load(path),
    ),
    "space.toml": (
        "space.toml",
        b"[reader.hidden]\nvalues = [16, 32]\n",
        lambda path: Plan.load(PROJECT / "configs" / "tiny.toml", path, ()),
    ),
    "settings.json of a run": (
        "settings.json",
        json.dumps({"data": {"train": "a", "validation": "b"}, "reader": {"hops": 1}, "train": {"seed": 1}}).encode(),
        lambda path: Experiment.from_table(read_claim(path, "no claim")),
    ),
    "predictions": ("p.jsonl", lines({"id": "a", "correct": True}, {"id": "b", "correct": False}), read_outcomes),
    "accuracies": ("a.jsonl", lines({"reader": "x", "corpus": "c", **REPORT}), read_accuracies),
    "metrics": (METRICS, lines(LINE, LINE), lambda path: read_metrics(path.parent)),
    "results of a study": (RESULTS, lines(RESULT, RESULT), lambda path: read_results(path.parent)),
    "vectors": ("vectors.txt", b"the 0.1 0.2 0.3\nfox 1 2 3\n", read_vectors),
    "vocabulary": ("vocabulary.txt", "the\nfox\nZoë\n".encode(), Vocabulary.read),
    "cbt": ("cbt.txt", (SAMPLES / "cbt.txt").read_bytes(), all_of),
    "question": ("a.question", (SAMPLES / "question" / "vote.question").read_bytes(), all_of),
    "wdw": ("wdw.xml", (SAMPLES / "wdw.xml").read_bytes(), all_of),
    "jsonl": ("q.jsonl", (SAMPLES / "questions.jsonl").read_bytes(), all_of),
    "gz": ("cbt.txt.gz", gzip.compress((SAMPLES / "cbt.txt").read_bytes()), all_of),
    "xz": ("cbt.txt.xz", lzma.compress((SAMPLES / "cbt.txt").read_bytes()), all_of),
}


def mutated(text, chance):
    """The text with a part missing, twice there or replaced by something hostile, or one byte changed."""
    start = chance.randrange(len(text))
    end = min(len(text), start + chance.randrange(1, 40))
    middle = chance.choice(
        [b"", text[start:end] * 2, chance.choice(HOSTILE), bytes([text[start] ^ 1 << chance.randrange(8)])]
    )
    return text[:start] + middle + text[end if middle != text[start:end] else start + 1 :]


@pytest.mark.parametrize("kind", KINDS)
def test_no_traceback_for_any_file(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(PROJECT)
    name, good, read = KINDS[kind]
    text = good if isinstance(good, bytes) else good(tmp_path)
    path, chance = tmp_path / name, Random(kind)
    path.write_bytes(text)
    read(path)  # what is not damaged is read
    for number in range(MUTATIONS + len(HOSTILE)):
        path.write_bytes(mutated(text, chance) if number < MUTATIONS else HOSTILE[number - MUTATIONS])
        with suppress(GareaderError):
            read(path)


def test_every_format_is_damaged():
    assert {*corpora.CORPORA} <= {*KINDS}


def test_a_byte_of_a_model_a_corpus_or_a_state_is_told_or_without_effect(tmp_path):
    results = [damage.outcomes(kind, 12, Random(kind.name)) for kind in damage.made(tmp_path)]
    assert len(results) == 5
    for each in results:
        told = asdict(each)
        assert (told["wrong"], told["tracebacks"], told["errors"] + told["unchanged"]) == (0, 0, 12)
        assert told["errors"] > 5, told
