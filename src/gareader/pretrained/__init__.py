"""The readers in the box: each a folder here, found by its name."""

from pathlib import Path

from gareader.errors import CheckpointError, did_you_mean

DEFAULT = "stories"
"""The reader that answers when none is named."""

BOX = Path(__file__).parent


def names() -> list[str]:
    """The readers in the box."""
    return sorted(path.name for path in BOX.iterdir() if (path / "reader.json").exists())


def folder(reader: Path | str) -> Path:
    """The folder of a reader: in the box if that is its name, else the path itself."""
    if str(reader) in names():
        return BOX / reader
    path = Path(reader)
    if not path.exists() and len(path.parts) == 1:
        raise CheckpointError(
            f"{reader}: there is no such folder, and no reader in the box has that name; "
            f"{did_you_mean(str(reader), names())}"
        )
    return path
