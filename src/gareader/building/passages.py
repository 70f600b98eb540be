"""The passages of a book, and their questions by the Children's Book Test (Hill et al. 2016)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import Annotated

from gareader.building.kinds import FILLED_FROM, RARE
from gareader.core.config import Bounds, Count, Settings
from gareader.core.errors import ConfigError, did_you_mean
from gareader.data.examples import PLACEHOLDER, Words
from gareader.data.text import mark_blank

_MARKED = 0.55
"""The share of the rare nouns that count as entities among the wrong answers, drawn for every question."""


@dataclass(frozen=True)
class PassageConfig(Settings):
    """Settings of the questions; the defaults are the corpus's."""

    kind: str = "NE"
    """The kind of the answers: NE (names), CN (common nouns), V (verbs) or P (prepositions)."""
    sentences: Count = 20
    """The number of sentences of the document; the next one is the query."""
    stride: Count = 1
    """The number of sentences from the beginning of one passage to that of the next."""
    candidates: Annotated[int, Bounds(least=2)] = 10
    """The number of candidates of each question."""
    most: Count | None = None
    """The most questions of one passage, drawn by the seed; None for no limit."""
    seed: int = 1
    """Seed of the draws of candidates and questions."""

    def __post_init__(self) -> None:
        if self.kind not in FILLED_FROM:
            raise ConfigError(f"kind = {self.kind!r} is unknown; {did_you_mean(self.kind, FILLED_FROM)}")
        super().__post_init__()


@dataclass(frozen=True, slots=True)
class Question:
    """One question, and the first sentence of its passage in the book."""

    start: int
    query: Words
    """With PLACEHOLDER for the answer."""
    answer: str
    candidates: Words
    """In alphabetical order."""


def questions(
    title: str,
    sentences: Sequence[Words],
    kinds: Sequence[Sequence[str]],
    config: PassageConfig,
    dropped: frozenset[int],
) -> Iterator[Question]:
    """Yield the questions of a book, passage by passage, but for passages that begin at a dropped sentence."""
    draw = Random(f"{config.seed} {title}")  # noqa: S311
    window = _Window(sentences, kinds, config)
    for start in range(0, len(sentences) - config.sentences, config.stride):
        window.move(start)
        if start in dropped:
            continue
        last = start + config.sentences
        places = list(window.answers(sentences[last], kinds[last]))
        if places and PLACEHOLDER in mark_blank(sentences[last]):  # the sentence itself has a blank
            continue
        if config.most is not None and len(places) > config.most:
            places = sorted(draw.sample(places, config.most))
        for place in places:
            answer = sentences[last][place]
            if others := window.others(answer, draw):
                query = (*sentences[last][:place], PLACEHOLDER, *sentences[last][place + 1 :])
                yield Question(start, query, answer, tuple(sorted([answer, *others])))


class _Window:
    """The counts of the document's words, in all and by kind, while it moves through the book."""

    def __init__(self, sentences: Sequence[Words], kinds: Sequence[Sequence[str]], config: PassageConfig) -> None:
        self._sentences, self._kinds, self._config = sentences, kinds, config
        self._answer_kinds = frozenset(["NE", RARE] if config.kind == "NE" else [config.kind])
        self._from = self._to = 0
        self._words: Counter[str] = Counter()
        self._of_kind: dict[str, Counter[str]] = {kind: Counter() for kind in (*FILLED_FROM, RARE)}

    def move(self, start: int) -> None:
        if start >= self._to:  # no sentence in common
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
        """Yield the places of the sentence's words of the answer kind that are in the document too."""
        for place, (word, kind) in enumerate(zip(words, kinds, strict=True)):
            if kind in self._answer_kinds and word in self._words:
                yield place

    def others(self, answer: str, draw: Random) -> list[str]:
        """Draw wrong answers from the document, of the answer kind if possible; empty if there are too few words."""
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
