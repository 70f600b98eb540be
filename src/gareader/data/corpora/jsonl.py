"""JSON lines, for users' own questions: one object per line, its texts raw or as lists of words."""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any
from unicodedata import normalize

from gareader.core.errors import CorpusError, ExampleError, ForeignLineError, did_you_mean
from gareader.core.parsing import ParseError, json_kind, json_value
from gareader.data.corpora.files import WHOLE, Report, Span, checked_example, good, lines, stem, utf8
from gareader.data.examples import Example, Words
from gareader.data.language.candidates import find_candidates
from gareader.data.language.questions import as_cloze
from gareader.data.text import mark_blank, paragraphs, query_words, tokenise

SHAPE = '{"id": ..., "document": ..., "query": ..., "candidates": [...], "answer": ...}'

BEGINNING = b"\n"
"""A file can be cut before every line."""


def looks_like(beginning: str) -> bool:
    """Whether the beginning of a file is in this format."""
    return beginning.lstrip().startswith("{")


def read(path: Path, report: Report, span: Span = WHOLE, *, propose: bool = False) -> Iterator[Example]:
    """Stream the questions; report a bad one and continue with the next.

    With `propose`, a question without candidates gets candidates from its document.
    """
    name = stem(path)
    rows = ((number, row) for number, row in lines(path, span) if row.strip())
    return good(rows, lambda row: _Question(path, *row).example(f"{name}:{row[0]}", propose), report)


def question_of(row: dict[str, Any], path: Path, number: int) -> Example:
    """The question of a line that is parsed already; without candidates, they are proposed from its document."""
    return _Question(path, number, row).example(f"{path}:{number}", propose=True)


def written(example: Example) -> str:
    """Return the question as a line, its texts as lists of words."""
    return json.dumps(example.record(), ensure_ascii=False) + "\n"


class JsonLine:
    """One JSON object, and its place for errors."""

    kind = "a question"
    shape = SHAPE

    def __init__(
        self, path: Path, number: int, row: str | dict[str, Any], parse_constant: Callable[[str], Any] | None = None
    ) -> None:
        """`row` is the text of the line, or its object."""
        self.path, self.number = path, number
        try:
            self.object = row if isinstance(row, dict) else json_value(utf8(row, path, number), parse_constant)
        except ParseError as error:
            problem = f"broken JSON: {error}; write each {self.kind.split()[1]} as one whole object on one line"
            raise ForeignLineError(problem, path, number) from None
        if not isinstance(self.object, dict):
            raise ForeignLineError(f"{json_kind(self.object)} where an object is due: {self.shape}", path, number)

    def bad(self, problem: str) -> CorpusError:
        return CorpusError(problem, self.path, self.number)

    def check_keys(self, needed: Sequence[str], optional: Sequence[str], known: Collection[str]) -> None:
        """Raise the error of a missing or misspelt key; ignore other keys, which are the user's own."""
        absent = [key for key in (*needed, *optional) if key not in self.object]
        for key in self.object:
            if key not in known and get_close_matches(key, absent, n=1, cutoff=0.75):
                raise self.bad(f"unknown key {key!r}; {did_you_mean(key, known)}")
        for key in absent:
            if key in needed:
                raise self.bad(f"the key {key!r} is missing; {self.kind} is {self.shape}")


class _Question(JsonLine):
    def example(self, default_id: str, propose: bool) -> Example:
        proposed = propose and "candidates" not in self.object
        needed = ("document", "query") if proposed else ("document", "query", "candidates")
        self.check_keys(needed, ("candidates", "answer"), ("id", "document", "query", "candidates", "answer"))
        answer = self.object.get("answer")
        document = self.object["document"]
        is_text = isinstance(document, str)
        parts = paragraphs(self.checked(document)) if is_text else [self.words("document", document, tokenise)]
        try:
            cloze = as_cloze(mark_blank(self.words("query", self.object["query"], query_words)))
        except ExampleError as error:
            raise self.bad(str(error)) from None
        proposals = find_candidates(parts, cloze.query, cloze.kinds) if proposed else ()
        candidates = list(map(list, proposals)) if proposed else self.object["candidates"]
        if not isinstance(candidates, list):
            raise self.bad(f"the key 'candidates' holds {json_kind(candidates)}; give a list of texts or of word lists")
        example = checked_example(
            self.path,
            self.number,
            self.id(default_id),
            tuple(chain.from_iterable(parts)),
            cloze.query,
            tuple(self.words("candidates", candidate, tokenise) for candidate in candidates),
            None if answer is None else self.words("answer", answer, tokenise),
        )
        return replace(example, proposed=proposed)

    def id(self, default: str) -> str:
        """The id of the question, or the default."""
        given = self.object.get("id")
        if given is None:
            return default
        if isinstance(given, bool) or not isinstance(given, str | int) or given == "":
            raise self.bad(f"the key 'id' holds {json.dumps(given)}; give a text or a number, or leave it out")
        return utf8(str(given), self.path, self.number)

    def checked(self, text: str) -> str:
        return utf8(text, self.path, self.number)

    def words(self, key: str, value: object, split: Callable[[str], Words]) -> Words:
        """Split a text into words, or check a list of words."""
        if isinstance(value, str):
            return split(self.checked(value))
        if not isinstance(value, list):
            raise self.bad(f"the key {key!r} holds {json_kind(value)}; give a text or a list of words")
        for word in value:
            if not isinstance(word, str) or [word] != word.split():
                rule = "a word is text without white space, and not empty"
                raise self.bad(f"the key {key!r} holds {json.dumps(word)} as a word; {rule}")
        return tuple(normalize("NFC", utf8(word, self.path, self.number)) for word in value)
