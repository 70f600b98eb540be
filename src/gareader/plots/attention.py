"""The paper's figure of the attention, for any question."""

from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gareader.core.errors import GareaderError
from gareader.data.examples import PLACEHOLDER, Attention, Example, Prediction, counted_words
from gareader.plots.figures import COLOURS, empty_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_MENTIONS = 30
"""The most rows of a figure: the mentions with the largest shares of the final attention."""

CELL, LINE, CHARACTERS = 0.21, 0.145, 15
"""Inches of a cell of a map, inches of a line of the caption, and characters of the caption per inch."""

CONTEXT = 12
"""Words shown on each side of a mention if the document is longer than WHOLE."""

WHOLE = 600
"""The most words of a document that is shown whole."""

LONGEST = 18
"""The most characters of a label."""


@dataclass(frozen=True)
class Mention:
    """Neighbouring words of the document that belong to one candidate."""

    candidate: int
    first: int
    end: int

    def share(self, attention: NDArray[np.float32]) -> float:
        """The share of the final attention on the mention."""
        return float(attention[self.first : self.end].sum())


def mentions(example: Example) -> list[Mention]:
    """The mentions of the candidates in the document, in order; a word of two candidates is a mention of both."""
    spans = []
    for number, words in enumerate(map(counted_words, example.candidates)):
        first = None
        for place, word in enumerate((*example.document, None)):
            if word in words and first is None:
                first = place
            elif word not in words and first is not None:
                spans.append(Mention(number, first, place))
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
    largest = set(sorted(every, key=lambda mention: -mention.share(attention.document))[:MOST_MENTIONS])
    shown = [mention for mention in every if mention in largest]
    map_width = max(1.8, CELL * len(attention.query))
    width = map_width * len(attention.hops) + 4.4
    upper = max(3, len(shown)) * CELL + 1.8
    text = caption(prediction, every, shown, int(CHARACTERS * width))
    lower = LINE * (text.count("\n") + 2)
    figure = empty_figure(width, upper + lower)
    grid = figure.add_gridspec(2, 1, height_ratios=(upper, lower))
    ratios = [*([map_width] * len(attention.hops)), 2.2]
    panels = grid[0].subgridspec(1, len(ratios), width_ratios=ratios).subplots(squeeze=False)[0]
    _maps(figure, panels[:-1], attention, shown)
    _final(panels[-1], prediction, shown)
    for number, panel in enumerate(panels):
        _label_mentions(panel, example, every, shown, named=number == 0)
    below = figure.add_subplot(grid[1])
    below.axis("off")
    below.text(0, 1, text, va="top", fontsize=8, transform=below.transAxes, parse_math=False)
    return figure


def over_query(hop: NDArray[np.float32]) -> bool:
    """Whether a hop distributes each document word's attention over the query, not the other way round."""
    sums = hop.sum(axis=1)
    return bool((np.isclose(sums, 1, atol=1e-3) | (sums == 0)).all())


def _maps(figure: "Figure", panels: Any, attention: Attention, shown: list[Mention]) -> None:
    """Draw one map for each hop, all on one colour scale."""
    values = [np.stack([hop[mention.first : mention.end].mean(axis=0) for mention in shown]) for hop in attention.hops]
    top = max((float(value.max()) for value in values), default=1.0)
    words = [_short("____" if word == PLACEHOLDER else word) for word in attention.query]
    for number, (panel, value) in enumerate(zip(panels, values, strict=True), 1):
        image = panel.imshow(value, aspect="auto", cmap="Blues", vmin=0, vmax=top, interpolation="nearest")
        panel.set_title(
            f"hop {number}, {'over' if over_query(attention.hops[number - 1]) else 'from'} the query", fontsize=9
        )
        panel.set_xticks(range(len(words)), words, rotation=90, fontsize=7, parse_math=False)
        panel.tick_params(length=0)
    if values:
        bar = figure.colorbar(image, ax=list(panels), pad=0.01, fraction=0.03, aspect=30)
        bar.ax.tick_params(labelsize=7)


def _final(panel: Any, prediction: Prediction, shown: list[Mention]) -> None:
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


def _label_mentions(panel: Any, example: Example, every: list[Mention], shown: list[Mention], *, named: bool) -> None:
    labels = [
        f"{_short(' '.join(example.document[mention.first : mention.end]))} [{every.index(mention) + 1}]"
        for mention in shown
    ]
    panel.set_yticks(range(len(shown)), labels if named else [""] * len(shown), fontsize=8, parse_math=False)
    panel.tick_params(axis="y", length=0)


def caption(prediction: Prediction, every: list[Mention], shown: list[Mention], width: int) -> str:
    """Answer, query and document as text, with numbered mentions."""
    example = prediction.example
    ranking = ",  ".join(f"{candidate} {probability:.0%}" for candidate, probability in prediction.ranking[:10])
    truth = "" if example.answer is None else f"   (right: {' '.join(example.candidates[example.answer])})"
    query = " ".join("____" if word == PLACEHOLDER else word for word in example.query)
    left = len(every) - len(shown)
    note = f"Drawn: the {len(shown)} mentions with most of the attention; {left:,} more have less." if left else ""
    lines = [f"Answer: {ranking}{truth}", f"Query: {query}", f"Document: {_numbered(example, every, shown)}", note]
    return "\n".join(fill(line, width, subsequent_indent="    ") for line in lines if line)


def _numbered(example: Example, every: list[Mention], shown: list[Mention]) -> str:
    """The document with a number after each mention; a long document is cut to the context of the shown mentions."""
    numbers: dict[int, list[str]] = {}
    kept = set(range(len(example.document))) if len(example.document) <= WHOLE else set()
    for number, mention in enumerate(every, 1):
        numbers.setdefault(mention.end - 1, []).append(f"[{number}]")
    for mention in shown:
        kept.update(range(max(0, mention.first - CONTEXT), mention.end + CONTEXT))
    pieces: list[str] = []
    for place, word in enumerate(example.document):
        if place in kept:
            pieces.append(word + "".join(numbers.get(place, ())))
        elif pieces[-1:] != ["…"]:
            pieces.append("…")
    return " ".join(pieces)


def _short(label: str) -> str:
    return label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"
