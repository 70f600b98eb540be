"""Runs the code cells of a notebook in one namespace, as Jupyter does, without Jupyter.

`python tests/notebook_cells.py notebooks/*.ipynb` writes what the cells print into the notebooks.
"""

import ast
import json
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from places import PROJECT


def run(notebook: dict[str, Any], folder: Path, parameters: dict[str, object] | None = None) -> list[str]:
    """What each code cell prints; `parameters` are set after the cell with the tag parameters."""
    (folder / "notebooks").mkdir()
    (folder / "examples").symlink_to(PROJECT / "examples")
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = []
    with chdir(folder / "notebooks"):
        for number, cell in enumerate(each for each in notebook["cells"] if each["cell_type"] == "code"):
            with redirect_stdout(StringIO()) as out:
                _cell("".join(cell["source"]), f"cell {number + 1}", names)
            printed.append(out.getvalue())
            if "parameters" in cell["metadata"].get("tags", ()):
                names |= parameters or {}
    return printed


def _cell(code: str, name: str, names: dict[str, Any]) -> None:
    """Execute a cell; the value of its last expression is shown as a notebook would show it."""
    tree = ast.parse(code, name)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)  # noqa: S102
    if last is not None:
        assert isinstance(last, ast.Expr)
        value = eval(compile(ast.Expression(last.value), name, "eval"), names)  # noqa: S307
        if value is not None:
            getattr(value, "_repr_html_", value.__repr__)()


def rewrite(path: Path) -> None:
    """Run a notebook and write what its cells print into it."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        printed = run(notebook, Path(folder))
    for cell, text in zip((each for each in notebook["cells"] if each["cell_type"] == "code"), printed, strict=True):
        lines = text.splitlines(keepends=True)
        cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines}] * bool(lines)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        rewrite(Path(argument).resolve())
