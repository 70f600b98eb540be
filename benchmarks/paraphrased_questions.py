"""Questions to train on that say in other words what news stories say, most of them too hard for counting words.

Example: `python -m benchmarks.paraphrased_questions configs/tiny/news.jsonl --write hard.jsonl
--wordnet tests/samples/wordnet --vectors tests/samples/glove/glove.6B.100d.few.txt.xz`
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha1
from itertools import islice
from math import fsum, log
from pathlib import Path
from random import Random
from typing import Annotated

import numpy as np
from cyclopts import Parameter
from cyclopts.validators import Number

from benchmarks.script import AtLeastOne, start
from benchmarks.wordnet import NoSenseError, WordNet
from gareader.building.articles import RawArticle, read_raw, tokenise_article
from gareader.building.from_articles import AT_ONCE, batches
from gareader.building.news_fidelity import official_questions
from gareader.building.story_index import StoryIndex
from gareader.cli.app import Skipped
from gareader.core.parallel import in_order
from gareader.core.whole import written_whole
from gareader.data.corpora.jsonl import written
from gareader.data.examples import FUNCTION_WORDS, PLACEHOLDER, Example, Words
from gareader.data.language.blanks import Kind
from gareader.data.language.candidates import find_candidates, of_kind
from gareader.data.language.entities import find_entities
from gareader.data.language.news_words import news_words
from gareader.data.language.perceptron import tagger
from gareader.data.text import mark_blank
from gareader.data.vectors import Floats, read_vectors
from gareader.measuring.baselines import BASELINES, choice

FREQUENT = 60_000
"""A synonym is one of so many first words of the file of vectors, which begins with the most frequent."""
ALIKE = 0.3
"""The least cosine of a word and its synonym: WordNet also has senses that are seldom meant."""
COUNTING = ("overlap", "most-frequent")
"""The baselines that do not answer a hard question."""

IN_HIGHLIGHT = {Kind.NOUN: 0.45, Kind.NUMBER: 0.6, Kind.DATE: 0.6, Kind.ADJECTIVE: 0.2, Kind.VERB: 0.2}
"""The share of the words of each kind that are asked for; names are asked for always."""
IN_SENTENCE = {Kind.NOUN: 0.35, Kind.NUMBER: 0.7, Kind.DATE: 0.7}

_PARTS = {
    **dict.fromkeys(["NN", "NNS"], "n"),
    **dict.fromkeys(["VB", "VBD", "VBN", "VBG", "VBZ", "VBP"], "v"),
    "JJ": "a",
    "RB": "r",
}
"""WordNet's parts of speech by tag."""
_NEGATIONS = frozenset(["not", "n't", "never"])
_KEPT = FUNCTION_WORDS.union(
    _NEGATIONS,
    """be is are was were been being have has had do does did said say says will would can could may might must should
    get got go make made take took no first case""".split(),
)
"""Words that are not replaced by synonyms."""
_ENDS = (".", "!", "?")
_BRACKETS = frozenset(["``", "''", "-LRB-", "-RRB-"])
_SEPARATORS = frozenset(", ; : -- `` '' but because while when after before".split())
"""Words between clauses."""
_LETTERS = {
    **dict.fromkeys(["DT", "PRP$"], "D"),
    **dict.fromkeys(["JJ", "JJR", "JJS", "CD"], "A"),
    **dict.fromkeys(["NN", "NNS", "NNP", "NNPS"], "N"),
    **dict.fromkeys(["IN", "TO"], "I"),
    "VBD": "V",
}
"""A letter for each tag, so that a clause is a match in a text."""
_CLAUSE = re.compile("(D?A*N+(?:ID?A*N+)?)V(D?A*N+(?:ID?A*N+)?).*")
"""Subject, verb and object."""
_NO_PASSIVE = frozenset(["be", "have", "say", "become"])

SENTENCES = 3
"""The number of sentences of a story that are drawn."""

Tagged = list[tuple[str, str]]
"""Words with their tags."""


@dataclass(frozen=True)
class Blank:
    """A place of a sentence that may become the blank."""

    start: int
    end: int
    answer: Words
    share: float
    """The share of such places that are asked for."""
    tag: str = "NN"

    def of(self, words: Words, tags: Sequence[str]) -> Tagged:
        """The sentence with the blank."""
        pairs = list(zip(words, tags, strict=True))
        return [*pairs[: self.start], (PLACEHOLDER, self.tag), *pairs[self.end :]]


