"""The version stands in pyproject.toml; everything else takes it from there or must equal it."""

import re
import subprocess
import sys
import tomllib

import gareader
from places import PROJECT

PROJECT_TABLE = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_package_and_the_command_know_their_version(capsys):
    from gareader.cli.app import app

    assert gareader.__version__ == PROJECT_TABLE["version"]
    app(["--version"], result_action="return_value")
    assert capsys.readouterr().out.strip() == PROJECT_TABLE["version"]


def test_the_import_does_not_look_for_the_version():
    code = "import sys, gareader; assert 'importlib.metadata' not in sys.modules; print(gareader.__version__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == PROJECT_TABLE["version"]


def test_citation_and_changelog_have_the_same_version():
    version = PROJECT_TABLE["version"]
    citation = (PROJECT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [version]
    newest = re.search(r"^## (\S+)", (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest
    assert newest[1] == version


def test_every_version_of_python_that_is_named_is_allowed():
    named = re.findall(r":: 3\.(\d+)$", "\n".join(PROJECT_TABLE["classifiers"]), re.MULTILINE)
    least = re.fullmatch(r">=3\.(\d+)", PROJECT_TABLE["requires-python"])
    assert least
    assert min(map(int, named)) == int(least[1])
