"""What all pictures share: colours, an empty figure, and how it is written."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from gareader.errors import GareaderError
from gareader.whole import check_folder, whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
"""Okabe and Ito's, which colour-blind people tell apart too."""

KINDS = (".png", ".svg", ".pdf")


def empty_figure(width: float, height: float) -> "Figure":
    """A figure of so many inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise GareaderError("pictures need matplotlib; type: pip install 'gareader[plot]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def check_picture(path: Path) -> None:
    """Complain if no picture can be written there; to be asked before long work."""
    if path.suffix.lower() not in KINDS:
        raise GareaderError(f"{path}: a picture is PNG, SVG or PDF; end its name with {', '.join(KINDS)}")
    check_folder(path)
    empty_figure(1, 1)


def save(figure: "Figure", path: Path) -> None:
    """Write a picture; the ending of the name decides its kind."""
    check_picture(path)
    with whole_file(path, sync=False) as new, warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        figure.savefig(new, format=path.suffix[1:].lower(), dpi=150)
    boxes = "the font of pictures lacks some characters of this text; they are drawn as boxes"
    told = (str(warning.message) for warning in heard)
    for text in dict.fromkeys(boxes if "missing from font" in each else each for each in told):
        warnings.warn(f"{path}: {text}", stacklevel=2)
