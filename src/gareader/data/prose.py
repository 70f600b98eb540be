"""Text as people write it, from the Treebank's words: “Don’t!” for `` Do n't ! ''."""

import re
from collections.abc import Iterator, Sequence

_SIGNS = {
    "@placeholder": "___",
    "@begin": "⊢",
    "@end": "⊣",
    "``": "“",
    "''": "”",
    "`": "‘",
    "'": "’",
    "--": "–",
    "...": "…",
    "-lrb-": "(",
    "-rrb-": ")",
    "-lsb-": "[",
    "-rsb-": "]",
    "-lcb-": "{",
    "-rcb-": "}",
}
"""The page of the service has the same signs (`serve/page/text.js`)."""

_ATTACHED = re.compile(r"(?i)[.,;:!?%]+|’(?:s|re|ve|ll|d|m)|n’t|[…”’)\]}]")
"""These follow the word before without a space."""
_ATTACHING = re.compile(r"(?i)[a-z]{0,3}[$£€¥]|#|[ydlj]’|[“‘(\[{]")
"""The next word follows these without a space."""
_SPLIT = frozenset("can not,gon na,wan na,got ta,lem me,gim me,du n,n no,’t is,’t was".split(","))
"""Words that the Treebank splits in two."""
_SHORT = frozenset(["i", "a", "o"])
"""Before these words, the Children's Book Test has a closing single mark for an opening one."""
_ELIDED = frozenset(["'t", "'em"])
"""Before these words, it has a closing double mark for an opening one."""


def detokenise(words: Sequence[str]) -> str:
    """The words as one text, with the blank as ___."""
    return "".join(space + text for space, text in pieces(words))


def pieces(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield for each word the space before it, which may be empty, and the word as people write it."""
    before = None
    for text in _directed(words):
        if text == "." and before and before.endswith("."):
            yield "", ""  # the Treebank repeats the full stop of an abbreviation
        elif before is None or _ATTACHED.fullmatch(text) or _ATTACHING.fullmatch(before):
            yield "", text
        else:
            yield "" if f"{before} {text}".lower() in _SPLIT else " ", text
        before = text


def _directed(words: Sequence[str]) -> list[str]:
    """The words in the signs of people; the direction of a quotation mark depends on the marks before it."""
    signs: list[str] = []
    double = single = False  # whether a quotation is open
    for place, word in enumerate(words):
        before, after = words[place - 1] if place else "", words[place + 1].lower() if place + 1 < len(words) else ""
        begins = not before[-1:].isalnum()
        sign = _SIGNS.get(word.lower(), word)
        if word == '"':
            sign = "”" if double else "“"
        elif word == "''" and not double and begins and after in _ELIDED:
            sign = "“"
        elif word == "'" and not single and begins and after in _SHORT:
            sign = "‘"
        if sign in "“”":
            double = sign == "“"
        elif sign == "‘" or (sign == "’" and not (before.lower().endswith("s") and after.isalpha())):
            single = sign == "‘"
        signs.append(sign.replace("'", "’"))
    return signs
