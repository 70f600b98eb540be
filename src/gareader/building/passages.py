"""Passages of a book, and the questions of the Children's Book Test (Hill et al. 2016) that they give."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random

from gareader.building.kinds import FILLED_FROM, RARE, Words
from gareader.errors import ConfigError, did_you_mean
from gareader.examples import PLACEHOLDER
from gareader.text import mark_blank

_MARKED = 0.55
"""Share of the rare nouns that count as entities among the wrong answers, drawn anew for every question."""


@dataclass(frozen=True)
class PassageConfig:
    """What becomes a question; the defaults are the corpus's."""

    kind: str = "NE"
    """What is asked for: NE (names), CN (common nouns), V (verbs) or P (prepositions)."""
    sentences: int = 20
    """Sentences of the document; the next one is the query."""
    stride: int = 1
    """Sentences from the beginning of one passage to that of the next."""
    candidates: int = 10
    """Possible answers of each question."""
    most: int | None = None
    """Questions from one passage at most, drawn by the seed; as many as it gives if not set."""
    seed: int = 1
    """Draws candidates and questions."""

    def __post_init__(self) -> None:
        if self.kind not in FILLED_FROM:
            raise ConfigError(f"kind = {self.kind!r} is unknown; {did_you_mean(self.kind, FILLED_FROM)}")
        for name, least in {"sentences": 1, "stride": 1, "candidates": 2, "most": 1}.items():
            if (value := getattr(self, name)) is not None and value < least:
                raise ConfigError(f"{name} = {value} is too small; use {least} or more")


@dataclass(frozen=True, slots=True)
class Question:
    """One question and where its passage begins in the book."""

    start: int
    query: Words
    """With PLACEHOLDER for the answer."""
    answer: str
    candidates: Words
    """In the alphabet's order."""


def questions(
    title: str,
    sentences: Sequence[Words],
    kinds: Sequence[Sequence[str]],
    config: PassageConfig,
    dropped: frozenset[int],
) -> Iterator[Question]:
    """The questions of a book, passage by passage; those that begin at a dropped sentence are passed over."""
    draw = Random(f"{config.seed} {title}")  # noqa: S311
    window = _Window(sentences, kinds, config)
    for start in range(0, len(sentences) - config.sentences, config.stride):
        window.move(start)
        if start in dropped:
            continue
        last = start + config.sentences
        found = list(window.answers(sentences[last], kinds[last]))
        if found and PLACEHOLDER in mark_blank(sentences[last]):  # it has a blank of its own
            continue
        if config.most is not None and len(found) > config.most:
            found = sorted(draw.sample(found, config.most))
        for place in found:
            answer = sentences[last][place]
            if others := window.others(answer, draw):
                query = (*sentences[last][:place], PLACEHOLDER, *sentences[last][place + 1 :])
                yield Question(start, query, answer, tuple(sorted([answer, *others])))


class _Window:
    """The words of the document and its words of each kind, counted while it moves through the book."""

    def __init__(self, sentences: Sequence[Words], kinds: Sequence[Sequence[str]], config: PassageConfig) -> None:
        self._sentences, self._kinds, self._config = sentences, kinds, config
        self._asked = frozenset(["NE", RARE] if config.kind == "NE" else [config.kind])
        self._from = self._to = 0
        self._words: Counter[str] = Counter()
        self._of_kind: dict[str, Counter[str]] = {kind: Counter() for kind in (*FILLED_FROM, RARE)}

    def move(self, start: int) -> None:
        """To the document that begins at this sentence."""
        if start >= self._to:  # nothing in common
            self._words.clear()
            for counter in self._of_kind.values():
                counter.clear()
            self._from = self._to = start
        for number in range(self._from, start):
            self._count(number, -1)
        for number in range(self._to, start + self._config.sentences):
            self._count(number, 1)
        self._from, self._to = start, start + self._config.sentences

    def _count(self, number: int, step: int) -> None:
        for word, kind in zip(self._sentences[number], self._kinds[number], strict=True):
            for counter in (self._words, self._of_kind[kind]) if kind else (self._words,):
                counter[word] += step
                if not counter[word]:
                    del counter[word]

    def answers(self, words: Words, kinds: Sequence[str]) -> Iterator[int]:
        """Where the sentence has words of the kind that the document has too; a word that stands twice, twice."""
        for place, (word, kind) in enumerate(zip(words, kinds, strict=True)):
            if kind in self._asked and word in self._words:
                yield place

    def others(self, answer: str, draw: Random) -> list[str]:
        """Wrong answers from the document, of the kind while it has them; nothing if there are too few."""
        wanted = self._config.candidates - 1
        own = sorted(self._of_kind[self._config.kind].keys() - {answer})
        if self._config.kind == "NE":
            rare = sorted(self._of_kind[RARE].keys() - {answer, *own})
            own += [word for word in rare if draw.random() < _MARKED]
        if len(own) >= wanted:
            return draw.sample(own, wanted)
        filling = chain.from_iterable(self._of_kind[kind] for kind in FILLED_FROM[self._config.kind])
        rest = sorted(set(filling) - {*own, answer})
        if len(own) + len(rest) < wanted:
            return []
        return own + draw.sample(rest, wanted - len(own))
