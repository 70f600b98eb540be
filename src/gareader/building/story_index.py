"""The stories behind questions whose names are replaced by marks, found among many stories by their rare words."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gareader.data.examples import Words
from gareader.data.language.news_words import news_words

_WORD = re.compile(r"[^\W\d_]{4,}")
_MOST = 60
"""The number of words that stand for a document."""
_LEAST = 0.8
"""The share of these words that a story has at least; other stories on the same event have about half."""


@dataclass(frozen=True)
class StoryIndex:
    """The rarest words of some documents."""

    documents_with: Mapping[str, tuple[int, ...]]
    """The numbers of the documents by rare word."""
    sizes: tuple[int, ...]
    """How many rare words each document has."""

    @classmethod
    def of(cls, documents: Iterable[Words]) -> "StoryIndex":
        """Index these documents; marks such as @entity5 do not count."""
        news = news_words()
        numbers: defaultdict[str, list[int]] = defaultdict(list)
        sizes = []
        for number, document in enumerate(documents):
            words = set(_WORD.findall(" ".join(word for word in document if word[0] != "@").lower()))
            rare = sorted(words, key=lambda word: (news.get(word, (0, 0))[0], word))[:_MOST]
            sizes.append(len(rare))
            for word in rare:
                numbers[word].append(number)
        return cls({word: tuple(each) for word, each in numbers.items()}, tuple(sizes))

    def matches(self, text: str) -> dict[int, float]:
        """The documents that this raw text may be the story of, with the share of their rare words that it has."""
        counts: Counter[int] = Counter()
        for word in set(_WORD.findall(text.lower())) & self.documents_with.keys():
            counts.update(self.documents_with[word])
        shares = {number: count / self.sizes[number] for number, count in counts.items()}
        return {number: share for number, share in shares.items() if share >= _LEAST}
