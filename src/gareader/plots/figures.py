"""What all pictures share: colours, an empty figure, and how it is written."""

from pathlib import Path
from typing import TYPE_CHECKING

from gareader.errors import GareaderError

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


def save(figure: "Figure", path: Path) -> None:
    """Write a picture; the ending of the name decides its kind."""
    if path.suffix.lower() not in KINDS:
        raise GareaderError(f"{path}: a picture is PNG, SVG or PDF; end its name with {', '.join(KINDS)}")
    new = path.with_name(f".{path.name}.new")
    try:
        figure.savefig(new, format=path.suffix[1:].lower(), dpi=150)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
