"""Which words of a book the Children's Book Test takes for named entities, common nouns, verbs or prepositions."""

from collections import Counter
from collections.abc import Sequence
from functools import cache

from gareader import pretrained

Words = tuple[str, ...]

FILLED_FROM = {"NE": ("CN",), "CN": ("NE", "V", "P"), "V": ("NE", "CN", "P"), "P": ("NE", "CN", "V")}
"""The kinds, and where candidates come from when a passage has too few of a kind."""

_COMMON = {"NN": "CN", "NNS": "CN", "IN": "P", "TO": "P"}
_NAMES = frozenset(["NNP", "NNPS"])

_TIMES = frozenset(
    """second seconds minute minutes hour hours day days night nights week weeks fortnight month months year years
    decade decades century centuries morning mornings forenoon noon midday afternoon afternoons evening evenings
    midnight weekend today tonight tomorrow yesterday to-day to-night to-morrow spring summer autumn fall winter
    first third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth""".split()
)
"""Dates, durations and ordinals: the entity recogniser marks them like names."""
_LISTED = frozenset(
    """left right fire storm war flood earthquake murder suicide drowned starvation mumps measles cholera fever
    dollar dollars cent cents shilling shillings pence""".split()
)
"""Words of its lists for sides of politics, causes of death and money."""
_FREQUENT = 15_000
"""Nouns that are no more frequent than this many other words in the news are often taken for names."""
_NAME_SHARE = 0.35
"""A capitalised word that the tagger takes for a name this often in a book is one wherever it stands."""


def kinds(sentences: Sequence[Words], tags: Sequence[Sequence[str]]) -> list[list[str]]:
    """For every word of a book its kind, or nothing; of a name of several words only the last stands for it."""
    names, rare = _names(sentences, tags), _rare_nouns(sentences, tags)
    entities = names | rare | _TIMES | _LISTED
    result = []
    for words, its_tags in zip(sentences, tags, strict=True):
        row = []
        for place, (word, tag) in enumerate(zip(words, its_tags, strict=True), 1):
            if "|" in word:  # which parts candidates in the corpus's files
                row.append("")
            elif word in entities:
                inside = word in names and place < len(words) and words[place] in names
                row.append("" if inside else "NE")
            elif word[0].isalpha() and word[0].islower():
                row.append("V" if tag.startswith("VB") else _COMMON.get(tag, ""))
            else:
                row.append("")
        result.append(row)
    return result


def _names(sentences: Sequence[Words], tags: Sequence[Sequence[str]]) -> set[str]:
    """Capitalised words that the tagger often enough takes for names, or for adjectives of names inside a sentence."""
    seen: Counter[str] = Counter()
    named: Counter[str] = Counter()
    for words, its_tags in zip(sentences, tags, strict=True):
        inside = False
        for word, tag in zip(words, its_tags, strict=True):
            if word[0].isupper():
                seen[word] += 1
                named[word] += tag in _NAMES or (inside and tag.startswith("JJ"))
            inside = word[0].isalnum()
    return {word for word, count in seen.items() if named[word] >= _NAME_SHARE * count}


def _rare_nouns(sentences: Sequence[Words], tags: Sequence[Sequence[str]]) -> set[str]:
    """Words in lower case that are seldom in the news and mostly nouns here."""
    frequent = _frequent_words()
    seen: Counter[str] = Counter()
    nouns: Counter[str] = Counter()
    for words, its_tags in zip(sentences, tags, strict=True):
        for word, tag in zip(words, its_tags, strict=True):
            if word[0].isalpha() and word[0].islower() and word not in frequent:
                seen[word] += 1
                nouns[word] += tag.startswith("NN")
    return {word for word, count in seen.items() if 2 * nouns[word] >= count}


@cache
def _frequent_words() -> frozenset[str]:
    """The first words of the vocabulary in the box, which has the order of GloVe's counts in news and Wikipedia."""
    path = pretrained.BOX / pretrained.DEFAULT / "vocabulary.txt"
    with path.open(encoding="utf-8") as lines:
        return frozenset(line.rstrip("\n") for line, _ in zip(lines, range(_FREQUENT), strict=False))
