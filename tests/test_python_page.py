"""The page about Python: its examples run, and it has every public name."""

import re
import runpy
from typing import Any

import pytest

import gareader
from places import PROJECT

PAGE = (PROJECT / "docs" / "python.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder with the project's configs."""
    (tmp_path / "configs").symlink_to(PROJECT / "configs")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_examples_of_the_page_run_one_after_the_other(folder, capfd):
    pytest.importorskip("pandas", reason="needs pandas: pip install -c constraints.txt -e '.[dev]'")
    printed: list[str] = []
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(code, "docs/python.md", "exec"), names)  # noqa: S102
        printed.append(capfd.readouterr().out)
    question, plot, many, frame, processes, training, corpora, errors = printed
    assert re.match(r"Tom 0\.\d+\nTom +\d+\.\d%\n", question)
    assert plot == ""
    assert (folder / "attention.svg").exists()
    assert names["picture"].getvalue().startswith(b"\x89PNG")
    assert many.startswith("3 of 3\nquestion:1 Tom None\nquestion:2 ")
    assert many.endswith("drum Ben True\n")
    assert "Who opened the door?" in frame
    assert processes.count("'") == 4
    assert "100% done" in training
    assert re.search(r"^Ben +\d+\.\d%", training, re.MULTILINE)
    assert len(names["run"].metrics) >= 2
    assert (folder / "runs" / "tiny" / "best").is_dir()
    assert corpora.endswith("True\n")
    assert names["right"] > len(names["examples"]) / 2  # a guess has a quarter
    assert errors.startswith("the query has no placeholder; mark one blank")


def test_the_training_example_has_ten_lines():
    (section,) = re.findall(r"## Training in ten lines\n\n```python\n(.*?)```", PAGE, re.DOTALL)
    assert len([line for line in section.splitlines() if line]) <= 10


def test_the_page_has_every_public_name():
    table = PAGE.partition("## The public names")[2]
    assert sorted(re.findall(r"`(\w+)`", re.sub(r"\| [^|]*\|$", "", table, flags=re.MULTILINE))) == gareader.__all__


@pytest.mark.parametrize("kind", ["Prediction", "Run"])
def test_what_the_tables_say_of_an_object_it_has(kind):
    (table,) = re.findall(rf"\| of a {kind.lower()} \| \|\n(.*?)\n\n", PAGE, re.DOTALL)
    names = re.findall(r"`(\w+)(?:\(\))?`", re.sub(r"(?m)^(\|[^|]+\|).*", r"\1", table))
    assert len(names) > 3
    cls = getattr(gareader, kind)
    fields = {*getattr(cls, "__dataclass_fields__", ()), *cls.__init__.__code__.co_varnames, "position"}
    assert all(hasattr(cls, name) or name in fields for name in names)


@pytest.mark.parametrize(
    ("example", "package", "expected"),
    [
        ("data_frames", "pandas", ["___ has the drum.    Ben", "[Ben]"]),
        ("hugging_face_datasets", "datasets", ["'best': 'Mary'", "right: ", "'candidates', 'answer']"]),
    ],
)
@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_examples_run(folder, capsys, monkeypatch, example, package, expected):
    pytest.importorskip(package, reason=f"needs {package}: pip install {package}")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    runpy.run_path(str(PROJECT / "examples" / f"{example}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    for text in expected:
        assert text in printed
    assert (folder / "questions.jsonl").exists()
