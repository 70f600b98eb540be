"""Boxes, arrows and words of the readers' pictures, as SVG; text between $ signs is mathematics, with _{} and ^{}."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 720

DOCUMENT = ("Tom", "met", "Ann", ".", "Ann", "has", "a", "lamp")
QUERY = ("____", "owns", "the", "lamp")
CANDIDATES = {"Ann": "ann", "Tom": "tom"}
"""The candidates of the question that every picture shows, and the classes of their colours."""

KINDS = {
    "layer": "recurrent layer",
    "map": "other layer",
    "attend": "attention",
    "vector": "vector",
    "answer": "answer",
}
"""The kinds of boxes, with their names in the key."""
HEAT = {"attend": "heat"}
"""Kinds that are shown without a box as well."""

STYLE = """
text { font: 13px Helvetica, Arial, sans-serif; fill: #1c2733; }
.m { font: 15px "Times New Roman", Times, serif; }
.i { font-style: italic; }
.s { font-size: 11px; }
.bold { font-weight: bold; }
.note { font-size: 12px; fill: #44566a; }
.halo { paint-order: stroke; stroke: #fff; stroke-width: 5px; stroke-linejoin: round; }
.paper { fill: #fff; }
.box { stroke: #4a6178; stroke-width: 1.3; }
.word { fill: #f4f6f8; stroke: #9aa9b8; }
.layer { fill: #fdecd8; }
.map { fill: #efe8fa; }
.attend { fill: #dff2e6; }
.vector { fill: #e2eefb; }
.answer { fill: #fbe3e6; }
.state { fill: #e8a55a; }
.frame { fill: none; stroke: #8496a8; stroke-dasharray: 6 4; }
.cell { fill: none; stroke: #8496a8; }
.arrow { fill: none; stroke: #4a6178; stroke-width: 1.5; }
.again { stroke-dasharray: 6 3; }
.head { fill: #4a6178; }
.heat { fill: #2f8f5b; }
.ann { fill: #0067a3; font-weight: bold; }
.tom { fill: #b84a00; font-weight: bold; }
@media (prefers-color-scheme: dark) {
text { fill: #e8eef4; }
.note { fill: #b8c6d4; }
.halo { stroke: #12181f; }
.paper { fill: #12181f; }
.box, .arrow { stroke: #9db4ca; }
.head { fill: #9db4ca; }
.word { fill: #1d2730; stroke: #5d7082; }
.layer { fill: #3d2c18; }
.map { fill: #2f2743; }
.attend { fill: #183526; }
.vector { fill: #1a2d43; }
.answer { fill: #42222a; }
.state { fill: #c9853a; }
.frame, .cell { stroke: #70859a; }
.heat { fill: #4fc287; }
.ann { fill: #6cb8f0; }
.tom { fill: #f59a55; }
}
"""

MARKS = "\u0303\u0304"
"""Marks above letters: the tilde and the bar."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A rectangle, with the points at which arrows start and end."""

    x: float
    y: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        """The y of its lower edge."""
        return self.y + self.height

    @property
    def right(self) -> float:
        """The x of its right edge."""
        return self.x + self.width

    @property
    def middle(self) -> float:
        """The x of its centre."""
        return self.x + self.width / 2

    @property
    def centre(self) -> float:
        """The y of its centre."""
        return self.y + self.height / 2


class Drawing:
    """One picture; y grows downwards, in the direction of the data."""

    def __init__(self, title: str, description: str, height: int) -> None:
        self.title, self.description, self.height = title, description, height
        self.parts: list[str] = []

    def text(self, x: float, y: float, text: str, style: str = "", anchor: str = "start") -> None:
        """A line of text; y is its baseline."""
        place = f'x="{x:g}" y="{y:g}"' + (f' text-anchor="{anchor}"' if anchor != "start" else "")
        named = f' class="{style}"' if style else ""
        self.parts.append(f"<text {place}{named}>{marked_up(text)}</text>")

    def box(self, x: float, y: float, width: float, height: float, kind: str, *lines: str) -> Box:
        """A box with centred lines of text, the first of them bold unless it begins with a formula."""
        self.parts.append(
            f'<rect class="box {kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5"/>'
        )
        base = y + height / 2 - 10 * (len(lines) - 1) + 4.5
        for number, line in enumerate(lines):
            bold = "bold" if number == 0 and not line.startswith("$") else ""
            self.text(x + width / 2, base + 20 * number, line, bold, "middle")
        return Box(x, y, width, height)

    def states(self, x: float, y: float, width: float, count: int, title: str, kind: str = "layer") -> Box:
        """A recurrent layer: its name, and a state for each of `count` words, joined in both directions."""
        box = self.box(x, y, width, 46, kind)
        self.text(x + width / 2, y + 17, title, "bold", "middle")
        cell = width / count
        first, last = x + cell / 2, x + width - cell / 2
        self.parts.append(f'<path class="arrow" stroke-opacity=".5" d="M{first:g} {y + 32:g}H{last:g}"/>')
        for number in range(count):
            self.parts.append(f'<circle class="state" cx="{first + number * cell:g}" cy="{y + 32:g}" r="5"/>')
        return box

    def words(self, x: float, y: float, width: float, words: Sequence[str], title: str = "") -> Box:
        """A row of words; those of candidates are in colour."""
        cell = width / len(words)
        if title:
            self.text(x, y - 7, title, "note")
        for number, word in enumerate(words):
            left = x + number * cell
            self.parts.append(f'<rect class="word" x="{left:g}" y="{y:g}" width="{cell:g}" height="26"/>')
            self.text(left + cell / 2, y + 17.5, word, CANDIDATES.get(word, ""), "middle")
        return Box(x, y, width, 26)

    def bracket(self, left: float, right: float, centre: float, y: float) -> None:
        """A window of words: a line under them, with a mark under the word at its centre."""
        self.parts.append(f'<path class="arrow" d="M{left:g} {y - 4:g}V{y:g}H{right:g}V{y - 4:g}"/>')
        self.parts.append(f'<circle class="head" cx="{centre:g}" cy="{y:g}" r="3.5"/>')

    def heat(self, x: float, y: float, width: float, shares: Sequence[float], height: float = 22) -> Box:
        """A row of attention, the darker the larger."""
        cell = width / len(shares)
        for number, share in enumerate(shares):
            place = f'x="{x + number * cell:g}" y="{y:g}" width="{cell:g}" height="{height:g}"'
            self.parts.append(f'<rect class="heat" fill-opacity="{share:g}" {place}/>')
            self.parts.append(f'<rect class="cell" {place}/>')
        return Box(x, y, width, height)

    def frame(self, x: float, y: float, width: float, height: float, title: str, title_x: float = 0) -> Box:
        """A dashed frame around one part, with its title in the lower right corner, or from `title_x`."""
        self.parts.append(f'<rect class="frame" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="9"/>')
        self.text(title_x or x + width - 16, y + height - 9, title, "note", "start" if title_x else "end")
        return Box(x, y, width, height)

    def arrow(
        self,
        *points: Point,
        label: str = "",
        at: Point | None = None,
        end: str = "",
        again: bool = False,
        on_line: bool = False,
    ) -> None:
        """A line through the points, which ends in a head; its label is beside the middle of its end, or at a point.

        `end` is the anchor of the label, `again` means that the arrow leads back to the beginning of a loop, and
        `on_line` that the label interrupts the line.
        """
        path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
        (x0, y0), (x1, y1) = points[-2:]
        self.parts.append(f'<path class="arrow{" again" * again}" d="{path}"/>')
        if x0 == x1:
            back = 9 if y1 > y0 else -9
            self.parts.append(f'<path class="head" d="M{x1:g} {y1:g}l-4.5 {-back}h9z"/>')
        else:
            back = 9 if x1 > x0 else -9
            self.parts.append(f'<path class="head" d="M{x1:g} {y1:g}l{-back} -4.5v9z"/>')
        if label:
            x, y = at or ((x0 + x1) / 2 + 8 * (x0 == x1), (y0 + y1) / 2 + (5 if x0 == x1 else -7))
            anchor = end or ("start" if x0 == x1 else "middle")
            if on_line:
                self.text(x, y, label, "halo", anchor)
            self.text(x, y, label, "", anchor)

    def down(self, start: Box, end: Box, label: str = "", *, x: float | None = None, left: bool = False) -> None:
        """An arrow straight down between two boxes, with its label on the right or left of it."""
        x = end.middle if x is None else x
        place = (x - 8 if left else x + 8, (start.bottom + end.y) / 2 + 3)
        self.arrow((x, start.bottom), (x, end.y), label=label, at=place, end="end" if left else "start")

    def aside(self, start: Box, end: Box, label: str = "", *, x: float | None = None, at: float = 0) -> None:
        """An arrow down from a box and then to the side of another; `at` is the x of the label's centre."""
        x = start.middle if x is None else x
        edge = end.right if x > end.right else end.x
        place = (at or (x + edge) / 2, end.centre - 8)
        self.arrow((x, start.bottom), (x, end.centre), (edge, end.centre), label=label, at=place, end="middle")

    def past(
        self,
        start: Box,
        end: Box,
        label: str = "",
        *,
        x: float = 24,
        at: float = 0,
        again: bool = False,
    ) -> None:
        """An arrow past other boxes, along the vertical at x; its label interrupts it, at the height `at`."""
        left = x < start.x
        first, last = (start.x, end.x) if left else (start.right, end.right)
        points = (first, start.centre), (x, start.centre), (x, end.centre), (last, end.centre)
        place = (x, at or (start.centre + end.centre) / 2 + 5)
        self.arrow(*points, label=label, at=place, end="middle", again=again, on_line=True)

    def join(self, *points: Point) -> None:
        """A line without a head."""
        self.parts.append(f'<path class="arrow" d="{"M" + "L".join(f"{x:g} {y:g}" for x, y in points)}"/>')

    def svg(self) -> str:
        """The file: the parts on a card, with the key of the colours underneath."""
        card = f'<rect class="paper" width="{WIDTH}" height="{self.height + 34}" rx="10"/>'
        key, x = [], 24.0
        for kind, name in KINDS.items():
            if any(f'class="box {kind}"' in part or f'class="{HEAT.get(kind)}"' in part for part in self.parts):
                y = self.height + 8
                key.append(f'<rect class="box {kind}" x="{x:g}" y="{y}" width="14" height="14" rx="3"/>')
                key.append(f'<text class="note" x="{x + 20:g}" y="{y + 11.5:g}">{name}</text>')
                x += 44 + 6 * len(name)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height + 34}" width="{WIDTH}" '
            f'height="{self.height + 34}" role="img" aria-labelledby="title description">'
        )
        about = (
            f'<title id="title">{escape(self.title)}</title>\n<desc id="description">{escape(self.description)}</desc>'
        )
        return "\n".join((head, about, f"<style>{STYLE}</style>", card, *self.parts, *key, "</svg>\n"))


def marked_up(text: str) -> str:
    """Text as SVG: what stands between $ signs has its letters in italics, and its indices raised or lowered."""
    pieces = text.split("$")
    marked = (mathematics(piece) if number % 2 else escape(piece) for number, piece in enumerate(pieces))
    return "".join(marked).replace("  ", "\u2003")


def mathematics(formula: str) -> str:
    """A formula as SVG; words of several letters, such as softmax, stay upright."""
    spans, height = [], 0.0
    for mark, group, single, run in re.findall(r"([_^])(?:\{([^}]*)\}|(.))|([^_^]+)", formula):
        level = {"_": 4.0, "^": -6.0, "": 0.0}[mark]
        for word in split_letters(group or single or run):
            shift = f' dy="{level - height:g}"' if level != height else ""
            letters = len(word.rstrip(MARKS))
            italic = word[0].isalpha() and letters <= 1 + bool(mark) and word not in ("Σ", "Π")
            classes = " ".join(("m", *["i"] * italic, *["s"] * bool(mark)))
            spans.append(f'<tspan class="{classes}"{shift}>{escape(word)}</tspan>')
            height = level
    if height:
        spans.append(f'<tspan dy="{-height:g}">\u200b</tspan>')
    return "".join(spans)


def split_letters(run: str) -> list[str]:
    """Single letters, longer words, and what stands between them."""
    return re.findall(rf"[^\W\d_][{MARKS}]|[ΣΠ]|[^\W\d_ΣΠ]+(?![{MARKS}])|[\W\d_]+|.", run)
