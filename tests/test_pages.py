"""The commands, the Python and the notebooks of the documents run, and print what the documents show."""

import json
import re
import shlex
import shutil
import subprocess
import sys

import pytest

import pages
from gareader.cli.app import app
from gareader.readers import registry
from notebook_cells import run
from places import PROJECT

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")

DOCS = PROJECT / "docs"
RUN = ["docs/tutorial.md", "docs/exercises.md", "docs/guides/comparing.md"]
PARSED = ["docs/guides/commands.md", "README.md"]
LONG = {"bench", "serve", "study", "train", "tune", "vectors", "pack", "ensemble"}
"""Commands of the list that are only parsed here; their own tests run them."""


@pytest.fixture(autouse=True)
def _as_before(monkeypatch):
    """Readers of a page stay in its test, and no learning curves are drawn: those take longer than the training."""
    monkeypatch.setattr(registry, "_outside", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr("gareader.cli.train.draw", lambda *_, **__: None)
    yield
    sys.modules.pop("my_reader", None)


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_a_page_prints_what_it_shows(page, tmp_path):
    folder = pages.Folder(tmp_path, quick=True)
    blocks = pages.blocks((PROJECT / page).read_text(encoding="utf-8"))
    assert sum(block.shown is not None for block in blocks) >= 2
    for block in blocks:
        assert block.shown != "", f"{page} does not show what this prints: {block.code}"
        folder.check(block)


@pytest.mark.slow
@pytest.mark.parametrize("page", PARSED)
def test_the_commands_of_a_list_run_in_any_folder(page, tmp_path):
    lines = [
        line
        for block in pages.blocks((PROJECT / page).read_text(encoding="utf-8"))
        if block.language == "bash"
        for line in pages.commands(block.code)
    ]
    assert len(lines) > 5
    folder = pages.Folder(tmp_path, project=False)
    for line in lines:
        words = shlex.split(line, comments=True)
        assert words[0] == "gareader"
        app.parse_args(words[1:], exit_on_error=False, print_error=False)
        if words[1] not in LONG and "runs/tiny" not in line and "tiny.jsonl" not in line:
            assert folder.run(line) or words[1] == "plot", line


def test_the_list_has_every_command():
    listed = (DOCS / "guides" / "commands.md").read_text(encoding="utf-8")
    assert {name for name in app if not name.startswith("-")} == {*re.findall(r"^gareader (\w+)", listed, re.MULTILINE)}


def test_the_readme_is_short_and_has_the_two_commands():
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 120
    assert re.search(r"^make demo .*\nmake test ", readme, re.MULTILINE)


@pytest.mark.parametrize("notebook", sorted((PROJECT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
@pytest.mark.slow
def test_a_notebook_runs(notebook, tmp_path):
    content = json.loads(notebook.read_text(encoding="utf-8"))
    printed = run(content, tmp_path, {"EPOCHS": 1})
    stored = [cell["outputs"] for cell in content["cells"] if cell["cell_type"] == "code"]
    assert [bool(text) for text in printed] == [bool(outputs) for outputs in stored]
    assert notebook.stat().st_size < 20_000


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mkdocs", path=f"{PROJECT}/.venv/bin") is None, reason="needs the extra docs")
def test_the_site_has_no_broken_link_and_loads_nothing_from_elsewhere(tmp_path):
    command = [f"{PROJECT}/.venv/bin/mkdocs", "build", "--strict", "--quiet", "--site-dir", f"{tmp_path}"]
    built = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    for page in tmp_path.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe|link)\b[^>]*(?:src|href)=\"?(?:https?:)?//[^>]*>", text)
        assert loaded == [], page