@dataclass(frozen=True)
class Paraphraser:
    """Makes the questions of some stories; sent to every worker."""

    wordnet: WordNet
    vectors: dict[str, Floats]
    """Of length 1."""
    excluded: StoryIndex
    """Questions whose stories are left out."""
    seed: int = 1

    def __call__(self, batch: Sequence[RawArticle]) -> list[tuple[Example, bool]]:
        """The questions, and whether each is easy."""
        return [(example, is_easy(example)) for raw in batch for example in self.questions(raw)]

    def questions(self, raw: RawArticle) -> list[Example]:
        """The questions about a story; none if it is excluded, or if WordNet has no sense of a word's base form."""
        if self.excluded.matches(raw.text):
            return []
        article = tokenise_article(raw)
        sentences = [words for words in article.sentences if len(words) > 2]
        if len(sentences) < 4:
            return []
        chance = Random(f"{self.seed} {article.id}")  # noqa: S311
        try:
            return [
                *(
                    example
                    for highlight in article.highlights
                    if len(highlight) >= 6
                    for example in self.about_highlight(highlight, sentences, article.id, chance)
                ),
                *(
                    example
                    for _ in range(SENTENCES)
                    for example in self.about_sentence(chance.randrange(len(sentences)), sentences, article.id, chance)
                ),
            ]
        except NoSenseError:  # very few stories; the model `general` was trained without them
            return []

    def about_highlight(
        self, highlight: Words, sentences: Sequence[Words], story: str, chance: Random
    ) -> Iterator[Example]:
        """At most three questions that a highlight asks about the window that says most of it."""
        window = sentences[around(nearest(highlight, sentences), sentences, chance)]
        tags = tagger().tag([highlight])[0]
        blanks = [
            Blank(mention.start, mention.end, highlight[mention.start : mention.end], 1.0)
            for entity in find_entities((*window, highlight), len(window))
            for mention in entity.mentions
            if mention.sentence == len(window) > min(each.sentence for each in entity.mentions)
        ]
        blanks += other_blanks(highlight, IN_HIGHLIGHT)

        def asked(blank: Blank) -> Example | None:
            query = blank.of(highlight, tags)
            if chance.random() < 0.4:
                query = self.with_synonyms(query, 0.5, chance)
            return example_of(story, window, words_of(query), blank.answer, chance)

        yield from islice(filter(None, map(asked, drawn(blanks, chance))), 3)

    def about_sentence(self, number: int, sentences: Sequence[Words], story: str, chance: Random) -> Iterator[Example]:
        """At most two questions that a sentence asks, in other words, about a window around it."""
        place = around(number, sentences, chance)
        window, sentence = sentences[place], sentences[number]
        if not 7 <= len(sentence) <= 45:
            return
        tags = tagger().tag([sentence])[0]
        blanks = [*name_blanks(window, number - place.start), *other_blanks(sentence, IN_SENTENCE)]

        def asked(blank: Blank) -> Example | None:
            query = blank.of(sentence, tags)
            word, tag = query[0]
            if word != PLACEHOLDER and tag != "NNP":
                query[0] = (word.lower(), tag)
            query = self.restructured(shortened(query, chance), chance)
            first, *others = words_of(self.with_synonyms(query, chance.uniform(0.3, 1.0), chance))
            first = first if first == PLACEHOLDER else first[0].upper() + first[1:]
            return example_of(story, window, (first, *others), blank.answer, chance)

        yield from islice(filter(None, map(asked, drawn(blanks, chance))), 2)

    def with_synonyms(self, query: Tagged, rate: float, chance: Random) -> Tagged:
        """The query with synonyms or hypernyms for a share of its words, in the same form."""
        return [(self.synonym(word, tag, rate, chance), tag) for word, tag in query]

    def synonym(self, word: str, tag: str, rate: float, chance: Random) -> str:
        """Another word that means the same, or more; the word itself if there is none, or by chance."""
        kept = tag not in _PARTS or not word.islower() or word in _KEPT or word == PLACEHOLDER
        if kept or chance.random() > rate:
            return word
        hypernyms = chance.random() < 0.5
        lemma = self.wordnet.lemma(word, _PARTS[tag])
        if not lemma:
            return word
        others = self.wordnet.near(lemma, _PARTS[tag], hypernyms=hypernyms)
        if lemma not in self.vectors:
            return word
        vector = self.vectors[lemma]
        alike = [other for other in others if other in self.vectors and self.vectors[other] @ vector > ALIKE]
        return self.wordnet.inflected(chance.choice(alike), tag) if alike else word

    def restructured(self, query: Tagged, chance: Random) -> Tagged:
        """The query as a passive, or with its opening phrase at the end; often, or if neither fits, unchanged."""
        clause = _CLAUSE.fullmatch("".join(_LETTERS.get(tag, "x") for _, tag in query))
        if clause and chance.random() < 0.5:
            verb, end = clause.end(1), clause.end(2)
            lemma = self.wordnet.lemma(query[verb][0].lower(), "v")
            if lemma and lemma not in _NO_PASSIVE:
                rest, mark = without_end(query[end:])
                be = "were" if query[end - 1][1] == "NNS" else "was"
                passive = [(be, "VBD"), (self.wordnet.inflected(lemma, "VBN"), "VBN"), ("by", "IN")]
                return [*query[verb + 1 : end], *passive, *query[:verb], *rest, *mark]
        words = words_of(query)
        if "," in words[2:10] and chance.random() < 0.5 and query[0][1] in ("IN", "VBG", "RB", "DT"):
            comma = words.index(",", 2)
            rest, mark = without_end(query[comma + 1 :])
            return [*rest, *query[:comma], *mark]
        return query


