"""The apparatus of editors and transcribers in a book: notes on pictures, page numbers, footnotes, rules."""

import re
from collections.abc import Iterator
from itertools import groupby

_OPENED = r"""
    \[\s*(?:
      (?:illustrations?|frontispiece|decoration|ornament|vignette|(?:head|tail)-?piece)\b
    | (?:footnotes?|side-?notes?|(?:blank|title)\ page)\b
    | (?:plate|picture|image|photograph|figure|map|music|cover)(?=\s*[:.\d\]])
    | transcriber|transcription|editor\ of\ this\ e )
"""
_NOTE = rf"(?:{_OPENED}(?:(?:[^\[\]]|\[[^\[\]]*+\]){{0,3000}}+\]|(?:[^\n]|\n(?![ \t]*\n))*+))"
"""A note in brackets, which may contain others; an unclosed one goes to the end of the paragraph."""
_PAGE = r"(?:\[\s*(?:pg|page|p)\.?\s*[\divxlc]+\s*\]|\{(?:pg|page|p)?\.?\s*[\divxlc]+\s*\})"
_REFERENCE = r"(?:\[(?:\d{1,3}|[A-Z]|\*{1,3}|[†‡])\])"
_FOOTNOTE = rf"(?:{_REFERENCE}[ \t]+\S.*(?:\n[ \t]*\S.*)*)"
"""A footnote with its reference, at the beginning of a paragraph."""
_APPARATUS = re.compile(
    rf"(?:^[ \t]*(?:{_NOTE}|{_PAGE})[ \t]*(?:\n|\Z)) | (?:(?<=\n\n)|\A)[ \t]*{_FOOTNOTE}"
    rf"| {_NOTE} | {_PAGE} | {_REFERENCE}",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
"""A line of apparatus alone is matched with its line break, so that it cuts no paragraph in two."""
_RULE = re.compile(r"[ \t]*+(?:[*=~#_•·-][ \t]*+){3,}+")
_FRAME = re.compile(r"[ \t]*\+[-=+]{3,}\+?[ \t]*")
_FRAMED = re.compile(r"[ \t]*\|(.*)\|[ \t]*")
_ON_EDITION = re.compile(r"(?i)transcri|typograph|errata|spelling|hyphenat|project gutenberg")


def without_apparatus(text: str) -> str:
    """Remove notes in brackets, page numbers, footnotes, rules between sections, and boxes about the edition."""
    lines = _APPARATUS.sub("", text).split("\n")
    return "\n".join("" if _RULE.fullmatch(line) else line for line in _unframed(lines))


def _unframed(lines: list[str]) -> Iterator[str]:
    """Replace boxes drawn with characters by their text, or by nothing if it is about the edition."""
    for framed, some in groupby(lines, lambda line: bool(_FRAME.fullmatch(line) or _FRAMED.fullmatch(line))):
        if not framed:
            yield from some
            continue
        inside = [_FRAMED.fullmatch(line) for line in some]
        texts = [line[1].strip() for line in inside if line]
        if not _ON_EDITION.search("\n".join(texts)):
            yield from texts
