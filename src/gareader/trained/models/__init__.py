"""The models in the box: each is a folder here, found by its name."""

import warnings
from pathlib import Path

from gareader.core.errors import ModelError, did_you_mean

DEFAULT = "general"
"""The model that answers when none is named."""

BOX = Path(__file__).parent


def names() -> list[str]:
    """The names of the models in the box."""
    return sorted(path.name for path in BOX.iterdir() if (path / "reader.json").exists())


def folder(model: Path | str) -> Path:
    """The folder of a model, which is given by its name in the box, or by a Path or text with a slash."""
    path = Path(model)
    if isinstance(model, Path) or "/" in model:
        return path
    if model in names():
        if (path / "reader.json").exists():
            warnings.warn(f"{model} is the model in the box; for the folder here write ./{model}", stacklevel=2)
        return BOX / model
    if not path.exists():
        raise ModelError(
            f"{model}: there is no such folder, and no model in the box has that name; {did_you_mean(model, names())}"
        )
    return path
