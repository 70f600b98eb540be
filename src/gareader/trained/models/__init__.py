"""The models in the box: each is a folder here, found by its name."""

import warnings
from pathlib import Path

from gareader.core.errors import ModelError, did_you_mean
from gareader.data.addresses import is_address
from gareader.trained.folder import ARCHIVES

DEFAULT = "general"
"""The model that answers when none is named."""

BOX = Path(__file__).parent


def names() -> list[str]:
    return sorted(path.name for path in BOX.iterdir() if (path / "reader.json").exists())


def folder(model: Path | str) -> Path:
    """The folder of a model, which is given by its name in the box, by a Path or text with a slash, or by an address.

    A model at an address, and one in an archive, is downloaded to the cache.
    """
    path = Path(model)
    if is_address(model) or (path.name.endswith(ARCHIVES) and path.is_file()):
        from gareader.trained.fetching import fetched  # it imports the network

        return fetched(str(model))
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
