"""A prediction as HTML for notebooks: the candidates as bars, and the text coloured by the final attention.

It stands alone, without scripts, ids and files, and looks like the page of the service (`serve/page`). All text is
escaped, and a long one is cut to what the reader looked at.
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from gareader.core.terminal import short
from gareader.data.examples import PLACEHOLDER, SURE, Prediction, counted_words
from gareader.data.prose import detokenise, pieces

WHOLE, CONTEXT, AROUND_BLANK = 600, 25, 60
"""Words of a text that is shown whole at most; those beside a word of a longer one, and beside a query's blank."""

BARS, LONGEST = 10, 60
"""The most candidates, and the most characters of a name or word."""

FAINT = 0.02
"""Words with a smaller part of the largest share have no colour that one could see."""


def prediction_html(prediction: Prediction) -> str:
    parts = (_query(prediction), _bars(prediction), _notes(prediction), _text(prediction))
    classes = "gareader-prediction tex2jax_ignore mathjax_ignore"  # no dollar of the text begins a formula of MathJax
    return f'<div class="{classes}"><style>{_style()}</style>{"".join(parts)}</div>'


def percent(share: float) -> str:
    """A share as the page of the service writes it: 81 %, 2.3 %, under 0.1 %."""
    if 0 < share < 0.0005:
        return "under 0.1 %"
    return f"{100 * share:.{int(0 < share < 0.0995)}f} %"


def _style() -> str:
    rows = Path(__file__).with_name("notebook.css").read_text(encoding="utf-8").split("\n")
    return "".join(row for row in rows if not row.startswith("/*")).replace("&", ".gareader-prediction")


def _short(text: str) -> str:
    """A name or word, escaped, its end cut off if it is long."""
    return escape(short(text, LONGEST))


def _query(prediction: Prediction) -> str:
    words = prediction.example.query
    blank = words.index(PLACEHOLDER)
    first, end = max(0, blank - AROUND_BLANK), blank + AROUND_BLANK + 1
    shown = [
        space + (f'<span class="gr-blank">{text}</span>' if word == PLACEHOLDER else _short(text))
        for word, (space, text) in list(zip(words, pieces(words), strict=True))[first:end]
    ]
    return f'<div class="gr-query" dir="auto">{"… " * (first > 0)}{"".join(shown)}{" …" * (end < len(words))}</div>'


def _bars(prediction: Prediction) -> str:
    example = prediction.example
    notes = dict.fromkeys(prediction.in_part, "only in part in the text") | dict.fromkeys(
        prediction.absent, "not in the text"
    )
    rows = []
    for place, (_, share) in list(zip(prediction.order, prediction.ranking, strict=True))[:BARS]:
        name = _short(detokenise(example.candidates[place]))
        note = f' <span class="gr-soft">{notes[place]}</span>' if place in notes else ""
        right = ' <span class="gr-right" title="the right answer">✓</span>' if place == example.answer else ""
        rows.append(
            f'<div class="gr-row" role="listitem"><span dir="auto">{name}{right}{note}</span><span class="gr-track">'
            f'<span class="gr-bar" style="width:{100 * share:.1f}%"></span></span>'
            f'<span class="gr-share">{percent(share)}</span></div>'
        )
    return f'<div role="list" aria-label="Answers">{"".join(rows)}</div>'


def _notes(prediction: Prediction) -> str:
    """What is to be said about the answer: others, whether it is right, doubts."""
    example, rest = prediction.example, prediction.ranking[BARS:]
    notes = []
    if rest:
        together = percent(sum(share for _, share in rest))
        notes.append(f"{len(rest):,} more candidate{'s' * (len(rest) > 1)}, {together} together.")
    if prediction.correct is False and example.answer is not None:
        right = _short(detokenise(example.candidates[example.answer]))
        notes.append(f'<span class="gr-wrong">Wrong:</span> the answer is {right}.')
    if not prediction.answerable:
        notes.append("No candidate occurs in the text, so there is nothing to point at.")
    elif prediction.unsure:
        notes.append(f"Not sure: no answer has {SURE:.0%} or more, so the first one is more probably wrong than right.")
    if prediction.remark:
        notes.append(f"Note: {escape(prediction.remark)}.")
    return "".join(f'<div class="gr-soft">{note}</div>' for note in notes)


def _text(prediction: Prediction) -> str:
    """The text, coloured by the attention if there is any, and how to read it."""
    words, candidates = prediction.example.document, list(map(counted_words, prediction.example.candidates))
    best, mentions = {*candidates[prediction.order[0]]}, {word for words in candidates for word in words}
    shares = None if prediction.attention is None else prediction.attention.document.tolist()
    interest = shares or [(word in mentions) + (word in best) for word in words]
    most = max(*(shares or ()), 1e-9, 1e-9)
    kept = _kept(interest)
    out: list[str] = []
    gap = 0
    for place, (word, (space, text)) in enumerate(zip(words, pieces(words), strict=True)):
        if place not in kept:
            gap += 1
            continue
        out.append(_gap(gap) or space)
        gap = 0
        part = shares[place] / most if shares else 0
        classes = "gr-word" + " gr-mention" * (word in mentions) + " gr-best" * (word in best)
        if part < FAINT and word not in mentions:
            out.append(_short(text))
            continue
        look = f' style="--share:{part:.3f}" title="{percent(shares[place])}"' if shares else ""
        out.append(f'<span class="{classes}"{look}>{_short(text)}</span>')
    out.append(_gap(gap))
    return f'<div class="gr-text" dir="auto">{"".join(out)}</div>{_legend(prediction, shares, kept)}'


def _gap(words: int) -> str:
    return f' <span class="gr-soft">… {words:,} word{"s" * (words > 1)} …</span> ' if words else ""


def _kept(interest: Sequence[float]) -> set[int]:
    """The places of the words that are shown: all, or those around the most interesting ones."""
    count = len(interest)
    if count <= WHOLE:
        return {*range(count)}
    kept: set[int] = set()
    for place in sorted(range(count), key=lambda place: -interest[place]):
        if len(kept) >= WHOLE or (kept and not interest[place]):
            break
        kept.update(range(max(0, place - CONTEXT), min(count, place + CONTEXT + 1)))
    return kept


def _legend(prediction: Prediction, shares: list[float] | None, kept: set[int]) -> str:
    """How the text is read, and what of it is left out."""
    marks = "Underlined: words of candidates; bold: of the first."
    if shares is None:
        legend = f"{marks} No colours: this prediction was made without attention; answer(…) gives it."
    else:
        scale = f'0 <span class="gr-scale"></span> {percent(max(shares))}, the largest share of the final attention.'
        legend = f"{scale} {marks}"
    count = len(prediction.example.document)
    if len(kept) < count:
        legend += f" Shown: {len(kept):,} of {count:,} words"
        if shares is not None:
            legend += f", with {percent(sum(shares[place] for place in kept))} of the attention"
        legend += "."
    return f'<div class="gr-soft">{legend}</div>'
