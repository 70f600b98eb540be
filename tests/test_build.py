"""The wheel: for one platform and any Python, with the native kernel if there is a compiler, and else without it.

With it alone, the commands of README work in a folder that is no clone.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zipfile

import pytest

import pages
from places import PROJECT

pytest.importorskip("setuptools.command.bdist_wheel", reason="needs setuptools, which builds the wheel")

pytestmark = pytest.mark.slow

LIBRARY = "gareader/kernels/libgru.so"
RUN = """
import sys
import gareader.cli
assert gareader.__file__.startswith(sys.argv.pop(1)), gareader.__file__
gareader.cli.main()
"""
PLATFORM = sysconfig.get_platform().replace("-", "_").replace(".", "_")


def copied(folder):
    """A copy of the project without what was built before."""
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, folder)
    for name in ("native", "src"):
        shutil.copytree(
            PROJECT / name, folder / name, ignore=shutil.ignore_patterns("*.so", "*.egg-info", "__pycache__")
        )
    return folder


def build(project, **environment):
    """The wheel and what was said while it was built."""
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-v", "."]
    done = subprocess.run(
        command,
        cwd=project,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = project.glob("*.whl")
    return wheel, done.stdout + done.stderr


def names(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.mark.skipif(
    not shutil.which((os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]),
    reason="needs a C compiler",
)
def test_with_a_compiler(tmp_path):
    wheel, _ = build(copied(tmp_path))
    assert wheel.name.endswith(f"-py3-none-{PLATFORM}.whl")
    assert LIBRARY in names(wheel)
    assert not [name for name in names(wheel) if name.endswith((".c", ".h"))]


@pytest.fixture(scope="module")
def built_without_a_compiler(tmp_path_factory):
    return build(copied(tmp_path_factory.mktemp("project")), CC="/bin/false")


def test_without_a_compiler(built_without_a_compiler):
    wheel, said = built_without_a_compiler
    assert 'building extension "gareader.kernels.libgru" failed' in said
    assert wheel.name.endswith("-py3-none-any.whl")
    assert LIBRARY not in names(wheel)
    assert "gareader/kernels/library.py" in names(wheel)
    data = (
        "trained/models/words/words.safetensors",
        "trained/models/stories.md",
        "data/language/name_words.toml",
        "data/language/news_words.tsv",
        "building/kind_words.toml",
        "building/story_words.txt",
        "plots/notebook.css",
        "serve/page/index.html",
        "data/stories/stories.jsonl",
    )
    assert {f"gareader/{name}" for name in data} <= set(names(wheel))
    configs = {f"gareader/{path.relative_to(PROJECT)}" for path in (PROJECT / "configs").rglob("*") if path.is_file()}
    assert {name for name in names(wheel) if name.startswith("gareader/configs/")} == configs


def test_the_commands_of_the_readme_work_with_the_wheel_alone(built_without_a_compiler, tmp_path):
    wheel, _ = built_without_a_compiler
    installed, folder = tmp_path / "installed", tmp_path / "folder"
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", installed, wheel]
    subprocess.run([*install, "--no-compile"], capture_output=True, check=True)
    folder.mkdir()
    readme = pages.blocks((PROJECT / "README.md").read_text(encoding="utf-8"))
    lines = [line for block in readme if block.language == "bash" for line in pages.commands(block.code)]
    commands = [[*shlex.split(line, comments=True)[1:], *["--check"] * (line.split()[1] == "serve")] for line in lines]
    assert {command[0] for command in commands} >= {"answer", "serve", "train", "evaluate", "plot", "build"}
    environment = {**os.environ, "PYTHONPATH": str(installed), "GAREADER_GRU": "none"}
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-c", RUN, installed, *command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert {path.name for path in folder.iterdir()} == {"runs", "tiny.jsonl", "attention.png", "corpus"}
