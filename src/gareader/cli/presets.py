"""The command that lists the settings files that come with gareader, and copies them: presets."""

import json
import re
import shlex
import shutil
from pathlib import Path

from rich.console import Console
from rich.table import Table

from gareader.cli.app import Json, tell
from gareader.core.errors import GareaderError
from gareader.core.presets import FOLDER, RUNS, STUDIES, SWEEPS, by_name
from gareader.core.whole import whole_folder

SENTENCE = re.compile(r"(?<!et al)\.(?: |$)")
"""The end of a sentence."""
COMMANDS = {RUNS: "gareader train {}", STUDIES: "gareader study {}", SWEEPS: "gareader tune {0} --space {0}"}


def presets(*, out: Path | None = None, as_json: Json = False) -> None:
    """List the settings files that come with gareader, or copy them with the tiny corpus, to read and to change.

    Example: `gareader presets`

    Parameters
    ----------
    out
        Copy all of them to this new folder; call it configs, as in the examples of the documentation.
    """
    if out is not None:
        copy(out)
        example = shlex.join(["gareader", "train", str(out / "tiny.toml")])
        tell({"folder": str(out)}, f"{out}: settings files and the tiny corpus; try: {example}", as_json)
        return
    lines = {COMMANDS[kind].format(name): path for kind in COMMANDS for name, path in by_name(kind).items()}
    records = [{"command": command, "about": about(path), "file": str(path)} for command, path in lines.items()]
    if as_json:
        print("\n".join(json.dumps(record, ensure_ascii=False) for record in records))
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("command", no_wrap=True)
    table.add_column("what it is", overflow="fold")
    for record in records:
        table.add_row(record["command"], record["about"])
    Console().print(table)


def about(path: Path) -> str:
    """The first sentence of the comment that a settings file begins with."""
    comment = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("# ") or line.startswith(("# Command", "# Vectors")):
            break
        comment.append(line.removeprefix("# "))
    return SENTENCE.split(" ".join(comment), maxsplit=1)[0]


def copy(out: Path) -> None:
    """Copy the folder whole or not at all; raise GareaderError if there is something in its place."""
    if out.exists():
        raise GareaderError(f"{out}: this is there already, and nothing in it was changed; choose another --out")
    with whole_folder(out) as new:
        shutil.copytree(FOLDER, new, dirs_exist_ok=True, copy_function=shutil.copyfile)
