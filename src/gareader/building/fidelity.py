"""How near built questions come to the Children's Book Test's own: the same questions found, the same lines made."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gareader.building.books import BookBuilder
from gareader.building.kinds import Words
from gareader.building.shelf import Book, books
from gareader.corpora.files import Report, lines
from gareader.errors import BuildError, CorpusError
from gareader.parallel import in_order

Key = tuple[Words, str]
"""A passage, all its lines in a row, and the answer."""
Seen = tuple[set[Key], set[str], Counter[str], CorpusError | None]
"""Official questions and lines that a book gives, its numbers of questions and passages, or the problem with it."""


@dataclass(frozen=True)
class Fidelity:
    """Shares of the official questions and lines."""

    questions: int
    """Official ones."""
    found: float
    """Share of them that was built too: the same passage, the same answer."""
    lines: int
    """Official ones, each counted once."""
    reproduced: float
    """Share of them that the books' sentences equal."""
    built: int
    """Questions built."""
    per_passage: float
    """Questions built from a passage that gives any, on average."""


@dataclass(frozen=True)
class Comparison:
    """Makes a book's questions and looks them up among the official ones; sent to every worker."""

    builder: BookBuilder
    keys: frozenset[Key]
    lines: frozenset[str]

    def __call__(self, book: Book) -> Seen:
        """What the book gives."""
        try:
            sentences, questions, _ = self.builder.questions(book)
        except CorpusError as bad:
            return set(), set(), Counter(), bad
        rows = [" ".join(words) for words in sentences]
        length = self.builder.config.sentences + 1
        found = {(tuple(rows[q.start : q.start + length]), q.answer) for q in questions}
        counts = Counter(built=len(questions), passages=len({q.start for q in questions}))
        return found & self.keys, set(rows) & self.lines, counts, None


def compare(
    paths: Sequence[Path],
    official: Path,
    builder: BookBuilder,
    *,
    workers: int,
    report: Report,
    watch: Callable[[Iterator[Seen], int], Iterator[Seen]],
) -> Fidelity:
    """Build every book's questions and look for the official ones; a bad book is reported."""
    keys = list(_official(official))  # some passages ask for the same word twice
    if not keys:
        raise CorpusError("no question of the Children's Book Test is in here; --check takes its files", official)
    rows = frozenset(row for passage, _ in keys for row in passage)
    found: set[Key] = set()
    reproduced: set[str] = set()
    total: Counter[str] = Counter()
    count = sum(1 for _ in books(paths, lambda bad: None))
    work = Comparison(builder, frozenset(keys), rows)
    for some_keys, some_rows, counts, bad in watch(in_order(work, books(paths, report), workers), count):
        if bad:
            report(bad)
        found |= some_keys
        reproduced |= some_rows
        total += counts
    if not total["built"]:
        raise BuildError("no book gave a question; see what was said about each")
    return Fidelity(
        questions=len(keys),
        found=sum(key in found for key in keys) / len(keys),
        lines=len(rows),
        reproduced=len(reproduced) / len(rows),
        built=total["built"],
        per_passage=total["built"] / total["passages"],
    )


def _official(path: Path) -> Iterator[Key]:
    """The passages and answers of a file in the corpus's format."""
    passage: list[str] = []
    for number, line in lines(path):
        if not line.strip():
            passage = []
            continue
        text = line.partition(" ")[2]
        query, *fields = text.split("\t")
        if not fields:
            passage.append(text)
        elif len(fields) == 3 and "XXXXX" in query:
            yield (*passage, query.replace("XXXXX", fields[0])), fields[0]
        else:
            raise CorpusError(
                "this is no query line of the Children's Book Test; --check takes its files", path, number
            )
