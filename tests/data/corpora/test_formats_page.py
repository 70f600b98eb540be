"""The examples on the page for users are read as what they are said to be."""

import re
from pathlib import Path

import pytest

from gareader.data.corpora import CORPORA, read, recognise
from places import PROJECT

PAGE = (PROJECT / "docs" / "formats.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("format", CORPORA)
def test_the_example_on_the_page(tmp_path: Path, format: str) -> None:
    (text,) = re.findall(rf"```{format}\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "page"
    path.write_text(text, encoding="utf-8")
    assert recognise(path) == format
    examples = list(read(path))
    assert examples
    assert examples[0].answer is not None
    assert set(examples[0].candidates[examples[0].answer]) <= set(examples[0].document)
