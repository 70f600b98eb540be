"""What a corpus is like: the statistics table of the paper's appendix, for any Examples."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from gareader.examples import Example


@dataclass(frozen=True)
class CorpusStatistics:
    """Counts, lengths and the accuracy of guessing by frequency; shares are None where there is nothing to share."""

    examples: int
    vocabulary: int
    """Distinct words of documents, queries and candidates, as they are written."""
    vocabulary_lowercase: int
    """The same in lower case, which is how the paper's table counts the Children's Book Test."""
    document_words_mean: float
    document_words_max: int
    query_words_mean: float
    query_words_max: int
    candidates_mean: float
    answers: int
    """Examples whose answer is known; the shares below are of these."""
    answer_in_document: float | None
    most_frequent_accuracy: float | None
    """Of guessing the candidate that the document mentions most often."""
    most_frequent_not_in_query_accuracy: float | None
    """The same, passing over candidates that share a word with the query while there are others."""


def describe(examples: Iterable[Example]) -> CorpusStatistics:
    """Statistics in one pass; memory grows with the vocabulary only."""
    vocabulary: set[str] = set()
    count = document_words = document_max = query_words = query_max = candidates = 0
    answers = in_document = frequent = exclusive = 0
    for example in examples:
        count += 1
        document_words += len(example.document)
        document_max = max(document_max, len(example.document))
        query_words += len(example.query)
        query_max = max(query_max, len(example.query))
        candidates += len(example.candidates)
        vocabulary.update(example.document, example.query, *example.candidates)
        if example.answer is None:
            continue
        answers += 1
        in_document += not set(example.document).isdisjoint(example.candidates[example.answer])
        frequency = candidate_frequencies(example)
        frequent += most_frequent(example, frequency) == example.answer
        query = set(example.query)
        allowed = [i for i, words in enumerate(example.candidates) if query.isdisjoint(words)]
        exclusive += most_frequent(example, frequency, allowed or None) == example.answer

    def mean(total: int) -> float:
        return total / count if count else 0.0

    def share(part: int) -> float | None:
        return part / answers if answers else None

    return CorpusStatistics(
        examples=count,
        vocabulary=len(vocabulary),
        vocabulary_lowercase=len({word.lower() for word in vocabulary}),
        document_words_mean=mean(document_words),
        document_words_max=document_max,
        query_words_mean=mean(query_words),
        query_words_max=query_max,
        candidates_mean=mean(candidates),
        answers=answers,
        answer_in_document=share(in_document),
        most_frequent_accuracy=share(frequent),
        most_frequent_not_in_query_accuracy=share(exclusive),
    )


def candidate_frequencies(example: Example) -> list[int]:
    """How often each candidate stands in the document, all its words in a row."""
    single = Counter(example.document)
    return [
        single[words[0]] if len(words) == 1 else sum(1 for _ in phrase_positions(example.document, words))
        for words in example.candidates
    ]


def phrase_positions(document: tuple[str, ...], phrase: tuple[str, ...]) -> Iterable[int]:
    """Where the phrase begins in the document."""
    return (i for i, word in enumerate(document) if word == phrase[0] and document[i : i + len(phrase)] == phrase)


def most_frequent(example: Example, frequency: list[int], allowed: Iterable[int] | None = None) -> int | None:
    """The most frequent candidate; of equals the one met first in the document, so their order does not matter."""
    choices = [i for i in (range(len(frequency)) if allowed is None else allowed) if frequency[i]]
    if not choices:
        return None
    most = max(frequency[i] for i in choices)
    best = [i for i in choices if frequency[i] == most]
    if len(best) == 1:
        return best[0]
    return min(best, key=lambda i: next(iter(phrase_positions(example.document, example.candidates[i]))))
