"""What the documents say is so: examples run, files named exist, public names resolve."""

import re
from pathlib import Path

import pytest

import gareader

PROJECT = Path(__file__).parents[1]
README = (PROJECT / "README.md").read_text(encoding="utf-8")


def test_the_python_example_of_the_readme_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 12
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102
    printed = capsys.readouterr().out
    assert re.search(r"Mary Ann +\d+\.\d%", printed)
    assert re.search(r"Tom +\d+\.\d%", printed)


def test_the_map_names_every_module():
    named = set(re.findall(r"^\| `src/gareader/(\w+)(?:\.py|/)` \|", README, re.MULTILINE))
    source = PROJECT / "src" / "gareader"
    there = {
        path.stem for path in source.iterdir() if path.suffix == ".py" or (path.is_dir() and any(path.glob("*.*")))
    }
    assert named == there - {"__init__", "__main__", "__pycache__"}


@pytest.mark.parametrize("document", sorted((PROJECT / "docs").rglob("*.md")) + sorted(PROJECT.glob("*.md")), ids=str)
def test_links_lead_somewhere(document):
    text = document.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (document.parent / target).exists(), target


def test_public_names():
    assert gareader.__all__ == sorted(gareader.__all__)
    for name in gareader.__all__:
        assert getattr(gareader, name).__doc__
        assert name in dir(gareader)
    with pytest.raises(AttributeError, match="nothing"):
        gareader.nothing  # noqa: B018
    source = (PROJECT / "src" / "gareader" / "__init__.py").read_text(encoding="utf-8")
    typed = {name: module for module, name in re.findall(r"from gareader\.([\w.]+) import (\w+) as \2", source)}
    assert typed == gareader.HOMES


def test_the_reader_page_names_functions_that_exist():
    page = (PROJECT / "docs" / "reader.md").read_text(encoding="utf-8")
    code = "\n".join(path.read_text(encoding="utf-8") for path in (PROJECT / "src").rglob("*.py"))
    code += (PROJECT / "tests" / "reference.py").read_text(encoding="utf-8")
    for name in re.findall(r"`(?:nn|reference|predictor|batching|vectors)\.(?:\w+\.)*(\w+)`", page):
        assert re.search(rf"(?:def|class) {name}\b|^{name}\b", code, re.MULTILINE), name
