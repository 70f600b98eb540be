"""The settings files that come with gareader: presets of runs, studies and search spaces, each found by its name."""

from pathlib import Path
from typing import Any

from gareader.core.errors import ConfigError, did_you_mean

FOLDER = Path(__file__).parents[1] / "configs"
"""All of them, with the tiny corpus; in a clone it is a link to the folder `configs`."""
RUNS, STUDIES, SWEEPS = "", "studies", "sweeps"
"""The folders below, by what the files are for: `gareader train`, `gareader study` and `gareader tune --space`."""


def by_name(kind: str) -> dict[str, Path]:
    """The files of one kind by their names, such as cbt-ne."""
    return {path.stem.replace("_", "-"): path for path in sorted((FOLDER / kind).glob("*.toml"))}


def settings_file(given: Path | str, kind: str = RUNS) -> Path:
    """A settings file, given by its path, or by its name as a preset; raise ConfigError for an unknown name."""
    path = Path(given)
    if path.is_file() or path.suffix or len(path.parts) != 1:
        return Path(located(str(path)))
    known = by_name(kind)
    name = path.name.replace("_", "-")
    if name not in known:
        raise ConfigError(f"{given}: there is no such file, and no preset has that name; {did_you_mean(name, known)}")
    return known[name]


def located(value: Any) -> Any:
    """The value with each path `configs/…` that is not in the current folder replaced by gareader's own file."""
    if isinstance(value, dict):
        return {key: located(inner) for key, inner in value.items()}
    if isinstance(value, str) and value.startswith("configs/") and not Path(value).exists():
        own = FOLDER / value.removeprefix("configs/")
        return str(own) if own.exists() else value
    return value
