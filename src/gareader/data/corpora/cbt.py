"""The Children's Book Test: numbered sentences, then `21 query with XXXXX<TAB>answer<TAB><TAB>c1|c2|...`."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, count
from pathlib import Path

from gareader.core.errors import CorpusError, ExampleError
from gareader.core.files import LARGEST
from gareader.data.corpora.delta import Delta
from gareader.data.corpora.files import (
    WHOLE,
    Report,
    Span,
    checked_example,
    good,
    line_lists,
    not_among,
    stem,
    too_large,
    utf8,
)
from gareader.data.examples import PLACEHOLDER, Example, Words, check_question
from gareader.data.text import SEPARATOR, separated, words

QUERY_LINE = "'21 query with XXXXX<TAB>answer<TAB><TAB>c1|c2|...'"
SHAPE = f"numbered lines from '1 ...' to {QUERY_LINE}"

BEGINNING = b"\n1 "
"""A file can be cut before a line numbered 1."""

_BLANK = {"XXXXX": PLACEHOLDER}
_NUMERALS = [f"{number} " for number in range(1, 100)]
_NUMERALS_LENGTH = [0, *accumulate(map(len, _NUMERALS))]
"""The total length of the numerals of a question, by its number of lines."""


def looks_like(beginning: str) -> bool:
    """Whether the beginning of a file is in this format."""
    return re.match(r"\s*1 \s*\S", beginning) is not None


def read(path: Path, report: Report, span: Span = WHOLE) -> Iterator[Example]:
    """Stream the questions; report a bad one and continue with the next."""
    name = stem(path)
    window = _Window()
    split: list[str] = []
    document: Words = ()

    def parse(question: tuple[int, list[str]]) -> Example:
        nonlocal document
        last, texts, query, answer, candidates = _fields(path, *question)
        dropped, new = window.moved_to(texts)
        if dropped or new:
            del split[:dropped]
            for sentence in map(words, new):
                split.extend(sentence)
                window.lengths.append(len(sentence))
            document = tuple(split)
        choices = _candidates(candidates)
        return checked_example(path, last, f"{name}:{last}", document, _query(query), choices, words(answer) or None)

    return good(_blocks(path, span), parse, report)


def deltas(path: Path, report: Report, span: Span = WHOLE) -> Iterator[Delta]:
    """Stream the same questions as they differ from the one before, without making their words."""
    name = stem(path)
    window = _Window()

    def parse(question: tuple[int, list[str]]) -> Delta:
        nonlocal window
        last, texts, query, answer, candidates = _fields(path, *question)
        length, blanks, query = _query_text(query)
        lengths, choices = _candidate_texts(candidates)
        answer = SEPARATOR.join(words(answer))
        if answer and answer not in choices:
            raise not_among(choices, answer, path, last)
        index = choices.index(answer) if answer else None
        _, new = window.moved_to(texts)
        counts, document = separated(new)
        window.lengths += counts
        size = sum(window.lengths)
        try:
            check_question(size, length, blanks, lengths, index)
        except ExampleError as error:
            window = _Window()  # the next question does not follow this one, which nobody gets
            raise CorpusError(str(error), path, last) from None
        return Delta(f"{name}:{last}", size, sum(counts), document, query, SEPARATOR.join(choices), lengths, index)

    return good(_blocks(path, span), parse, report)


def written(example: Example, sentences: Sequence[str] | None = None) -> str:
    """Return the question's lines and a blank one; the document has a line per sentence, or one line without them."""
    candidates = [" ".join(words) for words in example.candidates]
    if any("|" in candidate and candidate != "|" for candidate in candidates) or "XXXXX" in example.query:
        raise ExampleError(f"{example.id}: '|' in a candidate or XXXXX in the query; write the question as JSON lines")
    rows = [" ".join(example.document)] if sentences is None else sentences
    numbered = "".join(f"{number} {row}\n" for number, row in enumerate(rows, 1))
    query = " ".join("XXXXX" if word == PLACEHOLDER else word for word in example.query)
    answer = "" if example.answer is None else candidates[example.answer]
    return f"{numbered}{len(rows) + 1} {query}\t{answer}\t\t{'|'.join(candidates)}\n\n"


