"""The tokenised sentences of raw news text."""

import re

from gareader.data.examples import Words
from gareader.data.treebank import sentences

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_NO_BEGINNINGS = frozenset([".", "!", "?", ",", ";"])
_FULL = 0.8  # a line that the next word would fill to this share of the longest one goes on in the next line

_HYPHEN = re.compile(r"(?<=[\w.])(-)(?=\w)|(?<=[^\W\d_])(/)(?=[^\W\d_])")
_BOUND = re.compile(
    r"""(?ix) (?: a | agro | al | ante | anti | arch | be | bi | bio | co | counter | cross | cyber | de | e | eco | el
    | ex | extra | inter | intra | macro | mega | micro | mid | mini | multi | neo | non | o | over | pan | para | peri
    | post | pre | pro | pseudo | quasi | re | semi | sub | super | tri | u | uh | ultra | un | uni | vice | x ) -
    | .* - (?: esque | ette | fest | fold | gate | itis | less | most | rama | wise ) \Z"""
)
"""Words that keep their hyphen in the questions of CNN, those of the Penn Treebank's guidelines."""


def news_sentences(text: str) -> tuple[Words, ...]:
    """Split a text into sentences of Treebank tokens; a paragraph's end is a sentence's end too."""
    return tuple(
        sentence
        for part in _PARAGRAPH.split(text.replace("\r\n", "\n"))
        for paragraph in _paragraphs(part)
        for sentence in _joined(paragraph)
    )


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of a text without blank lines: lines that ended long before the next word was too long."""
    rows = [row for row in map(str.strip, text.split("\n")) if row]
    width = _FULL * max(map(len, rows), default=0)
    paragraphs: list[str] = []
    for number, row in enumerate(rows):
        if number and (row[0].islower() or len(rows[number - 1]) + 1 + len(row.split(maxsplit=1)[0]) > width):
            paragraphs[-1] += "\n" + row
        else:
            paragraphs.append(row)
    return paragraphs


def _joined(paragraph: str) -> list[Words]:
    """The sentences of a paragraph; one that begins in lower case goes on: `` Why ? '' he asked."""
    joined: list[Words] = []
    for sentence in sentences(paragraph):
        if joined and (sentence[0][0].islower() or sentence[0] in _NO_BEGINNINGS):
            joined[-1] += sentence
        else:
            joined.append(sentence)
    return joined


def parts(word: str) -> list[str]:
    """The word, its inner hyphens and slashes apart, as CNN's questions have them: U.S. - led, but e-mail."""
    if len(word) < 3 or "://" in word or not ("-" in word or "/" in word) or _BOUND.match(word):
        return [word]
    return [part for part in _HYPHEN.split(word) if part]
