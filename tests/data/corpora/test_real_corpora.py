"""The real files, where they are at hand."""

import tarfile
from pathlib import Path
from statistics import fmean

from gareader.data.corpora import read, recognise


def test_the_official_named_entity_validation_questions(shared_data: Path) -> None:
    path = shared_data / "cbt" / "cbtest_NE_valid_2000ex.txt.xz"
    assert recognise(path) == "cbt"
    examples = list(read(path))
    assert len(examples) == len({example.id for example in examples}) == 2000
    assert fmean(len(example.document) for example in examples) == 411.5795
    assert fmean(len(example.query) for example in examples) == 25.688
    assert all(len(example.candidates) == 10 for example in examples)
    answers = [example.candidates[example.answer] for example in examples if example.answer is not None]
    assert len(answers) == 2000
    assert all(word in example.document for example, (word,) in zip(examples, answers, strict=True))


def test_five_hundred_cnn_questions(shared_data: Path, tmp_path: Path) -> None:
    with tarfile.open(shared_data / "cnn" / "cnn_validation_500.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    examples = list(read(tmp_path / "validation"))
    assert len(examples) == len({example.id for example in examples}) == 500
    assert round(fmean(len(example.document) for example in examples)) == 785
    for example in examples:
        assert example.answer is not None
        assert set(example.candidates[example.answer]) <= {*example.document, *example.query}
        assert all(len(candidate) == 1 and candidate[0].startswith("@entity") for candidate in example.candidates)
