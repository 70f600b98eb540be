"""Word vectors from the corpus itself, by word2vec."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from gareader.errors import GareaderError
from gareader.examples import PLACEHOLDER, Example
from gareader.whole import written_whole

LONGEST = 10_000
"""Words of a text that gensim reads; it leaves out the rest."""


def train_vectors(examples: Callable[[], Iterable[Example]], out: Path, *, width: int, epochs: int, seed: int) -> int:
    """Learn skip-gram vectors from documents and queries and write them as word2vec text; returns how many.

    `examples()` is called once for each pass. One thread, because several would make the result depend on chance.
    """
    try:
        from gensim.models import Word2Vec
    except ImportError:
        raise GareaderError("word2vec needs gensim; type: pip install 'gareader[vectors]'") from None
    model = Word2Vec(
        Texts(examples), vector_size=width, sg=1, window=5, min_count=1, epochs=epochs, seed=seed, workers=1
    )
    with written_whole(out) as file:
        file.write(f"{len(model.wv)} {width}\n")
        for word in model.wv.index_to_key:
            file.write(f"{word} {' '.join(f'{number:.6f}' for number in model.wv[word])}\n")
    return len(model.wv)


class Texts:
    """Documents and queries as lists of words, as often as they are asked for; a text asked about twice comes once.

    A text too long for gensim comes in pieces.
    """

    def __init__(self, examples: Callable[[], Iterable[Example]]) -> None:
        self.examples = examples

    def __iter__(self) -> Iterator[list[str]]:
        before = None
        for example in self.examples():
            if example.document != before:
                yield from pieces(example.document)
                before = example.document
            yield from pieces([word for word in example.query if word != PLACEHOLDER])


def pieces(words: Sequence[str]) -> Iterator[list[str]]:
    """The words in lists that gensim reads whole; no words are one empty list."""
    for start in range(0, len(words) or 1, LONGEST):
        yield list(words[start : start + LONGEST])
