"""Colours, an empty figure, and the writing of a picture to a file."""

import warnings
from collections.abc import Iterable, Mapping
from functools import cache
from io import BytesIO
from os import PathLike
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from gareader.core.errors import GareaderError, extras_told
from gareader.core.whole import check_folder, whole_file
from gareader.data.examples import Target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
"""The palette of Okabe and Ito, which colour-blind people can distinguish."""

KINDS = (".png", ".svg", ".pdf")

CHARACTERS = 16
"""Characters of size 8 per inch."""
LINE = 0.145
"""Inches of a line of that size."""


def empty_figure(width: float, height: float) -> "Figure":
    """A figure of that width and height in inches."""
    with extras_told():
        from matplotlib.figure import Figure
    return _shown(Figure)(figsize=(width, height), layout="constrained")


@cache
def _shown(figure: "type[Figure]") -> "type[Figure]":
    """The class of figures that notebooks show whether or not they have imported pyplot."""

    class Picture(figure):  # type: ignore[misc, valid-type]
        """A figure, and its PNG for notebooks."""

        def _repr_png_(self) -> bytes:
            content = BytesIO()
            _write(self, content, "png")
            return content.getvalue()

    return Picture


def how_to_read(figure: "Figure", text: str) -> None:
    """Write at the bottom of a picture how it is read, in lines that are added to its height."""
    lines = fill(text, int(CHARACTERS * figure.get_figwidth()))
    figure.set_figheight(figure.get_figheight() + LINE * (lines.count("\n") + 2))
    figure.supxlabel(lines, x=0.01, ha="left", fontsize=8, color="0.35", parse_math=False)


def error_bars(reports: Iterable[Mapping[str, Any]]) -> list[list[float]]:
    """The lengths in percent of the bars below and above each accuracy."""
    rows = [(each["accuracy"], *each["interval"]) for each in reports]
    below = [max(0.0, 100 * (accuracy - low)) for accuracy, low, _ in rows]
    return [below, [max(0.0, 100 * (high - accuracy)) for accuracy, _, high in rows]]


def check_picture(path: Path) -> None:
    """Raise GareaderError if no picture can be written to that path; call it before long work."""
    if path.suffix.lower() not in KINDS:
        raise GareaderError(f"{path}: a picture is PNG, SVG or PDF; end its name with {', '.join(KINDS)}")
    check_folder(path)
    empty_figure(1, 1)


def save(figure: "Figure", path: Path) -> None:
    """Write a picture; the suffix of the path decides its format."""
    check_picture(path)
    with whole_file(path, sync=False) as new:
        _write(figure, new, path.suffix[1:].lower(), f"{path}: ")


def save_to(figure: "Figure", target: Target, format: str | None) -> "Figure":
    """Write a picture to a file or buffer, or to nothing, and return it; a buffer takes the format, PNG if none."""
    if isinstance(target, str | PathLike):
        path = Path(target)
        if format is not None and path.suffix.lower() != f".{format}":
            raise GareaderError(f"{path}: format = {format!r} is for buffers; the ending of a name says its format")
        save(figure, path)
    elif target is not None:
        kind = "png" if format is None else format
        if f".{kind}" not in KINDS:
            raise GareaderError(f"format = {kind!r} is not known; a picture is {', '.join(each[1:] for each in KINDS)}")
        content = BytesIO()
        _write(figure, content, kind)
        try:
            target.write(content.getvalue())
        except (AttributeError, TypeError):
            problem = "give a path, or a buffer of bytes such as io.BytesIO() or a file opened with 'wb'"
            raise GareaderError(f"a picture cannot be written to {type(target).__name__}; {problem}") from None
    return figure


def _write(figure: "Figure", target: Any, format: str, name: str = "") -> None:
    """Write a picture; each warning is given once, after the name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.savefig(target, format=format, dpi=150)
    boxes = "the font of pictures lacks some characters of this text; they are drawn as boxes"
    messages = (str(warning.message) for warning in caught)
    for text in dict.fromkeys(boxes if "missing from font" in each else each for each in messages):
        warnings.warn(f"{name}{text}", stacklevel=3)
