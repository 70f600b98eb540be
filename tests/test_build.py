"""The wheel: for one platform and any Python, with the native kernel if there is a compiler, and else without it."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile

import pytest

from places import PROJECT

pytest.importorskip("setuptools.command.bdist_wheel", reason="needs setuptools, which builds the wheel")

pytestmark = pytest.mark.slow

LIBRARY = "gareader/kernels/libgru.so"
PLATFORM = sysconfig.get_platform().replace("-", "_").replace(".", "_")


@pytest.fixture
def project(tmp_path):
    """A copy without what was built before."""
    folder = tmp_path / "project"
    folder.mkdir()
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
def test_with_a_compiler(project):
    wheel, _ = build(project)
    assert wheel.name.endswith(f"-py3-none-{PLATFORM}.whl")
    assert LIBRARY in names(wheel)
    assert not [name for name in names(wheel) if name.endswith((".c", ".h"))]


def test_without_a_compiler(project):
    wheel, said = build(project, CC="/bin/false")
    assert 'building extension "gareader.kernels.libgru" failed' in said
    assert wheel.name.endswith("-py3-none-any.whl")
    assert LIBRARY not in names(wheel)
    assert "gareader/kernels/library.py" in names(wheel)
    data = (
        "trained/models/words/words.safetensors",
        "trained/models/stories.md",
        "data/language/name_words.toml",
        "data/language/news_words.tsv",
        "building/story_words.txt",
        "serve/page/index.html",
        "data/stories/stories.jsonl",
    )
    assert {f"gareader/{name}" for name in data} <= set(names(wheel))
    configs = {f"gareader/{path.relative_to(PROJECT)}" for path in (PROJECT / "configs").rglob("*") if path.is_file()}
    assert {name for name in names(wheel) if name.startswith("gareader/configs/")} == configs
