"""The story of a Project Gutenberg file, without licence, title page, contents, pictures and transcribers' notes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

_START = re.compile(
    r"""(?ix)
    ^[ ]*\*{2,3}\s*START\ OF\ (?:THE|THIS)\ PROJECT\ GUTENBERG(?:[^*]{0,300}\*{2,3}|.*$)
    | ^.{0,20}\*END\b.{0,9}THE\ SMALL\ PRINT.*$
    | ^.{0,9}END.{0,3}THE\ SMALL\ PRINT!.*$
    """,
    re.MULTILINE,
)
_END = re.compile(
    r"""(?ix)
    ^[ ]*\*{2,3}\s*END\ OF\ (?:THE|THIS)\ PROJECT\ GUTENBERG
    | ^[ *]*(?:THIS\ IS\ )?(?:THE\ )?END\ OF\ (?:THE\ |THIS\ )?PROJECT\ GUTENBERG
    | ^[ *]*END\ OF\ (?:THE|THIS)\ (?:PROJECT\ GUTENBERG\ )?(?:ETEXT|E-TEXT|EBOOK)\b
    """,
    re.MULTILINE,
)
_BY_HANDS = re.compile(
    r"""(?ix)
    (?:this\ )?(?:e-?text|e-?book|file|html\ version)?\ ?(?:was\ )?(?:first\ )?
    (?:produced|prepared|transcribed|scanned|proof(?:ed|read)|typed|digitized|created|converted|contributed)
    (?:\W+(?:and|produced|prepared|transcribed|scanned|proof(?:ed|read)|typed|converted))*\ (?:by|from)\b
    | .*(?:project\ gutenberg|distributed\ proofread|https?://|www\.|@[a-z]+\.[a-z])
    | \W*transcriber['’]?s?['’]?\ notes?\b
    | (?:character\ set\ encoding|release\ date|posting\ date|language):|\[?(?:e-?text|e-?book)\ \#
    """
)
_CONTENTS = re.compile(
    r"\W*(?:(?:table of )?(?:the )?contents|(?:list of )?(?:the )?(?:full.page )?(?:illustrations|plates|maps))"
    r"(?: (?:of|to) (?:the )?(?:\w+ )?(?:volume|part|book)\b.{0,20})?\W*(?:page\W*)?",
    re.IGNORECASE,
)
_WITH_PAGE = re.compile(r".*(?:\s\s|\.\s*\.|page\W)[\s.]*[\divxlc]{1,6}\W*|.*\bfrontispiece\W*", re.IGNORECASE)
_OVER_PAGES = re.compile(r"\W*(?:chap(?:ter|\.)\s+)?(?:(?:to )?fac(?:e|ing) )?page\W*", re.IGNORECASE)
_BEFORE_STORY = re.compile(r"\W*(?:the )?(?:author['’]s )?(?:preface|foreword|dedication|note)\b\W*", re.IGNORECASE)
_FIRST_CHAPTER = re.compile(r"\W*(?:chapter|book|part)\s+(?:the\s+)?(?:I|1|one|first)\b.*|\W*I\W*", re.IGNORECASE)
_BY_AUTHOR = re.compile(r"(?i:by)\s+(?:[A-Z][\w.'’-]*[\s,]*(?:(?i:and|de|von|la|of|the|mrs?\.)\s+)*){1,8}\W*")
_OF_TITLE_PAGE = re.compile(
    r"(?i).*\b(?:illustrat(?:ed|ions)|copyright|publish(?:ed|ers)|author of|edited by|translated|edition|company|press"
    r"|new york|london|boston|chicago|philadelphia|1[789]\d\d)\b"
)
_AFTERMATH = re.compile(
    r"\W*(?:footnotes?|endnotes?|notes|transcriber['’]?s?['’]? notes?|errata|index)\W*", re.IGNORECASE
)
_FINIS = re.compile(
    r"\W*(?:the end|end|finis)\W*|[\W_]*"
    r"|.{0,60}(?<![a-z])(?:printed|electrotyped|stereotyped)(?![a-z]).{0,20}(?<![a-z])(?:by|at|in)(?![a-z]).{0,80}",
    re.IGNORECASE | re.DOTALL,
)
_ENTRY = re.compile(r"\s*(?:chapter\b|[ivxlc]+\W|\d+\W)|.*\W\d{1,4}\s*$", re.IGNORECASE)
_NUMBERING = re.compile(r"\b(?:chapter|[ivxlc]+|\d+|page)\b|[\W_]+", re.IGNORECASE)

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

_FRONT = 400
"""The number of paragraphs to search for the beginning of the story."""

_PREFACE = 30
"""The longest preface before the contents, in paragraphs; a longer text is taken for a story."""


@dataclass(frozen=True)
class _Paragraph:
    text: str
    start: int
    blank: int
    """Blank lines before it."""

    @property
    def prose(self) -> bool:
        """Whether this is running text, not a heading, list or title page."""
        lines = self.text.split("\n")
        filled = sum(len(line) > 50 and not _ENTRY.match(line) for line in lines)
        return (filled >= 2 and 2 * filled >= len(lines)) or (len(lines) == 1 and len(self.text) > 90)

    @property
    def lists_pages(self) -> bool:
        lines = self.text.split("\n")
        return all(map(_OVER_PAGES.fullmatch, lines)) or (_gives_page(lines[-1]) and not self.prose)

    @property
    def heading(self) -> str:
        return self.text.split("\n", 1)[0].strip()


def _key(heading: str) -> str:
    """A normal form of a heading, without numbers and punctuation."""
    return _NUMBERING.sub("", heading).lower()


def body(text: str) -> str:
    """Return the story; of a text without Project Gutenberg's marks, all but a table of contents at the beginning."""
    text = text.replace("\r\n", "\n")
    starts, story = list(_START.finditer(text)), text
    begin = next((mark.end() for mark in starts), 0)
    end = _END.search(text, begin)
    if end:
        begin = max((mark.end() for mark in starts if mark.end() <= end.start()), default=0)
        story = text[begin : end.start()]
    elif starts:
        story = text[starts[-1].end() :]
    marked = len(story) < len(text)
    story = _without_apparatus(story)
    paragraphs = _paragraphs(story)
    first = _first(paragraphs[:_FRONT], marked)
    last = _last(paragraphs, first) if marked else len(paragraphs)
    kept = _without_lists(paragraphs[first:last])
    if len(kept) == len(paragraphs):
        return story
    return "".join("\n" * paragraph.blank + paragraph.text + "\n" for paragraph in kept).lstrip("\n")


def _without_apparatus(text: str) -> str:
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


def _paragraphs(text: str) -> list[_Paragraph]:
    paragraphs: list[_Paragraph] = []
    lines: list[str] = []
    start = position = blank = 0
    for line in [*text.split("\n"), ""]:
        if line and not line.isspace():
            start = start if lines else position
            lines.append(line)
        else:
            if lines:
                paragraphs.append(_Paragraph("\n".join(lines), start, blank))
                lines, blank = [], 0
            blank += 1
        position += len(line) + 1
    return paragraphs


def _first(paragraphs: Sequence[_Paragraph], marked: bool) -> int:
    """The first paragraph of the story, after contents and title page: its first heading."""
    first = 0
    if marked:
        first = sum(1 for _ in takewhile(lambda paragraph: _BY_HANDS.match(paragraph.text.lstrip()), paragraphs))
    contents = next((i for i, paragraph in enumerate(paragraphs) if _CONTENTS.fullmatch(paragraph.heading)), None)
    if contents is not None:
        before = paragraphs[first:contents]
        chapter = any(_FIRST_CHAPTER.fullmatch(paragraph.heading) for paragraph in before)
        if not chapter and sum(paragraph.prose for paragraph in before) <= (_PREFACE if marked else 0):
            return _behind_contents(paragraphs, contents)
    return _behind_title(paragraphs, first) if marked else 0


def _without_lists(paragraphs: Sequence[_Paragraph]) -> list[_Paragraph]:
    """Remove tables of contents and lists of illustrations with pages, at any place."""
    kept: list[_Paragraph] = []
    at = 0
    while at < len(paragraphs):
        end = at
        if _CONTENTS.fullmatch(paragraphs[at].heading):
            end += 1
            while end < len(paragraphs) and paragraphs[end].lists_pages:
                end += 1
        pages = sum(map(_gives_page, "\n".join(paragraph.text for paragraph in paragraphs[at:end]).split("\n")))
        if pages < 2:  # a list within the story
            end = at + 1
            kept.append(paragraphs[at])
        at = end
    return kept


def _gives_page(line: str) -> bool:
    """Whether a line of a list ends with a page number."""
    return len(line) < 200 and _WITH_PAGE.fullmatch(line) is not None


def _behind_contents(paragraphs: Sequence[_Paragraph], contents: int) -> int:
    """The first heading that repeats an entry of the contents, or else the last wide gap before the running text."""
    entries = {_key(line) for line in paragraphs[contents].text.split("\n")[1:]} - {""}
    listed = range(contents + 1, len(paragraphs))
    prose = next((i for i in listed if paragraphs[i].prose), len(paragraphs))
    for i in listed:
        if i >= prose and not _in_preface(paragraphs, i):
            break
        lines, key = paragraphs[i].text.split("\n"), _key(paragraphs[i].text)
        title = len(lines) <= 3 and not _BEFORE_STORY.match(lines[0]) and not _CONTENTS.fullmatch(lines[0].strip())
        if title and (key in entries or _key(lines[0]) in entries):
            return _with_number(paragraphs, i, contents + 1)
        entries |= {key, *map(_key, lines)} - {""}
    return max((i for i in listed[: prose - contents] if paragraphs[i].blank > 2), default=prose)


def _in_preface(paragraphs: Sequence[_Paragraph], at: int) -> bool:
    headings = [paragraph for paragraph in paragraphs[:at] if not paragraph.prose]
    return bool(headings) and bool(_BEFORE_STORY.match(headings[-1].text))


def _with_number(paragraphs: Sequence[_Paragraph], heading: int, least: int) -> int:
    """Move back from the heading to the lone numbers or the word CHAPTER directly before it."""
    while heading > least and not _key(paragraphs[heading - 1].text) and paragraphs[heading].blank <= 2:
        heading -= 1
    return heading


def _behind_title(paragraphs: Sequence[_Paragraph], first: int) -> int:
    """The first chapter, or else the paragraph after the author's name and the rest of the title page."""
    listed = range(first, len(paragraphs))
    prose = next((i for i in listed if paragraphs[i].prose), len(paragraphs))
    chapter = next((i for i in listed if _FIRST_CHAPTER.fullmatch(paragraphs[i].heading)), len(paragraphs))
    if chapter < len(paragraphs) and (chapter < prose or _in_preface(paragraphs, prose)):
        return chapter
    for i in listed[: min(prose - first, 12)]:
        if _BY_AUTHOR.fullmatch(paragraphs[i].text.split("\n")[-1].strip()):
            first = i + 1
    while first < prose and _OF_TITLE_PAGE.match(paragraphs[first].text):
        first += 1
    return first


def _last(paragraphs: Sequence[_Paragraph], first: int) -> int:
    """The paragraph after the story: notes, index, credits or THE END."""
    late = 4 * paragraphs[-1].start // 5 if paragraphs else 0  # earlier notes belong to a chapter
    notes = (i for i in range(first, len(paragraphs)) if paragraphs[i].start >= late)
    last = next((i for i in notes if _AFTERMATH.fullmatch(paragraphs[i].heading)), len(paragraphs))
    while last > first and any(mark(paragraphs[last - 1].text.strip()) for mark in (_FINIS.fullmatch, _BY_HANDS.match)):
        last -= 1
    return last
