"""The paper's figure of the attention, for any question."""

from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gareader.core.errors import GareaderError
from gareader.core.terminal import short
from gareader.data.examples import PLACEHOLDER, Attention, Example, Prediction, Words, counted_words
from gareader.data.prose import detokenise, pieces
from gareader.plots.figures import CHARACTERS, COLOURS, LINE, empty_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_MENTIONS = 30
"""The most mentions of a figure: those with the largest shares of the final attention."""
FEWEST_MENTIONS = 3
"""The mentions of a figure of any number of panels, if there are so many."""
MOST_ROWS = 60
"""The most rows of all panels that are one below the other; of many panels, each has fewer mentions."""

MOST_WORDS = 200
"""The most words of a query that are drawn."""

WIDTH, FINAL, LABELS = 10.5, 2.0, 2.0
"""Inches of a figure, of the bars of the final attention beside maps, and of the labels and the colour scale."""
CELL, NARROW, WIDE = 0.21, 0.135, 0.4
"""Inches of the height of a cell of a map, and of its smallest and largest width."""

CONTEXT = 12
"""Words shown on each side of a mention if the document is longer than WHOLE."""

WHOLE = 600
"""The most words of a document that is shown whole."""

LONGEST = 18
"""The most characters of a label."""

NEARLY_ALL = 0.9
"""If the marks of the query have this share of the attention, the colours are those of the rest."""


@dataclass(frozen=True)
class CandidateMention:
    """Neighbouring words of the document that belong to one candidate."""

    candidate: int
    first: int
    end: int

    def share(self, attention: NDArray[np.float32]) -> float:
        return float(attention[self.first : self.end].sum())


def mentions(example: Example) -> list[CandidateMention]:
    """The mentions of the candidates in the document, in order; a word of two candidates is a mention of both."""
    spans = []
    for number, words in enumerate(map(counted_words, example.candidates)):
        first = None
        for place, word in enumerate((*example.document, None)):
            if word in words and first is None:
                first = place
            elif word not in words and first is not None:
                spans.append(CandidateMention(number, first, place))
                first = None
    return sorted(spans, key=lambda mention: (mention.first, mention.candidate))


