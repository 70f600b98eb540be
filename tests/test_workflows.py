"""The workflows and the other scripts of CI call targets that the Makefile has, on the versions of Python we name."""

import re
import tomllib

import pytest

from places import PROJECT

WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))
TARGETS = {*re.findall(r"^([a-z][\w-]*):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)}


@pytest.mark.parametrize("path", [*WORKFLOWS, PROJECT / ".ci" / "run"], ids=lambda path: path.name)
def test_the_targets_exist(path):
    called = re.findall(r"^(?: *- run: )?make ([\w-]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert called
    assert {*called} <= TARGETS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_version_of_python_that_is_named_is_tested(path):
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r":: (3\.\d+)$", "\n".join(project["classifiers"]), re.MULTILINE)
    (tested,) = re.findall(r"python: \[(.+)\]", path.read_text(encoding="utf-8"))
    assert re.findall(r'"(.+?)"', tested) == named
