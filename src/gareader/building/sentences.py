"""Raw news text to sentences of words."""

import re
from collections.abc import Iterator

from gareader.text import tokenise

Words = tuple[str, ...]

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_ENDS = frozenset([".", "!", "?"])
_CLOSING = frozenset(["''", "'", "-RRB-", '"', ")", "-rrb-"])
_SHORT = frozenset(
    """Rep Reps Sens Jan Mar Jun Jul Corp Co Cos Cpl Pvt Pfc Adm Cmdr Brig Supt Det Insp Mass Calif Fla Va Ill Mich Minn
    Tenn Conn Wis Ala Ariz Ark Colo Del Ga Ind Kan Ky La Md Miss Mont Neb Nev Okla Ore Pa Tex Vt Wash Wyo No Nos Ft Ave
    Blvd Rd""".split()
)
"""Short forms that the tokenizer parts from their period, since some of them are words too: mended before a capital."""


def sentences(text: str) -> tuple[Words, ...]:
    """The sentences of a text in the Treebank's words; a blank line ends one too, as after a headline."""
    return tuple(
        sentence
        for paragraph in _PARAGRAPH.split(text.replace("\r\n", "\n"))
        for sentence in _split(_mended(tokenise(paragraph)))
    )


def _mended(words: Words) -> list[str]:
    """Rep . Lewis as Rep. Lewis, Jan . 5 as Jan. 5; a period that ends the paragraph stays."""
    mended: list[str] = []
    for place, word in enumerate(words):
        after = words[place + 1 : place + 2]
        if (
            word == "."
            and mended
            and mended[-1] in _SHORT
            and after
            and (after[0][0].isupper() or after[0][0].isdigit())
        ):
            mended[-1] += word
        else:
            mended.append(word)
    return mended


def _split(words: list[str]) -> Iterator[Words]:
    """Cut after a period, exclamation or question mark and the quotation marks and brackets that close on it."""
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
