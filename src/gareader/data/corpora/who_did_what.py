"""Who Did What: XML `ROOT/mc`, cut into its `mc` elements, which are parsed one by one."""

import re
from collections.abc import Iterator
from html import escape
from html.entities import html5
from pathlib import Path
from xml.parsers import expat

from gareader.core.errors import CorpusError
from gareader.core.files import LARGEST
from gareader.data.corpora.files import Report, checked_example, pieces, stem, utf8
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.text import words

SHAPE = "XML: <ROOT> of <mc> with <question>, <contextart> and <choice>"
ROOT = ("<ROOT>\n", "</ROOT>\n")
"""The text before and after the elements of a file."""

_TAG = re.compile(r"<(/?)mc(?:\s[^<>]*)?>")
_OUTSIDE = re.compile(r"(?:\s|<\?.*?\?>|<!--.*?-->|</?ROOT(?:\s[^<>]*)?>)*+", re.DOTALL)
_DECLARATION = re.compile(r"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_INDEX = re.compile(r"\d{1,9}")
_LONGEST_TAG = 1000  # characters at the end of the text that may be the beginning of a tag
_NOT_CLOSED = "this <mc> is not closed; end it with </mc>"
_TEXTS = ("leftcontext", "rightcontext", "contextart")


def looks_like(beginning: str) -> bool:
    """Whether the beginning of a file is in this format."""
    return beginning.lstrip().startswith("<") and re.search(r"<(?:ROOT|mc)[\s>]", beginning) is not None


def read(path: Path, report: Report) -> Iterator[Example]:
    """Stream the questions; report a bad one and continue with the next."""
    name, count = stem(path), 0
    for count, (line, text) in enumerate(_elements(path, report), 1):
        try:
            example = _Element(path, line, text).example(f"{name}:{count}")
        except CorpusError as bad:
            report(bad)
        else:
            yield example
    if not count:
        report(CorpusError("holds no whole <mc>; is it the right file?", path))


def written(example: Example) -> str:
    """Return the question as an element `mc`; a file has ROOT around its elements."""
    from xml.sax.saxutils import quoteattr  # it imports urllib, which an answer does not need

    blank = example.query.index(PLACEHOLDER)
    left, right, document = (
        escape(" ".join(text), quote=False)
        for text in (example.query[:blank], example.query[blank + 1 :], example.document)
    )
    choices = "".join(
        f'<choice idx="{idx}" correct="{str(idx == example.answer).lower()}">'
        f"{escape(' '.join(candidate), quote=False)}</choice>\n"
        for idx, candidate in enumerate(example.candidates)
    )
    return (
        f"<mc id={quoteattr(example.id)}>\n<question>\n<leftcontext>{left}</leftcontext>\n"
        f"<rightcontext>{right}</rightcontext>\n</question>\n<contextart>{document}</contextart>\n{choices}</mc>\n"
    )


def _elements(path: Path, report: Report) -> Iterator[tuple[int, str]]:
    """Yield each `<mc>...</mc>` with its first line; report text between them, which would be lost."""
    text, line = "", 1  # the rest of the text, and its first line
    inside = False  # whether the rest begins with <mc>
    reported = False  # whether the rest belongs to an error already reported
    searched = 0  # the number of characters already searched for tags

    def cut(end: int) -> str:
        nonlocal text, line, searched
        before, text, searched = text[:end], text[end:], 0
        line += before.count("\n")
        return before

    try:
        for piece in pieces(path):
            text += piece
            while tag := _TAG.search(text, searched):
                opening, start = not tag[1], line
                if inside and not opening:
                    yield start, cut(tag.end())
                elif inside:
                    report(CorpusError(_NOT_CLOSED, path, start))
                    cut(tag.start())
                else:
                    _check_outside(
                        cut(tag.start() if opening else tag.end()), path, start, None if reported else report
                    )
                inside, reported, searched = opening, False, len(tag[0]) if opening else 0
            searched = max(searched, len(text) - _LONGEST_TAG)
            if len(text) > LARGEST:
                start = line
                problem = f"more than {LARGEST >> 20} MiB in one <mc> or before one; is a </mc> missing?"
                if not reported:
                    report(CorpusError(problem, path, start))
                inside, reported = False, True
                _check_outside(cut(len(text) - _LONGEST_TAG), path, start, None)
    except CorpusError as error:
        raise error if error.line else CorpusError(error.problem, path, line - 1 + text.count("\n")) from None
    _check_outside(text, path, line, None)
    if "</ROOT" not in text:
        place = "inside this <mc>" if inside else "here"
        line += 0 if inside else text.rstrip("\n").count("\n")
        report(CorpusError(f"the file ends {place}, without </ROOT>; it was cut off: get it again", path, line))
    elif inside:
        report(CorpusError(_NOT_CLOSED, path, line))
    else:
        _check_outside(text, path, line, None if reported else report)


def _check_outside(text: str, path: Path, line: int, report: Report | None) -> None:
    """Raise CorpusError for a declaration; report anything else but white space, comments and the root's tags."""
    if declaration := _DECLARATION.search(text):
        problem = f"{declaration[0]} is refused: entities can blow up or fetch files; remove the declaration"
        raise CorpusError(problem, path, line + text.count("\n", 0, declaration.start()))
    allowed = _OUTSIDE.match(text)
    if report and allowed and allowed.end() < len(text):
        line += text.count("\n", 0, allowed.end())
        report(CorpusError("there is text outside of any <mc>; is a tag <mc> missing?", path, line))


class _Element:
    def __init__(self, path: Path, line: int, text: str) -> None:
        self.path, self.line = path, line
        self.id = ""
        self.texts: dict[str, list[str]] = {name: [] for name in _TEXTS}
        self.choices: dict[int, tuple[list[str], bool]] = {}
        self.current: list[str] | None = None  # the list that gets the text of the current element
        for number, row in enumerate(text.split("\n"), line):
            utf8(row, path, number)
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        try:
            self.parser.Parse(_ENTITY.sub(_character, text), True)
        except expat.ExpatError as error:
            problem = f"broken XML: {expat.ErrorString(error.code)}; mend this <mc> or leave it out"
            raise CorpusError(problem, path, line + error.lineno - 1) from None
        finally:
            del self.parser  # it refers to our methods: a reference cycle, which would stay in memory for long

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "mc":
            self.id = attributes.get("id", "")
        elif name in self.texts:
            self.current = self.texts[name]
        elif name == "choice":
            self.current = self.choice(attributes)
        self.characters(" ")  # a tag separates words

    def end(self, name: str) -> None:
        self.characters(" ")
        if name in self.texts or name == "choice":
            self.current = None

    def characters(self, text: str) -> None:
        if self.current is not None:
            self.current.append(text)

    def choice(self, attributes: dict[str, str]) -> list[str]:
        """Add a choice, and return the list for its text."""
        line = self.line + self.parser.CurrentLineNumber - 1
        index, correct = attributes.get("idx", ""), attributes.get("correct", "false").lower()
        if not _INDEX.fullmatch(index) or int(index) in self.choices:
            raise CorpusError(f"a choice with idx={index[:20]!r}; number the choices 0, 1, 2, ...", self.path, line)
        if correct not in ("true", "false"):
            raise CorpusError(f"a choice with correct={correct!r}; write true or false", self.path, line)
        text: list[str] = []
        self.choices[int(index)] = text, correct == "true"
        return text

    def example(self, default_id: str) -> Example:
        left, right, document = (words("".join(self.texts[name])) for name in _TEXTS)
        if not left and not right:
            raise CorpusError("no leftcontext and no rightcontext; the question needs its text", self.path, self.line)
        choices = [(words("".join(text)), correct) for _, (text, correct) in sorted(self.choices.items())]
        answers = [candidate for candidate, correct in choices if correct]
        if len(answers) > 1:
            raise CorpusError(f"{len(answers)} choices are correct; mark one", self.path, self.line)
        query = (*left, PLACEHOLDER, *right)
        candidates = tuple(candidate for candidate, _ in choices)
        answer = answers[0] if answers else None
        return checked_example(self.path, self.line, self.id or default_id, document, query, candidates, answer)


def _character(entity: re.Match[str]) -> str:
    """Return the character of an HTML entity such as `&nbsp;`, escaped again if XML needs it; leave others to expat."""
    return escape(html5.get(f"{entity[1]};", "")) or entity[0]
