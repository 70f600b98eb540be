"""Word vectors trained on the corpus itself, by word2vec."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from gareader.core.errors import extras_told
from gareader.core.whole import written_whole
from gareader.data.examples import PLACEHOLDER, Example

LONGEST_TEXT = 10_000
"""The longest text that gensim reads, in words; it drops the rest."""


def train_vectors(examples: Callable[[], Iterable[Example]], out: Path, *, width: int, epochs: int, seed: int) -> int:
    """Train skip-gram vectors on documents and queries, write them as word2vec text, and return their number.

    `examples()` is called once per pass. One thread, because the result of several depends on chance.
    """
    with extras_told():
        from gensim.models import Word2Vec
    model = Word2Vec(
        Texts(examples), vector_size=width, sg=1, window=5, min_count=1, epochs=epochs, seed=seed, workers=1
    )
    with written_whole(out) as file:
        file.write(f"{len(model.wv)} {width}\n")
        for word in model.wv.index_to_key:
            file.write(f"{word} {' '.join(f'{number:.6f}' for number in model.wv[word])}\n")
    return len(model.wv)


class Texts:
    """Documents and queries as lists of words, which can be iterated again; equal documents in a row count once.

    A text too long for gensim is cut into chunks.
    """

    def __init__(self, examples: Callable[[], Iterable[Example]]) -> None:
        self.examples = examples

    def __iter__(self) -> Iterator[list[str]]:
        before = None
        for example in self.examples():
            if example.document != before:
                yield from chunks(example.document)
                before = example.document
            yield from chunks([word for word in example.query if word != PLACEHOLDER])


def chunks(words: Sequence[str]) -> Iterator[list[str]]:
    """The words in lists that are short enough for gensim; an empty text is one empty list."""
    for start in range(0, len(words) or 1, LONGEST_TEXT):
        yield list(words[start : start + LONGEST_TEXT])