def main(
    file: Path,
    *,
    write: Path,
    vectors: Path,
    stories: AtLeastOne = 5000,
    wordnet: Path = Path("/usr/share/wordnet"),
    exclude: Annotated[list[Path], Parameter(consume_multiple=True)] = [],  # noqa: B006
    easy: Annotated[float, Parameter(validator=Number(gte=0, lte=1))] = 0.15,
    workers: AtLeastOne = 1,
) -> None:
    """Write the questions about windows of news stories that highlights and paraphrased sentences ask.

    Parameters
    ----------
    file
        Articles, one JSON object a line, as `gareader build news` takes them.
    write
        The file of JSON lines to write.
    vectors
        Word vectors, the most frequent words first: a synonym has a similar one.
    stories
        The number of stories, from the beginning of the file.
    wordnet
        The folder of WordNet's files; Debian's package wordnet-base has them.
    exclude
        Folders or archives of .question files; the stories of these questions are left out.
    easy
        The share that is kept of the questions that word overlap or the most frequent candidate answers.
    workers
        Processes.
    """
    documents = (example.document for path in exclude for example in official_questions(path))
    paraphraser = Paraphraser(WordNet(wordnet), unit_vectors(vectors), StoryIndex.of(documents))
    raw = islice(read_raw([file], "news", Skipped()), stories)
    chance = Random(3)  # noqa: S311
    total = hard = kept = 0
    with written_whole(write) as out:
        for questions in in_order(paraphraser, batches(raw, AT_ONCE), workers):
            for example, answered in questions:
                total += 1
                hard += not answered
                if not answered or chance.random() < easy:
                    kept += 1
                    out.write(written(example))
    print(f"{write}: {kept:,} of {total:,} questions, {hard:,} of them hard")


def unit_vectors(path: Path) -> dict[str, Floats]:
    """The vectors of the most frequent words, each of length 1."""
    vectors = islice(read_vectors(path).items(), FREQUENT)
    return {word: vector / np.linalg.norm(vector) for word, vector in vectors}


def is_easy(example: Example) -> bool:
    """Whether counting words answers the question."""
    return any(choice(example, BASELINES[name](example)) == example.answer for name in COUNTING)


def nearest(highlight: Words, sentences: Sequence[Words]) -> int:
    """The number of the sentence that has the most of the highlight's rare words."""
    wanted = {word.lower() for word in highlight if word.lower() not in FUNCTION_WORDS and word[0].isalnum()}
    shared = [wanted.intersection(map(str.lower, words)) for words in sentences]
    return max(range(len(sentences)), key=lambda number: fsum(map(rarity, shared[number])))


@cache
def rarity(word: str) -> float:
    """How rare a word in lower case is in the news: the logarithm of its inverse frequency."""
    return log(words_counted() / (1 + sum(news_words().get(word, (0, 0)))))


@cache
def words_counted() -> int:
    """The number of the news' words that were counted."""
    return sum(lower + capital for lower, capital in news_words().values())


def around(number: int, sentences: Sequence[Words], chance: Random) -> slice:
    """A window of whole sentences around one, that grows on both sides up to a number of words that is drawn."""
    most = chance.randint(90, 280)
    first, end, size = number, number + 1, len(sentences[number])
    while True:
        before = first > 0 and size + len(sentences[first - 1]) <= most
        after = end < len(sentences) and size + len(sentences[end]) <= most
        if before and (not after or chance.random() < 0.5):
            first -= 1
            size += len(sentences[first])
        elif after:
            size += len(sentences[end])
            end += 1
        else:
            return slice(first, end)


