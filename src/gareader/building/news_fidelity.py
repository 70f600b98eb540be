"""The fidelity of built questions to CNN's own: equal questions, similar statistics, equal groups of mentions."""

import tarfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from gareader.building import articles
from gareader.building.articles import RawArticle
from gareader.building.execution import Execution
from gareader.building.fidelity import Row, check_answered
from gareader.building.from_articles import AT_ONCE, NewsBuilder, batches
from gareader.building.story_index import StoryIndex
from gareader.core.errors import BuildError, CorpusError
from gareader.data.corpora import read
from gareader.data.examples import PLACEHOLDER, Example, Words
from gareader.data.statistics import ANSWER_STATISTICS, CorpusCounts

_LABELS = {
    "document_words_mean": "words of the document, mean",
    "query_words_mean": "words of the query, mean",
    "candidates_mean": "entities, mean",
    **{
        name: ANSWER_STATISTICS[name][0]
        for name in (
            "distractors_in_query_mean",
            "distractors_more_frequent_mean",
            "most_frequent_accuracy",
            "most_frequent_not_in_query_accuracy",
        )
    },
}
_MARK = "@entity"
_ALIKE = 0.5  # two queries less alike than this are not of one highlight


@dataclass(frozen=True)
class NewsFidelity:
    """The share of the official questions that are built too, and how alike documents, entities and queries are."""

    questions: int
    """The number of official questions."""
    matched: float
    """Share of them whose story is given."""
    found: float
    """Share of them that are built too: the same highlight, the same blank, the same entity."""
    stories: int
    """The number of their stories."""
    built: int
    """The number of questions built from these stories."""
    mentions_found: float
    """Share of the official mentions in the documents that are mentions in ours."""
    mentions_official: float
    """Share of our mentions that are official."""
    split: float
    """Share of the official entities with mentions that are of two or more entities in ours."""
    joined: float
    """Share of our entities with mentions that are of two or more official entities."""
    statistics: list[Row]
    """Of the official questions, and of those of them that are built too."""


@dataclass(frozen=True)
class _Story:
    raw: RawArticle
    official: tuple[Example, ...]


@dataclass
class _Counts:
    """The counts behind the table."""

    official: CorpusCounts = field(default_factory=CorpusCounts)
    built: CorpusCounts = field(default_factory=CorpusCounts)
    counts: Counter[str] = field(default_factory=Counter)

    def merge(self, other: "_Counts") -> None:
        self.official.merge(other.official)
        self.built.merge(other.built)
        self.counts += other.counts

    def share(self, part: str, whole: str) -> float:
        return self.counts[part] / self.counts[whole] if self.counts[whole] else 0.0


def _possible(index: StoryIndex, batch: Sequence[RawArticle]) -> list[tuple[RawArticle, dict[int, float]]]:
    """The stories that may be some question's, with the questions' numbers."""
    return [(raw, matches) for raw in batch if (matches := index.matches(raw.text))]


def _comparison(builder: NewsBuilder, story: _Story) -> _Counts:
    """Build a story's questions and compare them with the official ones."""
    result = _Counts()
    built = [question.example for question in builder.questions(story.raw)]
    result.counts["built"] += len(built)
    for official in story.official:
        result.official.add(official)
        result.counts["highlights official"] += 1 + sum(
            word in official.document for word in official.query if word.startswith(_MARK)
        )
        if not built:
            continue
        groups = _groups(official, built[0], result.counts)
        nearest = max(built, key=lambda one: _likeness(official, one))
        if _is_same(official, nearest, groups):
            result.built.add(nearest)
            result.counts["found"] += 1
        result.counts["highlights built"] += sum(_highlight(one) == _highlight(nearest) for one in built)
    return result


def measure_news(paths: Sequence[Path], official: Path, builder: NewsBuilder, execution: Execution) -> NewsFidelity:
    """Find the stories of the official questions, build their questions with marks, and compare."""
    examples = official_questions(official)
    stories = _stories(paths, examples, execution)
    if not stories:
        raise BuildError(f"no story here belongs to a question of {official}; give the stories that they were made of")
    total = _Counts()
    for counts in execution.map(partial(_comparison, replace(builder, anonymise=True)), stories):
        total.merge(counts)
    matched = sum(len(story.official) for story in stories)
    statistics = total.official.statistics(), total.built.statistics()
    rows = [Row(name, label, *(getattr(one, name) or 0.0 for one in statistics)) for name, label in _LABELS.items()]
    per_highlight = (total.counts[f"highlights {one}"] / matched for one in ("official", "built"))
    rows.append(Row("questions_per_highlight_mean", "questions of a highlight, mean", *per_highlight))
    return NewsFidelity(
        questions=len(examples),
        matched=matched / len(examples),
        found=total.counts["found"] / len(examples),
        stories=len(stories),
        built=total.counts["built"],
        mentions_found=total.share("common", "official"),
        mentions_official=total.share("common", "ours"),
        split=total.share("split", "entities official"),
        joined=total.share("joined", "entities ours"),
        statistics=rows,
    )


