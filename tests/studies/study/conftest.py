"""The files of a study."""

from dataclasses import replace

import pytest

import synthetic
from data.corpora.writers import write_jsonl
from studies.study.small_studies import READER, SMALL, STUDY


@pytest.fixture
def folder(tmp_path):
    for part, count, seed in (("train", 160, 1), ("validation", 40, 2), ("test", 30, 3)):
        write_jsonl(
            [replace(e, id=f"{part}-{i}") for i, e in enumerate(synthetic.corpus(count, seed=seed))],
            tmp_path / f"{part}.jsonl",
        )
    (tmp_path / "reader.toml").write_text(READER)
    (tmp_path / "study.toml").write_text(STUDY.format(folder=tmp_path))
    return tmp_path


@pytest.fixture
def small(folder):
    """The same with a study of one reader and a baseline, without test questions."""
    (folder / "study.toml").write_text(SMALL.format(folder=folder))
    return folder
