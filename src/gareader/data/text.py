"""Treebank tokens of raw text, the blank of a query, and candidates proposed from a document."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice, pairwise

from gareader.core.errors import QuestionError
from gareader.data.examples import PLACEHOLDER, Example, Words
from gareader.data.treebank import composed, sentences

_BLANK = re.compile(r"(?<!\w)(?:XXXXX|_{3,}|@placeholder)(?!\w)")

_SENTENCE_STARTS = frozenset([".", "!", "?", "``", "`", ":", "--", "...", "''", "'", "-LRB-"])
"""After these words a capital is no sign of a name."""

_FUNCTION_WORDS = frozenset(
    """a about above after again against all almost alone along already also although always am among an and another
    any anybody anyone anything are around as asked at away back be because been before behind being below
    beneath beside besides between beyond both but by came can come could dear did do does done down each either
    else enough even ever every everybody everyone everything except few first for from gave get give go goes
    gone good got great had has have having he her here hers herself him himself his how however i if in indeed
    into is it its itself just knew know last let like little long look looked made make many may me might mine
    more most much must my myself near nearly never new next no nobody none nor not nothing now of off often oh
    old on once one only onto or other others our ours out over own perhaps put quite rather really said same
    saw say says see seem seemed shall she should since so some somebody someone something soon still such take
    tell than that the their theirs them themselves then there therefore these they thing things this those
    though through thus till time to together told too took toward towards two under until up upon us very was
    way we well went were what whatever when where whether which while who whole whom whose why will with within
    without would yes yet you your yours yourself""".split()
)
"""Words that are no candidates by themselves."""

_IN_NAMES = frozenset("good great little long new old".split())
"""Function words that may begin a name, as in New York."""


def words(line: str) -> Words:
    """Split tokenised text at white space; words are in Unicode's composed form (NFC)."""
    return tuple(line.split()) if line.isascii() else tuple(composed(line).split())


def tokenise(text: str) -> Words:
    """Split raw text into Treebank tokens, as in the Children's Book Test: did n't, `` , -LRB-, Mr."""
    return tuple(chain.from_iterable(sentences(text)))


def query_words(text: str) -> Words:
    """Tokenise a raw query; its blank (XXXXX, three or more underscores, @placeholder) becomes PLACEHOLDER."""
    return tokenise(_BLANK.sub(PLACEHOLDER, text))


def mark_blank(tokens: Iterable[str]) -> Words:
    """Replace every spelling of the blank in a tokenised query by PLACEHOLDER."""
    return tuple(PLACEHOLDER if _BLANK.fullmatch(token) else token for token in tokens)


def propose_candidates(document: Words, query: Words, most: int = 10) -> list[Words]:
    """Propose candidates from the document: its names, the most frequent first, then its frequent lower-case words."""
    names = Counter(_names(document))
    parts = {name: frozenset(name) for name in names}
    having: dict[str, dict[Words, frozenset[str]]] = {}
    for name, own in parts.items():
        for word in own:
            having.setdefault(word, {})[name] = own
    for name, own in parts.items():  # Finch counts as Captain Finch if that is the only longer name with Finch
        rarest = min((having[word] for word in own), key=len)
        longer = list(islice((other for other, its in rarest.items() if own < its), 2))
        if len(longer) == 1:
            names[longer[0]] += names.pop(name)
            for word in own:
                del having[word][name]
    in_query = {word.lower() for word in query}
    others = Counter(
        (word,)
        for word in document
        if len(word) > 2 and word.isalpha() and word.islower() and word not in _FUNCTION_WORDS
    )
    frequent = [word for word, count in others.most_common() if count > 1 and word[0] not in in_query]
    return [*(name for name, _ in names.most_common()), *frequent][:most]


def question(document: str, query: str, candidates: Iterable[str] | None = None) -> Example:
    """Make an Example from raw text; without candidates, they are proposed from the document."""
    return question_of(tokenise(document), query_words(query), candidates)


def question_of(document: Words, query: Words, candidates: Iterable[str] | None) -> Example:
    """Make an Example from the words of document and query; candidates are raw text, or proposed from the document."""
    if isinstance(candidates, str):
        raise QuestionError(f"candidates = {candidates!r} is one text, and its letters are no answers; give a list")
    choices = propose_candidates(document, query) if candidates is None else dict.fromkeys(map(tokenise, candidates))
    if candidates is None and document and len(choices) < 2:
        raise QuestionError("the document has no two names or frequent words to choose from; give the candidates")
    return Example("question", document, query, tuple(choices), None)


def _names(document: Words) -> Iterator[Words]:
    """Runs of capitalised words; at the beginning of a sentence a capital alone is no sign of a name."""
    before: dict[str, set[str]] = {}  # the predecessors of each word; a period precedes the document
    for previous, word in pairwise((".", *document)):
        before.setdefault(word, set()).add(previous)
    inside = {
        word for word, predecessors in before.items() if word[:1].isupper() and not predecessors <= _SENTENCE_STARTS
    }
    run: list[str] = []
    padded = (".", *document, "", "")
    for previous, word, after in zip(padded, padded[1:], padded[2:], strict=False):
        start = previous in _SENTENCE_STARTS
        led = after in inside and before[after] != {word}  # Yesterday Peter …, not Mary Ann …
        common = start and word not in inside and (word.lower() in before or led)
        in_name = not start and after in inside and word.lower() in _IN_NAMES
        named = word[:1].isupper() and not common and (in_name or word.lower() not in _FUNCTION_WORDS)
        if run and not named:
            yield tuple(run)
            run = []
        if named:
            run.append(word)
        elif word[:1] == "@" and len(word) > 1:  # a mark such as @entity5 is a whole name
            yield (word,)
