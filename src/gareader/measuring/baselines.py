"""Baselines without training: scores of the candidates of an Example, from counts of words.

All compare words by their exact spelling. A candidate whose words are not in the document in a row has −inf; for a
reader one of its words is enough. `choice` takes the best candidate; of equal ones, the one mentioned first.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from math import inf, log

from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.statistics import candidate_frequencies, most_frequent, phrase_positions


def frequency(example: Example) -> list[float]:
    """The number of mentions in the document (Hermann et al. 2015, "maximum frequency")."""
    return [count or -inf for count in candidate_frequencies(example)]


def frequency_not_in_query(example: Example) -> list[float]:
    """The frequency, and −inf for candidates that share a word with the query, unless all candidates do.

    Hermann et al. 2015, "exclusive frequency": the most frequent entity that is not in the query.
    """
    query, scores = set(example.query), frequency(example)
    exclusive = [
        score if query.isdisjoint(words) else -inf for words, score in zip(example.candidates, scores, strict=True)
    ]
    return scores if max(exclusive, default=-inf) == -inf else exclusive


def word_distance(example: Example, penalty: int = 8) -> list[float]:
    """Minus the cost of aligning the query with the document, with the blank on the candidate's best mention.

    Hermann et al. 2015; Hill et al. 2016. The words before the blank are aligned with the words before the mention,
    those after it with the words after the mention. The cost of a word is the distance from its aligned position to the
    nearest same word of the document, at most `penalty` (m: 8 for CNN and Daily Mail, 5 for the Children's Book Test).
    The cost of an alignment is the sum over its words. In Hermann et al. coreferent words match too; here only the same
    word matches, and it may be a word of the mention.
    """
    blank = example.query.index(PLACEHOLDER)
    before, after = example.query[:blank], example.query[blank + 1 :]

    def word_cost(word: str, position: int) -> int:
        near = range(max(0, position - penalty + 1), min(len(example.document), position + penalty))
        return min((abs(position - j) for j in near if example.document[j] == word), default=penalty)

    def alignment_cost(start: int, end: int) -> int:
        return sum(word_cost(word, start - len(before) + i) for i, word in enumerate(before)) + sum(
            word_cost(word, end + i) for i, word in enumerate(after)
        )

    return [
        max((-alignment_cost(i, i + len(words)) for i in phrase_positions(example.document, words)), default=-inf)
        for words in example.candidates
    ]


def sliding_window(example: Example) -> list[float]:
    """The best sum of inverse counts in a window that slides over the document (Richardson et al. 2013, algorithm 1).

    S is the set of the words of query and candidate, without the blank. A window has |S| words, fewer at the end of the
    document. Its score is Σ log(1 + 1/count(w)) over its words w that are in S, with counts in the document. The score
    of the candidate is that of its best window. Richardson's distance term is not subtracted.
    """
    inverse_counts = _inverse_counts(example)
    scores: list[float] = []
    for words, mentions in zip(example.candidates, candidate_frequencies(example), strict=True):
        word_set = ({*example.query} | {*words}) - {PLACEHOLDER}  # S
        weights = [inverse_counts[word] if word in word_set else 0.0 for word in example.document]
        sums = [0.0, *accumulate(weights)]
        ends = [min(start + len(word_set), len(weights)) for start in range(len(weights))]
        best = max(sums[end] - sums[start] for start, end in enumerate(ends))
        scores.append(round(best, 9) if mentions else -inf)  # rounded, so that equal windows have equal sums
    return scores


def overlap(example: Example, around: int = 10) -> list[float]:
    """The rarity of the query's words beside the candidate's best mention: Σ log(1 + 1/count(w)), each word once.

    Beside a mention are the `around` words before it and those after it. Counts are those in the document.
    """
    inverse_counts, query = _inverse_counts(example), {*example.query}

    def shared(start: int, end: int) -> float:
        beside = {*example.document[max(0, start - around) : start], *example.document[end : end + around]}
        return round(sum(inverse_counts[word] for word in sorted(beside & query)), 9)

    return [
        max((shared(i, i + len(words)) for i in phrase_positions(example.document, words)), default=-inf)
        for words in example.candidates
    ]


def _inverse_counts(example: Example) -> dict[str, float]:
    """The rarity of each word of the document: log(1 + 1/count)."""
    return {word: log(1 + 1 / count) for word, count in Counter(example.document).items()}


BASELINES: dict[str, Callable[[Example], Sequence[float]]] = {
    "most-frequent": frequency,
    "most-frequent-not-in-query": frequency_not_in_query,
    "word-distance": word_distance,
    "word-distance-5": partial(word_distance, penalty=5),
    "sliding-window": sliding_window,
    "overlap": overlap,
}
"""Baselines by name; word-distance-5 is for the Children's Book Test."""


def choice(example: Example, scores: Sequence[float]) -> int | None:
    """The candidate with the highest score; of equal ones, the one mentioned first; None if all have −inf."""
    ranks = {score: place for place, score in enumerate(sorted({*scores} - {-inf}), start=1)}
    return most_frequent(example, [ranks.get(score, 0) for score in scores])
