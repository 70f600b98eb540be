"""The readers in the box: each a folder here, found by its name."""

import warnings
from pathlib import Path

from gareader.errors import CheckpointError, did_you_mean

DEFAULT = "stories"
"""The reader that answers when none is named."""

BOX = Path(__file__).parent


def names() -> list[str]:
    """The readers in the box."""
    return sorted(path.name for path in BOX.iterdir() if (path / "reader.json").exists())


def folder(reader: Path | str) -> Path:
    """The folder of a reader: in the box if that is its name; a Path, or text with a slash, is the folder itself."""
    path = Path(reader)
    if isinstance(reader, Path) or "/" in reader:
        return path
    if reader in names():
        if (path / "reader.json").exists():
            warnings.warn(f"{reader} is the reader in the box; for the folder here write ./{reader}", stacklevel=2)
        return BOX / reader
    if not path.exists():
        raise CheckpointError(
            f"{reader}: there is no such folder, and no reader in the box has that name; "
            f"{did_you_mean(reader, names())}"
        )
    return path
