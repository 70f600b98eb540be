"""The tokenised sentences of raw news text."""

import re
from collections.abc import Iterator

from gareader.data.examples import Words
from gareader.data.text import tokenise

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_ENDS = frozenset([".", "!", "?"])
_CLOSING = frozenset(["''", "'", "-RRB-", '"', ")", "-rrb-"])
_SHORT = frozenset(
    """Rep Reps Sens Jan Mar Jun Jul Corp Co Cos Cpl Pvt Pfc Adm Cmdr Brig Supt Det Insp Mass Calif Fla Va Ill Mich Minn
    Tenn Conn Wis Ala Ariz Ark Colo Del Ga Ind Kan Ky La Md Miss Mont Neb Nev Okla Ore Pa Tex Vt Wash Wyo No Nos Ft Ave
    Blvd Rd""".split()
)
"""Abbreviations that the tokenizer separates from their period, since some are words too; joined before a capital."""


def news_sentences(text: str) -> tuple[Words, ...]:
    """Split a text into sentences of Treebank tokens; a blank line ends a sentence too, as after a headline."""
    return tuple(
        sentence
        for paragraph in _PARAGRAPH.split(text.replace("\r\n", "\n"))
        for sentence in _split(_with_abbreviations(tokenise(paragraph)))
    )


def _with_abbreviations(words: Words) -> list[str]:
    """Join abbreviations with their periods: Rep . Lewis, Jan . 5; a period at the end of the paragraph stays."""
    joined: list[str] = []
    for place, word in enumerate(words):
        after = words[place + 1 : place + 2]
        if (
            word == "."
            and joined
            and joined[-1] in _SHORT
            and after
            and (after[0][0].isupper() or after[0][0].isdigit())
        ):
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def _split(words: list[str]) -> Iterator[Words]:
    """Cut after a period, exclamation or question mark and the closing quotation marks and brackets after it."""
    start = place = 0
    while place < len(words):
        ends = words[place] in _ENDS
        place += 1
        if ends:
            while place < len(words) and (words[place] in _CLOSING or words[place] in _ENDS):
                place += 1
            # `` Why ? '' he asked: the sentence goes on
            if place == len(words) or not words[place][0].islower():
                yield tuple(words[start:place])
                start = place
    if start < len(words):
        yield tuple(words[start:])
