"""Corpus statistics: the table of the paper's appendix, for any Examples."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from gareader.data.examples import PLACEHOLDER, Example, Words, counted_words


@dataclass(frozen=True)
class CorpusStatistics:
    """Counts, lengths and the accuracy of guessing by frequency; shares of answers are None without known answers."""

    examples: int
    vocabulary: int
    """Distinct words of documents, queries and candidates, with their capitals."""
    vocabulary_lowercase: int
    """Distinct words in lower case, as the paper's table counts them for the Children's Book Test."""
    document_words_mean: float
    document_words_max: int
    query_words_mean: float
    query_words_max: int
    candidates_mean: float
    answers: int
    """Examples with a known answer; the fields below are about these."""
    answer_in_document: float | None
    answer_before_blank: float | None
    """Share of the queries with the answer before the blank too."""
    answer_after_blank: float | None
    distractors_in_query_mean: float | None
    """Wrong candidates in the query."""
    distractors_more_frequent_mean: float | None
    """Wrong candidates that are more frequent in the document than the answer."""
    most_frequent_accuracy: float | None
    """Accuracy of guessing the most frequent candidate in the document."""
    most_frequent_not_in_query_accuracy: float | None
    """Accuracy of guessing the most frequent candidate without a word of the query, if there is such a candidate."""


ANSWER_STATISTICS = {
    "answer_in_document": ("answer in the document", "{:.{digits}%}"),
    "answer_before_blank": ("answer also before the blank", "{:.{digits}%}"),
    "answer_after_blank": ("answer also after the blank", "{:.{digits}%}"),
    "distractors_in_query_mean": ("distractors in the query, mean", "{:.3f}"),
    "distractors_more_frequent_mean": ("distractors more frequent than the answer, mean", "{:.2f}"),
    "most_frequent_accuracy": ("most frequent candidate is right", "{:.{digits}%}"),
    "most_frequent_not_in_query_accuracy": ("… that is not in the query", "{:.{digits}%}"),
}
"""The label and the format of each statistic of answers, for tables."""


def describe(examples: Iterable[Example]) -> CorpusStatistics:
    """Compute the statistics in one pass; memory grows with the vocabulary only."""
    counts = CorpusCounts()
    for example in examples:
        counts.add(example)
    return counts.statistics()


class CorpusCounts:
    """The counts behind the statistics; those of parts of a corpus can be merged."""

    def __init__(self) -> None:
        self.vocabulary: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.longest: dict[str, int] = {"document": 0, "query": 0}

    def add(self, example: Example) -> None:
        for name, words in (("document", example.document), ("query", example.query)):
            self.counts[name] += len(words)
            self.longest[name] = max(self.longest[name], len(words))
        self.counts["examples"] += 1
        self.counts["candidates"] += len(example.candidates)
        self.vocabulary.update(example.document, example.query, *example.candidates)
        if example.answer is None:
            return
        frequency = candidate_frequencies(example)
        query = set(example.query)
        allowed = [i for i, words in enumerate(example.candidates) if frequency[i] and query.isdisjoint(words)]
        answer, blank = example.candidates[example.answer], example.query.index(PLACEHOLDER)
        wrong = [i for i in range(len(frequency)) if i != example.answer]
        self.counts["answers"] += 1
        exclusive = most_frequent(example, frequency, allowed or None)
        self.counts["answer_in_document"] += not set(example.document).isdisjoint(counted_words(answer))
        self.counts["answer_before_blank"] += _has(example.query[:blank], answer)
        self.counts["answer_after_blank"] += _has(example.query[blank + 1 :], answer)
        self.counts["distractors_in_query_mean"] += sum(_has(example.query, example.candidates[i]) for i in wrong)
        self.counts["distractors_more_frequent_mean"] += sum(frequency[i] > frequency[example.answer] for i in wrong)
        self.counts["most_frequent_accuracy"] += most_frequent(example, frequency) == example.answer
        self.counts["most_frequent_not_in_query_accuracy"] += exclusive == example.answer

    def merge(self, other: "CorpusCounts") -> None:
        self.vocabulary |= other.vocabulary
        self.counts += other.counts
        self.longest = {name: max(length, other.longest[name]) for name, length in self.longest.items()}

    def statistics(self) -> CorpusStatistics:
        count, answers = self.counts["examples"], self.counts["answers"]

        def mean(name: str) -> float:
            return self.counts[name] / count if count else 0.0

        return CorpusStatistics(
            examples=count,
            vocabulary=len(self.vocabulary),
            vocabulary_lowercase=len({word.lower() for word in self.vocabulary}),
            document_words_mean=mean("document"),
            document_words_max=self.longest["document"],
            query_words_mean=mean("query"),
            query_words_max=self.longest["query"],
            candidates_mean=mean("candidates"),
            answers=answers,
            **{name: self.counts[name] / answers if answers else None for name in ANSWER_STATISTICS},
        )


def candidate_frequencies(example: Example) -> list[int]:
    """How often each candidate occurs in the document as a whole phrase."""
    single = Counter(example.document)
    return [
        single[words[0]] if len(words) == 1 else sum(1 for _ in phrase_positions(example.document, words))
        for words in example.candidates
    ]


def _has(text: Words, phrase: Words) -> bool:
    return phrase[0] in text and (len(phrase) == 1 or any(True for _ in phrase_positions(text, phrase)))


def phrase_positions(document: Words, phrase: Words) -> Iterable[int]:
    return (i for i, word in enumerate(document) if word == phrase[0] and document[i : i + len(phrase)] == phrase)


def most_frequent(example: Example, frequency: list[int], allowed: Iterable[int] | None = None) -> int | None:
    """The most frequent candidate; of ties the first in the document, so that their order does not matter."""
    choices = [i for i in (range(len(frequency)) if allowed is None else allowed) if frequency[i]]
    if not choices:
        return None
    most = max(frequency[i] for i in choices)
    best = [i for i in choices if frequency[i] == most]
    if len(best) == 1:
        return best[0]
    return min(best, key=lambda i: next(iter(phrase_positions(example.document, example.candidates[i]))))