def official_questions(path: Path) -> list[Example]:
    """The questions of a file, a folder or an archive of `.question` files; raise CorpusError if there are none."""
    if path.is_file() and tarfile.is_tarfile(path):
        with TemporaryDirectory() as folder, tarfile.open(path) as archive:
            archive.extractall(folder, filter="data")
            holders = {file.parent for file in Path(folder).rglob("*.question*")}
            examples = [example for holder in sorted(holders) for example in read(holder)]
    else:
        examples = list(read(path))
    if not examples:
        raise CorpusError("no question is in here; give a folder or an archive of .question files", path)
    check_answered(examples, path)
    return examples


def _stories(paths: Sequence[Path], examples: Sequence[Example], execution: Execution) -> list[_Story]:
    """The stories of the questions; of several stories the one that has most of the question's rare words."""
    best: dict[int, tuple[float, RawArticle]] = {}
    raw = execution.watch(articles.read_raw(paths, "news", execution.report))
    search = partial(_possible, StoryIndex.of(example.document for example in examples))
    for candidates in execution.map(search, batches(raw, AT_ONCE)):
        for story, matches in candidates:
            for number, share in matches.items():
                if number not in best or share > best[number][0]:
                    best[number] = share, story
    questions: defaultdict[str, list[Example]] = defaultdict(list)
    for number, (_, story) in sorted(best.items()):
        questions[story.id].append(examples[number])
    stories = {story.id: story for _, story in best.values()}
    return [_Story(story, tuple(questions[id_])) for id_, story in stories.items()]


def _blind(words: Words) -> list[str]:
    """The words with one mark for all entities."""
    return [_MARK if word.startswith(_MARK) else word for word in words]


def _groups(official: Example, ours: Example, counts: Counter[str]) -> dict[str, Counter[str]]:
    """Align the two documents; return our marks at the places of each official mark, and count."""
    split: defaultdict[str, Counter[str]] = defaultdict(Counter)
    joined: defaultdict[str, Counter[str]] = defaultdict(Counter)
    matcher = SequenceMatcher(None, _blind(official.document), _blind(ours.document), autojunk=False)
    for block in matcher.get_matching_blocks():
        for offset in range(block.size):
            one, other = official.document[block.a + offset], ours.document[block.b + offset]
            if one.startswith(_MARK):
                split[one][other] += 1
                joined[other][one] += 1
    counts["official"] += sum(word.startswith(_MARK) for word in official.document)
    counts["ours"] += sum(word.startswith(_MARK) for word in ours.document)
    counts["common"] += sum(sum(marks.values()) for marks in split.values())
    for name, groups in (("official", split), ("ours", joined)):
        counts[f"entities {name}"] += len(groups)
        counts["split" if groups is split else "joined"] += sum(len(marks) > 1 for marks in groups.values())
    return split


def _likeness(official: Example, ours: Example) -> float:
    """How alike the queries are, from 0 to 1; 0 if the blanks are not at the same place."""
    one, other = _blind(official.query), _blind(ours.query)
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    blank, ours_blank = one.index(PLACEHOLDER), other.index(PLACEHOLDER)
    if any(
        block.a <= blank < block.a + block.size and blank - block.a == ours_blank - block.b
        for block in matcher.get_matching_blocks()
    ):
        return matcher.ratio()
    return 0.0


def _is_same(official: Example, ours: Example, groups: dict[str, Counter[str]]) -> bool:
    """Whether our question has the same blank of the same highlight, and the same entity as its answer."""
    (right,), (answer,) = official.candidates[official.answer or 0], ours.candidates[ours.answer or 0]
    return _likeness(official, ours) >= _ALIKE and answer in groups.get(right, ())


def _highlight(example: Example) -> Words:
    """The query with a mark in its blank, equal for all questions of a highlight."""
    return tuple(_MARK if word == PLACEHOLDER else word for word in _blind(example.query))