def _blocks(path: Path, span: Span) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of each question and the number of the first; a blank line or a line numbered 1 ends one."""
    block: list[str] = []
    first, size = span.line, 0
    for rows in line_lists(path, span):
        before = first
        for row in rows:
            # one comparison for nearly all lines: blank ones and those that begin with "1 " sort before "1!"
            if row > "1!":
                block.append(row)
            elif (blank := not row or row.isspace()) or row.startswith("1 "):
                if block:
                    yield first, block
                first += len(block) + blank
                block = [] if blank else [row]
            else:
                block.append(row)
        size = size + sum(map(len, rows)) if first == before else 0
        if size > LARGEST:
            raise too_large("question", path, first)
    if block:
        yield first, block


def _texts(path: Path, first: int, block: list[str]) -> list[str]:
    """Return the texts after the numerals of a question's lines; the numerals count up from one."""
    whole = "".join(block)
    if not whole.isascii():
        for number, row in enumerate(block, first):
            utf8(row, path, number)
    texts = list(map(str.removeprefix, block, _NUMERALS))
    if len(texts) == len(block) and len("".join(texts)) + _NUMERALS_LENGTH[len(texts)] == len(whole):
        return texts  # every line has its numeral
    texts.clear()  # a numeral is wrong or beyond 99: check each line
    for row, position, number in zip(block, count(1), count(first)):
        numeral, _, text = row.partition(" ")
        if numeral != f"{position}":
            problem = f"this line begins with {numeral!r} where {position} is due; a question's lines count up from 1"
            raise CorpusError(problem, path, number)
        texts.append(text)
    return texts


def _fields(path: Path, first: int, block: list[str]) -> tuple[int, list[str], str, str, str]:
    """Return the number of a question's last line, its sentences, and the query, answer and candidates."""
    last = first + len(block) - 1
    *texts, query_line = _texts(path, first, block)
    fields = query_line.split("\t")
    if len(fields) != 4 or fields[2].strip():
        raise CorpusError(f"the question ends here without its query line, {QUERY_LINE}", path, last)
    return last, texts, fields[0], fields[1], fields[3]


class _Window:
    """The sentences of the last document: neighbouring questions share most, so that only new ones need be split."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.lengths: list[int] = []
        """The number of words of each sentence; who splits the new ones appends theirs."""

    def moved_to(self, texts: list[str]) -> tuple[int, list[str]]:
        """Return how many of the last document's words are dropped at its beginning, and the sentences that follow."""
        if texts == self.texts:
            return 0, []
        dropped = self.texts.index(texts[0]) if texts and texts[0] in self.texts else len(self.texts)
        kept = len(self.texts) - dropped
        if texts[:kept] != self.texts[dropped:]:
            dropped, kept = len(self.texts), 0
        size = sum(self.lengths[:dropped])
        del self.lengths[:dropped]
        self.texts = texts
        return size, texts[kept:]


def _query(text: str) -> Words:
    split = words(text)
    return tuple(map(_BLANK.get, split, split))  # the loop is in C


def _query_text(text: str) -> tuple[int, int, str]:
    """Return how many words and how many blanks a query has, and its words."""
    (length,), separate = separated([text])
    if separate.count("XXXXX") == 1 and PLACEHOLDER not in separate and "\nXXXXX\n" in f"\n{separate}\n":
        return length, 1, separate.replace("XXXXX", PLACEHOLDER)  # as nearly always
    query = _query(text)
    return length, query.count(PLACEHOLDER), SEPARATOR.join(query)


def _candidates(field: str) -> tuple[Words, ...]:
    """Parse the candidates `a|b|c`; a candidate that is the bar, as in `a|b||`, gives two empty pieces in a row."""
    if pieces := _one_word_each(field):
        return tuple(zip(pieces))
    candidates: list[Words] = []
    rest = iter(" ".join(words(field)).split("|"))
    for piece in rest:
        if piece == "" and (following := next(rest, None)) is not None:
            candidates += [("|",)] if following == "" else [(), words(following)]
        else:
            candidates.append(words(piece))
    return tuple(candidates)


def _candidate_texts(field: str) -> tuple[Sequence[int], list[str]]:
    """Return how many words each candidate has, and its words."""
    if pieces := _one_word_each(field):
        return (1,) * len(pieces), pieces
    candidates = _candidates(field)
    return tuple(map(len, candidates)), [*map(SEPARATOR.join, candidates)]


def _one_word_each(field: str) -> list[str]:
    """The candidates if each is plainly one word, as nearly always."""
    pieces = field.split("|")
    return pieces if "" not in pieces and " " not in field and field.isascii() and field.isprintable() else []
