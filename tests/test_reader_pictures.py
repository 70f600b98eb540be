"""The pictures of the readers' architectures: one for each, drawn by their script, and shown in the document."""

import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from gareader.readers.settings import SETTINGS
from places import PROJECT

FOLDER = PROJECT / "docs" / "pictures" / "readers"
PICTURES = {f"{name}.svg" for name in SETTINGS}


def test_the_script_draws_exactly_the_committed_pictures(tmp_path):
    subprocess.run([sys.executable, FOLDER / "draw.py", tmp_path], check=True)
    drawn = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert drawn.keys() == PICTURES
    assert drawn == {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.svg")}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_reader_has_its_picture_in_the_document_with_a_sentence(name):
    page = (PROJECT / "docs" / "readers.md").read_text(encoding="utf-8")
    caption = rf"^### {name}\n\n!\[[^]]+\]\(pictures/readers/{name}\.svg\)\n\n[A-Z][^#]{{40,}}?\.$"
    assert re.search(caption, page, re.MULTILINE)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_picture_is_small_and_says_what_it_shows(name):
    path = FOLDER / f"{name}.svg"
    assert path.stat().st_size < 40_000
    picture = ElementTree.parse(path).getroot()  # noqa: S314  our own file
    title, description = (picture.findtext(f"{{http://www.w3.org/2000/svg}}{part}") for part in ("title", "desc"))
    assert title
    assert description
    assert int(picture.attrib["width"]) == 720
