"""The Children's Book Test from any books: questions, parts by whole books, the card."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import chain, groupby
from pathlib import Path
from random import Random

from gareader.building.folder import PARTS, Parts, new_folder, write_card
from gareader.building.kinds import Words, kinds
from gareader.building.overlap import Excluded
from gareader.building.passages import PassageConfig, Question, questions
from gareader.building.perceptron import Perceptron
from gareader.building.shelf import Book, books
from gareader.corpora import cbt, jsonl
from gareader.corpora.files import Report, file_name
from gareader.distributed import ALONE, Group
from gareader.errors import BuildError, CorpusError
from gareader.examples import PLACEHOLDER, Example
from gareader.parallel import help_with, in_order
from gareader.statistics import Tally

_TAGGED_AT_ONCE = 512


@cache
def tagger() -> Perceptron:
    """Of this process."""
    return Perceptron.load()


@dataclass(frozen=True)
class Made:
    """What a book gave."""

    title: str
    text: str = ""
    """Its questions, as the corpus's file has them."""
    counts: Counter[str] = field(default_factory=Counter)
    """Books, sentences, words, questions, passages with a question, passages left out."""
    tally: Tally = field(default_factory=Tally)
    problem: CorpusError | None = None


@dataclass(frozen=True)
class BookBuilder:
    """Makes a book's questions; sent to every worker."""

    config: PassageConfig
    format: str = "cbt"
    excluded: Excluded | None = None

    def __call__(self, book: Book) -> Made:
        """The book's questions, or the problem with it."""
        try:
            sentences, found, dropped = self.questions(book)
        except CorpusError as bad:
            return Made(book.title, problem=bad)
        tally = Tally()
        texts = []
        rows = [" ".join(words) for words in sentences]
        for question, example in zip(found, self.examples(book, sentences, found), strict=True):
            tally.add(example)
            if self.format == "jsonl":
                texts.append(jsonl.written(example))
            else:
                texts.append(cbt.written(example, rows[question.start : question.start + self.config.sentences]))
        counts = Counter(
            sentences=len(sentences),
            words=sum(map(len, sentences)),
            books=1,
            questions=len(texts),
            passages=len({question.start for question in found}),
            excluded=len(dropped),
        )
        return Made(book.title, "".join(texts), counts, tally)

    def questions(self, book: Book) -> tuple[list[Words], list[Question], frozenset[int]]:
        """The book's sentences, its questions, and the passages that were left out."""
        sentences = book.sentences()
        length = self.config.sentences + 1
        if len(sentences) < length:
            raise book.bad(f"too few sentences ({len(sentences)}); a passage takes {length}")
        labels = kinds(sentences, _tags(sentences))
        dropped = self.excluded.passages(sentences, length) if self.excluded else frozenset[int]()
        found = list(questions(book.title, sentences, labels, self.config, dropped))
        if not found and not dropped:
            raise book.bad(
                f"no sentence has a word of the kind {self.config.kind} that the {length - 1} before it have too"
            )
        return sentences, found, dropped

    def examples(self, book: Book, sentences: Sequence[Words], found: Sequence[Question]) -> Iterator[Example]:
        """The questions as Examples; those of a passage have the document in common."""
        for start, some in groupby(found, lambda question: question.start):
            document = tuple(chain.from_iterable(sentences[start : start + self.config.sentences]))
            for question in some:
                yield _example(book.title, question, document)


def build(
    paths: Sequence[Path],
    out: Path,
    builder: BookBuilder,
    *,
    held_out: tuple[int | None, int | None] = (0, 0),
    workers: int = 1,
    group: Group = ALONE,
    report: Report,
    watch: Callable[[Iterator[Made], int], Iterator[Made]],
) -> Counter[str]:
    """Write the corpus; (validation, test) books are held out, one in twenty of three or more where None is said.

    A bad book is reported, and the others are built. Where a group of processes does this, the first one writes.
    """
    early: list[CorpusError] = []
    titles = [book.title for book in books(paths, early.append)]
    try:
        part_of = _parts(titles, held_out, builder.config.seed)
    except BuildError:
        for bad in early:  # why there are so few
            report(bad)
        raise
    total: Counter[str] = Counter()
    problems: list[str] = []
    shelves: dict[str, list[str]] = {}

    def tell(bad: CorpusError) -> None:
        problems.append(f"{file_name(bad.path)}: {bad.problem}")
        report(bad)

    stream = in_order(builder, books(paths, tell), workers, group)
    if not group.first:
        return help_with(stream)
    with new_folder(out) as folder:
        with Parts(folder, ".jsonl" if builder.format == "jsonl" else ".txt") as parts:
            for made in watch(stream, len(titles)):
                if made.problem:
                    tell(made.problem)
                    continue
                part = part_of[made.title]
                if made.text:
                    parts.write(part, made.text, made.tally)
                shelves.setdefault(part, []).append(made.title)
                total.update(made.counts)
        _check(parts.tallies, part_of)
        facts = {
            "settings": {**asdict(builder.config), "format": builder.format},
            "counts": dict(total),
            "books": {part: shelves[part] for part in PARTS if part in shelves},
            "left out": problems,
        }
        write_card(folder, f"Cloze questions from books, kind {builder.config.kind}", facts, parts.tallies)
    return total


def _parts(titles: Sequence[str], held_out: tuple[int | None, int | None], seed: int) -> dict[str, str]:
    """The part of each book; the held-out ones are drawn by the seed."""
    some = -(-len(titles) // 20) if len(titles) > 2 else 0
    validation, test = (some if number is None else number for number in held_out)
    if validation + test >= max(1, len(titles)):
        raise BuildError(
            f"{validation} validation and {test} test books of {len(titles)} leave none to train on; "
            "give more books, or lower --validation-books and --test-books"
        )
    drawn = Random(f"{seed} parts").sample(sorted(titles), validation + test)  # noqa: S311
    return {
        **dict.fromkeys(titles, "train"),
        **dict.fromkeys(drawn[:validation], "validation"),
        **dict.fromkeys(drawn[validation:], "test"),
    }


def _check(written: Collection[str], part_of: Mapping[str, str]) -> None:
    """Complain if a part that was asked for has no question."""
    if not written:
        raise BuildError("no book gave a question, so nothing was written; see what was said about each")
    for part in PARTS:
        if part in part_of.values() and part not in written:
            titles = ", ".join(title for title in part_of if part_of[title] == part)
            raise BuildError(
                f"the {part} part has no question, so nothing was written; its books gave none: {titles}. "
                "Leave them out, or hold out others with another --seed"
            )


def _tags(sentences: Sequence[Words]) -> list[list[str]]:
    tag = tagger().tag
    starts = range(0, len(sentences), _TAGGED_AT_ONCE)
    return [tags for start in starts for tags in tag(sentences[start : start + _TAGGED_AT_ONCE])]


def _example(title: str, question: Question, document: Words) -> Example:
    name = f"{title}:{question.start + 1}:{question.query.index(PLACEHOLDER) + 1}"
    return Example(
        name, document, question.query, tuple(zip(question.candidates)), question.candidates.index(question.answer)
    )
