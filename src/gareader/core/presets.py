"""The settings files that come with gareader: presets of runs, studies and search spaces, each found by its name."""

from pathlib import Path

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
        return path
    known = by_name(kind)
    name = path.name.replace("_", "-")
    if name not in known:
        raise ConfigError(f"{given}: there is no such file, and no preset has that name; {did_you_mean(name, known)}")
    return known[name]


def located(path: Path | str) -> Path:
    """Where a file to read is: gareader's own one for `configs/…`, unless the current folder has it."""
    own = FOLDER / str(path).removeprefix("configs/")
    return own if str(path).startswith("configs/") and own.exists() and not Path(path).exists() else Path(path)