def name_blanks(window: Sequence[Words], number: int) -> list[Blank]:
    """The names of a sentence, and he or she at its beginning if the sentence before names one person."""
    entities = find_entities(window)
    blanks = [
        Blank(mention.start, mention.end, entity.name, 1.0, "NNP")
        for entity in entities
        for mention in entity.mentions
        if mention.sentence == number
    ]
    before = {
        entity.name
        for entity in entities
        if entity.person and any(mention.sentence == number - 1 for mention in entity.mentions)
    }
    if window[number][0].lower() in ("he", "she") and len(before) == 1:
        return [Blank(0, 1, before.pop(), 1.0, "NNP")] * 3 + blanks  # thrice: it is drawn more often
    return blanks


def other_blanks(sentence: Words, shares: Mapping[Kind, float]) -> Iterator[Blank]:
    """The words of some kinds that the sentence has once."""
    for kind, share in shares.items():
        for words in of_kind(sentence, kind):
            size = len(words)
            starts = [start for start in range(len(sentence)) if sentence[start : start + size] == words]
            if len(starts) == 1:
                yield Blank(starts[0], starts[0] + size, words, share)


def drawn(blanks: list[Blank], chance: Random) -> Iterator[Blank]:
    """Some of the blanks, by their shares, in any order."""
    chance.shuffle(blanks)
    return (blank for blank in blanks if chance.random() <= blank.share)


def shortened(query: Tagged, chance: Random) -> Tagged:
    """The query without some clauses and modifiers, without quotation marks and brackets, and with an end mark."""
    blank = words_of(query).index(PLACEHOLDER)
    first, end = 0, len(query)
    if chance.random() < 0.6:
        separators = [place for place, (word, _) in enumerate(query) if word in _SEPARATORS]
        before = max((place + 1 for place in separators if place < blank), default=0)
        after = min((place for place in separators if place > blank), default=len(query))
        first = before if after - before >= 6 else 0
        end = after if after - first >= 6 else len(query)
    rate = chance.random() * 0.8
    kept = []
    for word, tag in query[first:end]:
        modifier = tag in ("JJ", "RB") and word not in _NEGATIONS
        if not (modifier and chance.random() < rate) and word not in _BRACKETS:
            kept.append((word, tag))
    return kept if kept[-1][0] in _ENDS else [*kept, (".", ".")]


def without_end(query: Tagged) -> tuple[Tagged, Tagged]:
    """The query up to its end mark, and the mark if it has one."""
    size = len(query) - (bool(query) and query[-1][0] in _ENDS)
    return query[:size], query[size:]


def words_of(query: Tagged) -> Words:
    """The words without their tags."""
    return tuple(word for word, _ in query)


def example_of(story: str, window: Sequence[Words], query: Words, answer: Words, chance: Random) -> Example | None:
    """The question with the proposed candidates or some of them; None if it is unfit, or often if it is too easy."""
    document = tuple(word for words in window for word in words)
    content = [word for word in query if word.lower() not in FUNCTION_WORDS and word.isalpha()]
    if mark_blank(query).count(PLACEHOLDER) != 1 or len(content) < 3:
        return None
    candidates = find_candidates([document], query)
    right = place_of(answer, candidates)
    if right is None or len(candidates) < 3:
        return None
    counts = [document.count(words[-1]) for words in candidates]
    most_frequent = counts[right] == max(counts) and counts.count(counts[right]) <= 2
    if most_frequent and chance.random() < 0.6:
        return None
    if chance.random() < 0.4 and len(candidates) > 5:  # as with candidates that people give
        wrong = [number for number in range(len(candidates)) if number != right]
        few = sorted([right, *chance.sample(wrong, min(chance.randint(3, 6), len(wrong)))])
        candidates, right = [candidates[number] for number in few], few.index(right)
    name = sha1(f"{story} {' '.join(query)}".encode(), usedforsecurity=False).hexdigest()
    return Example(name, document, query, tuple(candidates), right)


def place_of(answer: Words, candidates: Sequence[Words]) -> int | None:
    """The candidate that is the answer or its last word, or else the only one that ends with this word."""
    for form in (answer, answer[-1:]):
        if form in candidates:
            return candidates.index(form)
    same = [number for number, words in enumerate(candidates) if words[-1].lower() == answer[-1].lower()]
    return same[0] if len(same) == 1 else None


if __name__ == "__main__":
    start(main)
