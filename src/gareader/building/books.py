"""The Children's Book Test from any books: questions, splits by whole books, the card."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, groupby
from pathlib import Path
from random import Random

from gareader.building.execution import Execution
from gareader.building.folder import SPLITS, SplitFiles, new_folder, write_card
from gareader.building.kinds import kinds
from gareader.building.overlap import Excluded
from gareader.building.passages import PassageConfig, Question
from gareader.building.passages import questions as passage_questions
from gareader.building.shelf import Book, books
from gareader.core.errors import BuildError, CorpusError
from gareader.core.parallel import help_with
from gareader.data.corpora import cbt, jsonl
from gareader.data.corpora.files import printable_name
from gareader.data.examples import PLACEHOLDER, Example, Words
from gareader.data.language.perceptron import tagger
from gareader.data.statistics import CorpusCounts

_TAGGED_AT_ONCE = 512


@dataclass(frozen=True)
class BuiltBook:
    """The questions of a book, or the problem with it."""

    title: str
    text: str = ""
    """Its questions in the format of the corpus."""
    counts: Counter[str] = field(default_factory=Counter)
    """Books, sentences, words, questions, passages with a question, excluded passages."""
    corpus_counts: CorpusCounts = field(default_factory=CorpusCounts)
    problem: CorpusError | None = None


@dataclass(frozen=True)
class BookBuilder:
    """Builds a book's questions; sent to every worker."""

    config: PassageConfig
    format: str = "cbt"
    excluded: Excluded | None = None

    def __call__(self, book: Book) -> BuiltBook:
        try:
            sentences, questions, dropped = self.questions(book)
        except CorpusError as bad:
            return BuiltBook(book.title, problem=bad)
        corpus_counts = CorpusCounts()
        texts = []
        rows = [" ".join(words) for words in sentences]
        for question, example in zip(questions, self.examples(book, sentences, questions), strict=True):
            corpus_counts.add(example)
            if self.format == "jsonl":
                texts.append(jsonl.written(example))
            else:
                texts.append(cbt.written(example, rows[question.start : question.start + self.config.sentences]))
        counts = Counter(
            sentences=len(sentences),
            words=sum(map(len, sentences)),
            books=1,
            questions=len(texts),
            passages=len({question.start for question in questions}),
            excluded=len(dropped),
        )
        return BuiltBook(book.title, "".join(texts), counts, corpus_counts)

    def questions(self, book: Book) -> tuple[list[Words], list[Question], frozenset[int]]:
        """Return the book's sentences, its questions, and the excluded passages."""
        sentences = book.sentences()
        length = self.config.sentences + 1
        if len(sentences) < length:
            raise book.bad(f"too few sentences ({len(sentences)}); a passage takes {length}")
        labels = kinds(sentences, _tags(sentences))
        dropped = self.excluded.passages(sentences, length) if self.excluded else frozenset[int]()
        questions = list(passage_questions(book.title, sentences, labels, self.config, dropped))
        if not questions and not dropped:
            raise book.bad(
                f"no sentence has a word of the kind {self.config.kind} that the {length - 1} before it have too"
            )
        return sentences, questions, dropped

    def examples(self, book: Book, sentences: Sequence[Words], questions: Sequence[Question]) -> Iterator[Example]:
        """Yield the questions as Examples; the questions of a passage share one document."""
        for start, group in groupby(questions, lambda question: question.start):
            document = tuple(chain.from_iterable(sentences[start : start + self.config.sentences]))
            for question in group:
                place = question.query.index(PLACEHOLDER)
                answer = question.candidates.index(question.answer)
                name = f"{book.title}:{start + 1}:{place + 1}"
                yield Example(name, document, question.query, tuple(zip(question.candidates)), answer)


def build(
    paths: Sequence[Path],
    out: Path,
    builder: BookBuilder,
    execution: Execution,
    held_out: tuple[int | None, int | None] = (0, 0),
) -> Counter[str]:
    """Write the corpus; hold out (validation, test) books, for None one in twenty if there are three or more.

    A bad book is reported, and the others are built. In a group of processes rank 0 writes.
    """
    early: list[CorpusError] = []
    titles = [book.title for book in books(paths, early.append)]
    try:
        split_of = _assigned_splits(titles, held_out, builder.config.seed)
    except BuildError:
        for bad in early:  # the reason why there are so few
            execution.report(bad)
        raise
    total: Counter[str] = Counter()
    problems: list[str] = []
    shelves: dict[str, list[str]] = {}

    def note(bad: CorpusError) -> None:
        problems.append(f"{printable_name(bad.path)}: {bad.problem}")
        execution.report(bad)

    stream = execution.map(builder, books(paths, note))
    if not execution.group.first:
        return help_with(stream)
    with new_folder(out) as folder:
        with SplitFiles(folder, ".jsonl" if builder.format == "jsonl" else ".txt") as files:
            for built in execution.watch(stream, len(titles)):
                if built.problem:
                    note(built.problem)
                    continue
                split = split_of[built.title]
                if built.text:
                    files.write(split, built.text, built.corpus_counts)
                shelves.setdefault(split, []).append(built.title)
                total.update(built.counts)
        _check(files.counts, split_of)
        facts = {
            "settings": {**asdict(builder.config), "format": builder.format},
            "counts": dict(total),
            "books": {split: shelves[split] for split in SPLITS if split in shelves},
            "left out": problems,
        }
        write_card(folder, f"Cloze questions from books, kind {builder.config.kind}", facts, files.counts)
    return total


def _assigned_splits(titles: Sequence[str], held_out: tuple[int | None, int | None], seed: int) -> dict[str, str]:
    """Assign a split to each book; the seed draws those for validation and test."""
    default = -(-len(titles) // 20) if len(titles) > 2 else 0
    validation, test = (default if number is None else number for number in held_out)
    if validation + test >= max(1, len(titles)):
        counts = f"{validation} validation and {test} test books of {len(titles)}"
        way_out = "give more books, or lower --validation-books and --test-books"
        raise BuildError(f"{counts} leave none to train on; {way_out}")
    drawn = Random(f"{seed} parts").sample(sorted(titles), validation + test)  # noqa: S311
    return {
        **dict.fromkeys(titles, "train"),
        **dict.fromkeys(drawn[:validation], "validation"),
        **dict.fromkeys(drawn[validation:], "test"),
    }


def _check(written: Collection[str], split_of: Mapping[str, str]) -> None:
    """Raise BuildError if the split of some books has no question."""
    if not written:
        raise BuildError("no book gave a question, so nothing was written; see what was said about each")
    for split in SPLITS:
        if split in split_of.values() and split not in written:
            titles = ", ".join(title for title in split_of if split_of[title] == split)
            raise BuildError(
                f"the {split} split has no question, so nothing was written; its books gave none: {titles}. "
                "Leave them out, or hold out others with another --seed"
            )


def _tags(sentences: Sequence[Words]) -> list[list[str]]:
    tag = tagger().tag
    starts = range(0, len(sentences), _TAGGED_AT_ONCE)
    return [tags for start in starts for tags in tag(sentences[start : start + _TAGGED_AT_ONCE])]