def attention_figure(prediction: Prediction) -> "Figure":
    """Draw, for each mention of a candidate, its attention with the query in every hop, then its final share."""
    attention, example = prediction.attention, prediction.example
    if attention is None:
        way_out = "answer the question one by one, with a reader that has attention to show (docs/readers.md)"
        raise GareaderError(f"this prediction was made without attention; {way_out}")
    every = mentions(example)
    if not every:
        raise GareaderError(f"{example.id}: no candidate occurs in the document, so there is nothing to draw")
    rows = layout(*near_blank(attention.query), len(attention.hops))
    most = min(MOST_MENTIONS, max(FEWEST_MENTIONS, MOST_ROWS // len(rows)))
    largest = set(sorted(every, key=lambda mention: -mention.share(attention.document))[:most])
    shown = [mention for mention in every if mention in largest]
    text = caption(prediction, every, shown, int(CHARACTERS * WIDTH))
    panel, lower = max(3, len(shown)) * CELL + 1.1, LINE * (text.count("\n") + 2)
    figure = empty_figure(WIDTH, len(rows) * panel + lower)
    grid = figure.add_gridspec(len(rows) + 1, 1, height_ratios=[panel] * len(rows) + [lower])
    top, beyond = colour_scale(attention, shown)
    for place, row in enumerate(rows):
        widths = [_width(piece, row) for piece in row]
        panels = grid[place].subgridspec(1, len(row), width_ratios=widths).subplots(squeeze=False)[0]
        for number, (axes, piece) in enumerate(zip(panels, row, strict=True)):
            if piece is None:
                _final(axes, prediction, shown)
            else:
                image = _map(axes, attention, piece, shown, top)
            _label_mentions(axes, example, every, shown, named=number == 0)
        if row[0] is not None:
            maps = [axes for axes, piece in zip(panels, row, strict=True) if piece]
            bar = figure.colorbar(image, ax=maps, pad=0.01, extend=beyond)
            bar.ax.tick_params(labelsize=7)
    below = figure.add_subplot(grid[-1])
    below.axis("off")
    below.text(0, 1, text, va="top", fontsize=8, transform=below.transAxes, parse_math=False)
    return figure


@dataclass(frozen=True)
class Piece:
    """Columns of the map of a hop: those of all query words, or of some if the query is long."""

    hop: int
    first: int
    end: int


def near_blank(query: Words) -> tuple[int, int]:
    """The first word of the query that is drawn, and the end: all of it, or the words around the blank."""
    first = max(0, min(query.index(PLACEHOLDER) - MOST_WORDS // 2, len(query) - MOST_WORDS))
    return first, min(first + MOST_WORDS, len(query))


def layout(first: int, end: int, hops: int) -> list[list[Piece | None]]:
    """The panels of each row: all side by side if they fit, else one below the other; None is the final attention."""
    words = end - first
    if words * hops * NARROW <= WIDTH - FINAL - LABELS:
        return [[*(Piece(hop, first, end) for hop in range(hops)), None]]
    count = ceil(words * NARROW / (WIDTH - LABELS))  # pieces of the query
    edges = [first + round(number * words / count) for number in range(count + 1)]
    maps = (Piece(hop, *ends) for hop in range(hops) for ends in pairwise(edges))
    return [[piece] for piece in (*maps, None)]


def _width(piece: Piece | None, row: list[Piece | None]) -> float:
    """The width of a panel in relation to the others of its row."""
    maps = len(row) - 1
    if piece is None:
        columns = sum(each.end - each.first for each in row if each)
        return max(FINAL, WIDTH - LABELS - WIDE * columns)
    return min(WIDE * (piece.end - piece.first), (WIDTH - LABELS - FINAL) / maps if maps else WIDTH)


def over_query(hop: NDArray[np.float32]) -> bool:
    """Whether a hop distributes each document word's attention over the query, not the other way round."""
    sums = hop.sum(axis=1)
    return bool((np.isclose(sums, 1, atol=1e-3) | (sums == 0)).all())


def averages(hop: NDArray[np.float32], shown: list[CandidateMention]) -> NDArray[np.float32]:
    """The mean attention of the words of each mention, a row for each."""
    return np.stack([hop[mention.first : mention.end].mean(axis=0) for mention in shown])


def marks_share(attention: Attention, shown: list[CandidateMention]) -> float:
    """The share of the mentions’ attention in all hops that is on the marks ⊢ and ⊣, not on words of the query."""
    if not all(map(over_query, attention.hops)):
        return 0.0
    return float(np.mean([averages(hop, shown)[:, [0, -1]].sum(axis=1).mean() for hop in attention.hops] or [0.0]))


def colour_scale(attention: Attention, shown: list[CandidateMention]) -> tuple[float, str]:
    """The value of the darkest colour, and whether marks go beyond it: if they have nearly all, words set the scale."""
    values = [averages(hop, shown) for hop in attention.hops]
    if marks_share(attention, shown) >= NEARLY_ALL:
        return max(float(value[:, 1:-1].max()) for value in values), "max"
    return max((float(value.max()) for value in values), default=1.0), "neither"


def _map(panel: Any, attention: Attention, piece: Piece, shown: list[CandidateMention], top: float) -> Any:
    """Draw columns of a hop's map; all maps have one colour scale."""
    hop, columns = attention.hops[piece.hop], slice(piece.first, piece.end)
    value = averages(hop, shown)[:, columns]
    image = panel.imshow(value, aspect="auto", cmap="Blues", vmin=0, vmax=top, interpolation="nearest")
    part = "" if value.shape[1] == len(attention.query) else f", words {piece.first + 1} to {piece.end}"
    panel.set_title(f"hop {piece.hop + 1}, {'over' if over_query(hop) else 'from'} the query{part}", fontsize=9)
    words = [
        short(text or word, LONGEST) for word, (_, text) in zip(attention.query, pieces(attention.query), strict=True)
    ]
    panel.set_xticks(range(value.shape[1]), words[columns], rotation=90, fontsize=7, parse_math=False)
    panel.tick_params(length=0)
    return image


def _final(panel: Any, prediction: Prediction, shown: list[CandidateMention]) -> None:
    """Draw the share of the final attention on each mention."""
    attention = prediction.attention
    shares = [100 * mention.share(attention.document) for mention in shown] if attention else []
    best = prediction.order[0]
    colours = [COLOURS[1] if mention.candidate == best else COLOURS[0] for mention in shown]
    panel.barh(range(len(shown)), shares, color=colours, height=0.7)
    for row, share in enumerate(shares):
        panel.text(share, row, f" {share:.1f}", va="center", fontsize=7)
    panel.set_ylim(len(shown) - 0.5, -0.5)
    panel.set_xlim(0, 1.25 * max(shares))
    panel.set_title("final attention, %\n(orange: the answer given)", fontsize=9)
    panel.tick_params(axis="x", labelsize=7)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def _label_mentions(
    panel: Any, example: Example, every: list[CandidateMention], shown: list[CandidateMention], *, named: bool
) -> None:
    labels = [
        f"{short(detokenise(example.document[mention.first : mention.end]), LONGEST)} [{every.index(mention) + 1}]"
        for mention in shown
    ]
    panel.set_yticks(range(len(shown)), labels if named else [""] * len(shown), fontsize=8, parse_math=False)
    panel.tick_params(axis="y", length=0)


def caption(prediction: Prediction, every: list[CandidateMention], shown: list[CandidateMention], width: int) -> str:
    """How the figure is read, then answer, query and document as text, with numbered mentions."""
    example = prediction.example
    candidates = [short(detokenise(example.candidates[place]), 3 * LONGEST) for place in prediction.order]
    shares = [share for _, share in prediction.ranking]
    ranking = ",  ".join(f"{name} {share:.0%}" for name, share in [*zip(candidates, shares, strict=True)][:10])
    truth = "" if example.answer is None else f"   (right: {detokenise(example.candidates[example.answer])})"
    left = len(every) - len(shown)
    note = f"Drawn: the {len(shown)} mentions with most of the attention; {left:,} more have less." if left else ""
    first, end = near_blank(prediction.attention.query) if prediction.attention else (0, 0)
    if prediction.attention and end - first < (words := len(prediction.attention.query)):
        note += f" Of the {words:,} words of the query the {end - first} around the blank are drawn."
    share = marks_share(prediction.attention, shown) if prediction.attention and shown else 0.0
    marks = (
        f"The marks ⊢ and ⊣ have {share:.1%} of the mentions’ attention; the colours show what words have of the rest."
    )
    lines = [
        how(prediction),
        marks if share >= NEARLY_ALL else "",
        f"Answer: {ranking}{truth}",
        f"Query: {detokenise(example.query)}",
        f"Document: {_numbered(example, every, shown)}",
        note.strip(),
    ]
    return "\n".join(fill(line, width, subsequent_indent="    ") for line in lines if line)


def how(prediction: Prediction) -> str:
    hops = prediction.attention.hops if prediction.attention else ()
    rows = "How to read it: a row is a mention of a candidate, with its number in the text below"
    bars = "the bar is the mention’s share of the final attention, orange for the answer given."
    if not hops:
        return f"{rows}; {bars}"
    darker = "the more of the mention’s attention is on the word"
    if not all(map(over_query, hops)):
        darker = "the more of the word’s attention is on the mention"
    columns = f"a column is a word of the query, from its beginning ⊢ to its end ⊣; the darker, {darker}"
    return f"{rows}; {columns}; {bars}"


def _numbered(example: Example, every: list[CandidateMention], shown: list[CandidateMention]) -> str:
    """The document with a number after each mention; a long document is cut to the context of the shown mentions."""
    numbers: dict[int, list[str]] = {}
    kept = set(range(len(example.document))) if len(example.document) <= WHOLE else set()
    for number, mention in enumerate(every, 1):
        numbers.setdefault(mention.end - 1, []).append(f"[{number}]")
    for mention in shown:
        kept.update(range(max(0, mention.first - CONTEXT), mention.end + CONTEXT))
    text, cut = "", False
    for place, (space, word) in enumerate(pieces(example.document)):
        if place in kept:
            text += (" " if cut else space) + word + "".join(numbers.get(place, ()))
        elif not cut:
            text += " …"
        cut = place not in kept
    return text.strip()
