"""Treebank tokens of raw text, the blank of a query, and questions from raw text."""

import re
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise

from gareader.core.errors import ExampleError, QuestionError
from gareader.data.examples import PLACEHOLDER, Example, Words
from gareader.data.language.candidates import find_candidates
from gareader.data.language.questions import as_cloze
from gareader.data.treebank import composed, sentences

_BLANK = re.compile(r"(?<!\w)(?:XXXXX|_{3,}|@placeholder)(?!\w)|\[MASK\]|<mask>")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_ELLIPSIS = re.compile(r"(?<!\.)\.{3}(?!\.)|…")
"""A blank too, if it is the only one of the query, and there is no other blank."""

SEPARATOR = "\n"
"""Between the words of a text that is quick to take apart again: no word of a corpus has a line feed."""


def words(line: str) -> Words:
    """Split tokenised text at white space; words are in Unicode's composed form (NFC)."""
    return tuple(line.split()) if line.isascii() else tuple(composed(line).split())


def separated(texts: Sequence[str]) -> tuple[list[int], str]:
    """How many words each of these tokenised texts has, and all the words; quicker than `words`, which makes each."""
    text = " ".join(texts)
    if text.isascii() and text.isprintable() and "  " not in text and text.strip() == text != "":
        return [each.count(" ") + 1 for each in texts], text.replace(" ", SEPARATOR)
    rows = [*map(words, texts)]
    return [*map(len, rows)], SEPARATOR.join(chain.from_iterable(rows))


def tokenise(text: str) -> Words:
    """Split raw text into Treebank tokens, as in the Children's Book Test: did n't, `` , -LRB-, Mr."""
    return tuple(chain.from_iterable(sentences(text)))


def paragraphs(text: str) -> list[Words]:
    """The tokens of each paragraph of raw text.

    Blank lines end paragraphs, and so does the end of a line in which the first word of the next one had room: a line
    of an address or of the head of a letter.
    """
    parts = _BLANK_LINE.split(text.strip())
    width = max(map(len, text.splitlines()), default=0)
    found: list[list[str]] = []
    for part in parts:
        lines = part.splitlines()
        begun = [lines[:1]] if lines else []
        for before, line in pairwise(lines):
            first = line.split(maxsplit=1)[:1]
            if first and len(before.rstrip()) + 1 + len(first[0]) <= width:
                begun.append([])
            begun[-1].append(line)
        found += begun
    return [words for lines in found if (words := tokenise("\n".join(lines)))]


def query_words(text: str) -> Words:
    """Tokenise a raw query; its blank (XXXXX, ___, @placeholder, [MASK], <mask> or ...) becomes PLACEHOLDER."""
    blank = _blank_of([text])
    return tokenise(blank.sub(f" {PLACEHOLDER} " if blank is _ELLIPSIS else PLACEHOLDER, text))


def mark_blank(tokens: Sequence[str]) -> Words:
    """Replace every spelling of the blank in a tokenised query by PLACEHOLDER."""
    blank = _blank_of(tokens)
    return tuple(PLACEHOLDER if blank.fullmatch(token) else token for token in tokens)


def question(document: str, query: str, candidates: Iterable[str] | None = None) -> Example:
    """Make an Example from raw text; the query has a blank or is a question; candidates may be proposed."""
    return question_of(paragraphs(document), query_words(query), candidates)


def question_of(document: Sequence[Words], query: Words, candidates: Iterable[str] | None) -> Example:
    """Make an Example from the words of the document's paragraphs and of the query.

    Candidates are raw text, or proposed from the document.
    """
    if isinstance(candidates, str):
        raise QuestionError(f"candidates = {candidates!r} is one text, and its letters are no answers; give a list")
    cloze = as_cloze(query)
    if document and PLACEHOLDER not in cloze.query:
        way_out = "mark one blank, and only one, with XXXXX, ___ or @placeholder, or ask a question that ends with ?"
        raise ExampleError(f"the query has no placeholder; {way_out}")
    if candidates is not None:
        choices = tuple(dict.fromkeys(map(tokenise, candidates)))
    elif document and cloze.query.count(PLACEHOLDER) == 1:
        choices = tuple(find_candidates(document, cloze.query, cloze.kinds))
        if len(choices) < 2:
            raise QuestionError("the document has no two names or nouns to choose from; give the candidates")
    else:
        choices = ()  # the Example says what is wrong
    words = tuple(chain.from_iterable(document))
    return Example("question", words, cloze.query, choices, None, proposed=candidates is None)


def propose_candidates(document: Sequence[Words], query: Words) -> list[Words]:
    """Possible answers from the document's paragraphs, of the kinds that the query asks for; it may be empty."""
    cloze = as_cloze(query)
    return find_candidates(document, cloze.query, cloze.kinds)


def _blank_of(query: Sequence[str]) -> re.Pattern[str]:
    """The pattern of the blank of a query, which is a text or a list of words."""
    dots = sum(len(_ELLIPSIS.findall(part)) for part in query)
    return _ELLIPSIS if dots == 1 and not any(map(_BLANK.search, query)) else _BLANK
