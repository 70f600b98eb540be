"""The command that trains word vectors."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from gareader.cli.app import AtLeastOne, Format, Json, check_corpus, tell, watch
from gareader.core.whole import check_folder
from gareader.data.examples import Example
from gareader.data.sources import read_examples
from gareader.data.word2vec import train_vectors


def vectors(
    corpus: str,
    *more: str,
    out: Path,
    width: AtLeastOne = 100,
    epochs: AtLeastOne = 5,
    seed: Annotated[int, Parameter(validator=Number(gte=0, lt=2**32))] = 1,
    format: Format = None,
    as_json: Json = False,
) -> None:
    """Train word2vec vectors on the documents and queries of corpora: the paper's row "−glove, +corpus".

    Example: `gareader vectors configs/tiny/train.txt --out tiny_vectors.txt --width 24`

    Parameters
    ----------
    corpus
        A file or folder of questions, or a prepared corpus.
    more
        Other corpora to learn from too.
    out
        The file to write, in word2vec's text format; a run takes it as data.vectors.
    width
        Numbers per vector.
    epochs
        How often the corpora are read.
    seed
        The same seed gives the same vectors.
    """
    check_folder(out)
    for path in (corpus, *more):
        check_corpus(path)

    def examples() -> Iterator[Example]:
        for path in (corpus, *more):
            yield from watch(read_examples(path, format=format), f"reading {path}")

    count = train_vectors(examples, out, width=width, epochs=epochs, seed=seed)
    record = {"out": str(out), "words": count, "width": width}
    tell(record, f"{out}: {count:,} words, {width} numbers each", as_json)
