"""The tokenised sentences of raw news text."""

import re

from gareader.data.examples import Words
from gareader.data.treebank import sentences

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_NO_BEGINNINGS = frozenset([".", "!", "?", ",", ";"])


def news_sentences(text: str) -> tuple[Words, ...]:
    """Split a text into sentences of Treebank tokens; a blank line ends a sentence too, as after a headline."""
    return tuple(
        sentence for paragraph in _PARAGRAPH.split(text.replace("\r\n", "\n")) for sentence in _joined(paragraph)
    )


def _joined(paragraph: str) -> list[Words]:
    """The sentences of a paragraph; one that begins in lower case goes on: `` Why ? '' he asked."""
    joined: list[Words] = []
    for sentence in sentences(paragraph):
        if joined and (sentence[0][0].islower() or sentence[0] in _NO_BEGINNINGS):
            joined[-1] += sentence
        else:
            joined.append(sentence)
    return joined
