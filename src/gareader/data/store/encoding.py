"""Questions as indices into a dictionary of words, which grows while they stream by."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gareader.data.corpora.delta import Delta
from gareader.data.store.layout import columns, int_array, ints, lines_array, offsets, text_array, without_ends
from gareader.data.text import SEPARATOR

WORDS_PER_BATCH = 1 << 20
"""A record batch ends with the example that reaches this many document words: four megabytes in every corpus."""
CHARACTERS_PER_BATCH = 1 << 28
"""Or this many characters, for the bytes of a batch are counted in 31 bits."""

INDICES = columns(pa.int32(), length=pa.int32())
"""The schema. A document has only the words that the document before it lacks, and the length of the whole."""

_Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Encoded:
    """Examples in a file with the schema INDICES."""

    path: Path
    words: Any
    """The dictionary, an Arrow array."""
    examples: int


def lists(lengths: Sequence[int] | _Ints, values: Any) -> Any:
    """The values, an Arrow array, as lists with these lengths."""
    return pa.ListArray.from_arrays(int_array(offsets(lengths)), values)


def encode(deltas: Iterable[Delta], path: Path) -> Encoded:
    """Write the questions to `path` as indices."""
    words = text_array([])  # each with its line feed
    documents = np.empty(0, np.int32)
    count = 0
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, INDICES) as writer:
        for rows in batches(deltas):
            ids, sizes, new, texts, queries, candidates, lengths, answers = zip(*rows, strict=True)
            text = SEPARATOR.join(chain(compress(texts, new), queries, candidates, [""]))
            # The chunks share one dictionary, and the last one holds the text; Arrow leaves out an empty chunk.
            coded = pa.chunked_array([words, lines_array(text)], pa.string()).dictionary_encode().chunks[-1]
            words = coded.dictionary
            query_lengths = [query.count(SEPARATOR) + 1 for query in queries]
            stream, query, others = np.split(ints(coded.indices), np.cumsum([sum(new), sum(query_lengths)]))
            shared = sizes[0] - new[0]  # the first document of a batch is whole
            documents = np.concatenate([documents[len(documents) - shared :], stream])
            columns = [
                text_array(ids),
                lists([sizes[0], *new[1:]], int_array(documents)),
                lists(query_lengths, int_array(query)),
                lists([*map(len, lengths)], lists([*chain.from_iterable(lengths)], int_array(others))),
                int_array([-1 if each is None else each for each in answers], [each is not None for each in answers]),
                int_array(sizes),
            ]
            writer.write_batch(pa.record_batch(columns, schema=INDICES))
            count += len(rows)
    return Encoded(path, without_ends(words), count)


def batches(deltas: Iterable[Delta]) -> Iterator[list[Delta]]:
    rows: list[Delta] = []
    words = characters = 0
    for delta in deltas:
        # Neighbouring questions share their document, or its window moves on by some sentences: of the 52 million
        # words of CBT's named-entity questions, only 10 million are left to encode.
        rows.append(delta)
        words += delta.size
        characters += len(delta.document) + len(delta.query) + len(delta.candidates)
        if words >= WORDS_PER_BATCH or characters >= CHARACTERS_PER_BATCH:
            yield rows
            rows, words, characters = [], 0, 0
    if rows:
        yield rows
