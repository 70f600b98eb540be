"""Baselines without training: a score for every candidate of an Example, from counting words alone.

All compare words exactly as they are written. A candidate that does not stand in the document, all its words in a row,
has −inf; for a reader any of its words is enough. `choice` takes the best; of equals, the one that the document
mentions first.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from math import inf, log

from gareader.examples import PLACEHOLDER, Example
from gareader.statistics import candidate_frequencies, most_frequent, phrase_positions


def frequency(example: Example) -> list[float]:
    """How often the document mentions the candidate (Hermann et al. 2015, "maximum frequency")."""
    return [count or -inf for count in candidate_frequencies(example)]


def frequency_not_in_query(example: Example) -> list[float]:
    """The same, with −inf for candidates that share a word with the query while there are others that do not.

    Hermann et al. 2015, "exclusive frequency": the most frequent entity that is not in the query.
    """
    query, scores = set(example.query), frequency(example)
    outside = [
        score if query.isdisjoint(words) else -inf for words, score in zip(example.candidates, scores, strict=True)
    ]
    return scores if max(outside, default=-inf) == -inf else outside


def word_distance(example: Example, penalty: int = 8) -> list[float]:
    """Minus the cost of laying the query over the document, with the blank on the candidate's best mention.

    Hermann et al. 2015; Hill et al. 2016. The words before the blank come to lie before the mention, those after it
    behind its last word. Each costs the distance from where it lies to the nearest same word of the document, at most
    `penalty` (m: 8 for CNN and Daily Mail, 5 for the Children's Book Test); the costs of all words are added. Hermann
    et al. also let words match that corefer; here only the same word does, and it may be a word of the mention.
    """
    blank = example.query.index(PLACEHOLDER)
    before, after = example.query[:blank], example.query[blank + 1 :]

    def cost(word: str, place: int) -> int:
        near = range(max(0, place - penalty + 1), min(len(example.document), place + penalty))
        return min((abs(place - j) for j in near if example.document[j] == word), default=penalty)

    def laid(start: int, end: int) -> int:
        return sum(cost(word, start - len(before) + i) for i, word in enumerate(before)) + sum(
            cost(word, end + i) for i, word in enumerate(after)
        )

    return [
        max((-laid(i, i + len(words)) for i in phrase_positions(example.document, words)), default=-inf)
        for words in example.candidates
    ]


def sliding_window(example: Example) -> list[float]:
    """The best sum of inverse counts in a window that slides over the document (Richardson et al. 2013, algorithm 1).

    S is the set of the words of query and candidate, without the blank. A window has |S| words, fewer at the end of the
    document. It scores Σ log(1 + 1/count(w)) over its words w that are in S, with counts in the document, and the
    candidate has the score of its best window. Richardson's distance term is not subtracted.
    """
    rarity = {word: log(1 + 1 / count) for word, count in Counter(example.document).items()}
    scores: list[float] = []
    for words, mentions in zip(example.candidates, candidate_frequencies(example), strict=True):
        wanted = ({*example.query} | {*words}) - {PLACEHOLDER}
        worth = [rarity[word] if word in wanted else 0.0 for word in example.document]
        sums = [0.0, *accumulate(worth)]
        ends = [min(start + len(wanted), len(worth)) for start in range(len(worth))]
        best = max(sums[end] - sums[start] for start, end in enumerate(ends))
        scores.append(round(best, 9) if mentions else -inf)  # equal windows are equal, wherever they stand
    return scores


BASELINES: dict[str, Callable[[Example], Sequence[float]]] = {
    "most-frequent": frequency,
    "most-frequent-not-in-query": frequency_not_in_query,
    "word-distance": word_distance,
    "word-distance-5": partial(word_distance, penalty=5),
    "sliding-window": sliding_window,
}
"""By name; word-distance-5 is for the Children's Book Test."""


def choice(example: Example, scores: Sequence[float]) -> int | None:
    """The candidate with the highest score; of equals the one met first; None where all have −inf."""
    ranks = {score: place for place, score in enumerate(sorted({*scores} - {-inf}), start=1)}
    return most_frequent(example, [ranks.get(score, 0) for score in scores])
